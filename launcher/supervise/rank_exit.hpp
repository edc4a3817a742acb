// SPDX-License-Identifier: BSD-3-Clause
// Why a rank ended, and what that means for the job. MemoryMonitor determines whether a killed rank ran out of memory:
// the signal does not say so, but the counters of the cgroup (version 2 or 1) of mpiexec and its ranks do. They are
// read before the job starts and when a rank has died.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/diagnosis/report.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

class MemoryMonitor {
public:
    /// Counts from now on. `root` is put before /proc and /sys, for tests.
    explicit MemoryMonitor(std::string root = "");

    /// Returns what ran out if the system has killed a process of this cgroup for lack of memory since the last call:
    /// "the memory limit of its cgroup, 512 MiB, was reached"; empty otherwise.
    std::string take_oom_cause();

private:
    /// Returns the number of processes of the cgroup that were killed, whichever cgroup had run out of memory.
    std::uint64_t kills() const;
    std::optional<std::uint64_t> reached_limit() const;

    std::string root_;
    std::vector<std::string> folders_;   ///< folders of the cgroup, then of its ancestors
    std::uint64_t last_kills_;
};

// What the end of a rank's process means for the job, from its wait status and its state.

struct ProcessExit {
    int rank = 0;
    pid_t pid = 0;
    std::optional<int> status{};           ///< from waitpid; none: not known, because it was not our child
    RankPhase phase = RankPhase::absent;   ///< how far the rank had come in MPI
    int abort_code = 0;
    std::string abort_message{};   ///< the rank's reason; empty: it has printed that itself
    std::string oom_cause{};       ///< what MemoryMonitor reported when the rank was killed
    std::string loader_error{};    ///< message of the loader, if it could not start the program
    bool has_closed_pmi = false;   ///< RankServers::has_closed
};

struct RankExit {
    /// In ascending order of how much they explain: if several ranks ended at the same time, the greatest kind is
    /// reported.
    enum class Kind { success, output_lost, never_joined, failed_after_finalize, failed, left_early, killed, aborted };
    Kind kind = Kind::success;
    int code = 0;          ///< exit code of mpiexec; 0 only if fine, or aborted with 0 as under MPICH and Open MPI
    std::string message;   ///< without its full stop
    /// Set if the rank left or was killed while in MPI, or was killed after MPI_Finalize: report T09 replaces the
    /// message.
    std::optional<ExitedRank> in_mpi{};

    /// Returns true if ranks continue, but the exit code of the job is not 0.
    bool affects_exit_code_only() const { return kind == Kind::output_lost || kind == Kind::never_joined; }
    /// Returns true if the other ranks must end. A rank that fails after MPI_Finalize leaves no rank waiting, nor does
    /// output that cannot be written.
    bool ends_job() const { return kind > Kind::failed_after_finalize; }
};

/// Ranks that run the same program often end at the same place, shortly after each other: how long an exit waits for
/// others that the same report describes.
inline constexpr std::chrono::milliseconds similar_exits_wait{100};

/// Returns the consequence for the job. `host`: the name of this node. The caller locates RankExit::in_mpi.
RankExit classify_exit(ProcessExit const& end, std::string const& host);
/// Removes the first exit, and all those that the same report describes. Returns those that were in MPI.
std::vector<ExitedRank> take_alike(std::vector<RankExit>& exits);

/// Returns "signal 11 (Segmentation fault)".
std::string describe_signal(int signal);

}   // namespace tutti::launcher
