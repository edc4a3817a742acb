// SPDX-License-Identifier: BSD-3-Clause
// What the end of a rank's process means for the job, from its wait status and its state.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "launcher/diagnosis/report.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

struct End {
    int rank = 0;
    pid_t pid = 0;
    int status = 0;                        ///< as waitpid gave it
    RankPhase state = RankPhase::absent;   ///< how far it had come in MPI
    int abort_code = 0;
    std::string ran_out{};      ///< of memory: what MemoryWatch says when it was killed
    std::string not_loaded{};   ///< what the loader complains about, when it has ended the rank
};

struct Verdict {
    /// The later, the more it explains: of ranks that ended at the same moment the last one is the one to tell.
    enum class Kind { fine, output_lost, never_joined, failed_after_finalize, failed, left_early, killed, aborted };
    Kind kind = Kind::fine;
    int code = 0;                     ///< for mpiexec; not 0 unless fine, or aborted with 0 as under MPICH and Open MPI
    std::string sentence;             ///< without its full stop
    std::optional<Report> report{};   ///< of a rank that has left the others alone: what else is known
    // Known where the rank has ended, not on other nodes:
    int rank = -1;
    std::string how{};          ///< end_words
    std::string process{};      ///< of one that was killed: "process 99 on host", and what is known besides
    bool left_others = false;   ///< it was in MPI, or had been, and is reported
    bool is_after_finalize = false;

    /// Ranks go on, but the exit code of the job is not 0.
    bool costs_success_only() const { return kind == Kind::output_lost || kind == Kind::never_joined; }
    /// A rank that fails after MPI_Finalize leaves nobody waiting; nor does output that cannot be written.
    bool ends_job() const { return kind > Kind::failed_after_finalize; }
};

/// "was killed by signal 9 (Killed)"; "left with exit code 0 without calling MPI_Finalize"; of a rank that was in MPI.
std::string end_words(int status);
Verdict judge(End const& end, std::string const& host);

/// "signal 11 (Segmentation fault)"
std::string signal_words(int signal);

}   // namespace tutti::launcher
