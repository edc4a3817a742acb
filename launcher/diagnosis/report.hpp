// SPDX-License-Identifier: BSD-3-Clause
// Reports about errors of the program. All diagnoses of mpiexec have this form: a headline with a code, one line per
// group of ranks in the same state, and advice.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "launcher/diagnosis/deadlock_detector.hpp"
#include "launcher/diagnosis/source_lines.hpp"
#include "runtime/state/call_record.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti::launcher {

/// The state of some ranks, and their position in the program.
struct ReportLine {
    std::vector<int> ranks;   ///< in MPI_COMM_WORLD, sorted
    std::string call;         ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::string position;     ///< "ring.c:30 in pass()"; empty: not known
    std::string remark{};     ///< "arrived, never received"; usually empty
    /// Stack of one rank on another node, whose launcher finds the place; otherwise empty.
    std::vector<std::uint64_t> stack{};
};

struct Report {
    enum class Severity { error, warning };   ///< a warning does not end the job

    std::string code;       ///< "T01", accepted by `mpiexec --explain`
    std::string headline;   ///< "deadlock: ranks 0 and 1 wait for each other"
    std::vector<ReportLine> lines;
    std::string help;                   ///< advice, without a full stop
    std::vector<std::string> notes{};   ///< for example that -g adds source lines
    Severity severity = Severity::error;

    /// Adds a line about a call, and a note if its position lacks the source line.
    void add(LocatedCall const& call, std::string remark = {});
    /// Adds a note unless the report has it.
    void add_note(std::string const& note);
};

/// Collects warnings until the end of the job. Warnings with equal code and headline are merged into one, with the
/// lines of all ranks. Warnings and lines beyond the limits are dropped.
class Warnings {
public:
    void add(Report const& report);
    std::vector<Report> const& all() const { return all_; }

private:
    static constexpr std::size_t max_reports = 50, max_lines = 10'000;
    std::vector<Report> all_;
};

/// Returns the report for a terminal or a log, with line breaks. Each group of ranks has a line; if there are more than
/// twelve groups, the first eight have one, and the other ranks are counted. `colour`: use a terminal's colours.
std::string text_of(Report const& report, bool colour);
/// Returns the report for tools as one line: {"code", "severity", "headline", "ranks": [{"ranks", "call", "place",
/// "remark"}], "help", "notes"}.
std::string json_of(Report const& report);

/// Returns for example "rank 3", "ranks 0 and 1", "ranks 0,2-7".
std::string describe_ranks(std::vector<int> const& ranks);

/// Returns true for MPI functions, including the Fortran ones, and for functions of the same names that wrap them by
/// means of the profiling interface, as tools that count or time calls do.
bool is_mpi(SourceLine const& line);
/// Returns true for libraries of the system, whatever debug information they have, and for code that belongs to no
/// file.
bool is_system(SourceLine const& line);

inline constexpr char compile_with_g_note[] = "compile with -g to see source lines";
/// Returns the position of the innermost function in `stack` that is not MPI's; addresses that belong to no file are
/// skipped. If the stack has none, returns that of the innermost address, unless it is in the MPI library. The position
/// of a wrapper includes that of its caller.
SourcePosition position_of(pid_t process, std::vector<std::uint64_t> const& stack, LineCache* cache = nullptr);
/// Finds the positions of a blocked rank and of its other threads, unless its interpreter has reported them.
void locate(BlockedRank& blocked, pid_t process, LineCache* cache = nullptr);
/// Returns the position of `call`, of which only the text and the stack are used. A rank records the position of a call
/// as one address, which may be in a library between the program and MPI. While the rank is still blocked in that call,
/// its whole stack is known. Returns no position for a call of an interpreted program that has returned: all its calls
/// share one address. Without text: the current call.
SourcePosition recorded_position(RankState const& rank_state, pid_t process, LocatedCall const& call,
                                 LineCache* cache = nullptr);

/// Returns null for ranks of other nodes.
using RankStateOf = std::function<RankState const*(int rank)>;
/// Returns false while a rank of this node that `diagnostic` names may still publish where it is: it is in MPI, and has
/// neither done so nor reported an error itself.
bool has_all_positions(Diagnostic const& diagnostic, RankStateOf const& state_of);

/// Finds the position of a call. Only the launcher of the rank's node can do this.
using FindPosition = std::function<SourcePosition(LocatedCall const& call)>;

/// Returns the report of a proven deadlock that is complete. `checked`: the job runs under --check, where standard-mode
/// sends wait for their receives.
Report make_report(ProvenDeadlock const& deadlock, bool checked = false);
/// Returns the report of an error that a rank has found; `diagnostic` must be valid.
Report make_report(Diagnostic const& diagnostic, FindPosition const& find_position);
/// Returns the warning that these ranks have made no progress for `limit`.
Report make_stall_report(std::vector<BlockedRank> const& blocked, std::chrono::seconds limit);
/// Returns what each rank waits for; empty if none waits.
std::vector<ReportLine> waiting_lines(std::vector<BlockedRank> const& blocked);
/// The lines of waiting_lines(), as text and for tools: {"waiting": [{"ranks", "call", "place", "remark"}]}.
std::string table_of(std::vector<ReportLine> const& lines);
std::string json_of(std::vector<ReportLine> const& waiting);

// Information about ranks that have ended without MPI_Finalize, or were killed after it: their last MPI call, and the
// position of a crash.

/// Returns the position of the rank's last MPI call; empty: not known. Works for a process that is gone: reads the
/// program's file.
SourcePosition position_of(LastCall const& call);
/// Like position_of a process that is gone; addresses outside the program are skipped.
SourcePosition position_in_program(LastCall const& call, std::span<std::uint64_t const> stack);

/// Returns the position of the instruction that caused the fatal signal, if it was recorded and is in the program.
SourcePosition crash_position(LastCall const& call);

struct ExitedRank {
    int rank = -1;
    int signal = 0;                ///< the signal that killed it; 0: none
    bool after_finalize = false;   ///< it had called MPI_Finalize
    std::string description{};     ///< "was killed by signal 11"; follows "rank 3 "
    std::string process{};         ///< "process 99 on host, which left a core file", for a note; may be empty
    // Known only on the rank's node; set by `locate`:
    std::string function{};   ///< its last MPI call; empty: not known
    SourcePosition last_call{}, crash{};

    void locate(LastCall const& call);
    /// Returns true if one report can describe both.
    bool is_like(ExitedRank const& other) const {
        return description == other.description && after_finalize == other.after_finalize;
    }
};
/// Returns report T09 of ranks that have ended in the same way, with those of the `waiting` ranks that wait for one of
/// them.
Report make_exit_report(std::vector<ExitedRank> ends, std::vector<BlockedRank> const& waiting);

}   // namespace tutti::launcher
