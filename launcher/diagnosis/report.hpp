// SPDX-License-Identifier: BSD-3-Clause
// The report of a mistake of the program: a headline with its code, a line per group of ranks that do the same, and
// what to do about it. All of mpiexec's diagnoses have this form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/diagnosis/watch.hpp"
#include "launcher/source/source_lines.hpp"
#include "runtime/counters/finding.hpp"

namespace tutti::launcher {

/// What ranks do, and where in the program.
struct ReportLine {
    std::vector<int> ranks;               ///< of MPI_COMM_WORLD, sorted
    std::string call;                     ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::string place;                    ///< "ring.c:30 in pass()"; empty: not known
    std::string remark{};                 ///< "arrived, never received"; mostly empty
    std::vector<std::uint64_t> stack{};   ///< of one rank on another node, whose launcher knows the place; else empty
};

struct Report {
    enum class Severity { error, warning };   ///< a warning ends nothing

    std::string code;       ///< "T01", as `mpiexec --explain` knows it
    std::string headline;   ///< "deadlock: ranks 0 and 1 wait for each other"
    std::vector<ReportLine> lines;
    std::string help;                   ///< what to do, a sentence without its full stop
    std::vector<std::string> notes{};   ///< such as that -g adds lines of the source
    Severity severity = Severity::error;
};

/// What has been warned of, for the end of the job: equal headlines with the lines of all ranks.
class Warnings {
public:
    void add(Report const& report);
    std::vector<Report> const& all() const { return all_; }

private:
    static constexpr std::size_t most = 50, most_lines = 10'000;
    std::vector<Report> all_;
};

/// For a terminal or a log, with its line breaks. At most some ten groups of ranks have a line of their own.
std::string text_of(Report const& report, bool colour);
/// The same for tools, one line: {"code", "severity", "headline", "ranks": [{"ranks", "call", "place", "remark"}],
/// "help", "notes"}.
std::string json_of(Report const& report);

/// "rank 3", "ranks 0 and 1", "ranks 0, 2-7"
std::string rank_words(std::vector<int> const& ranks);

/// Where blocked ranks make their calls. What is not known is left empty.
struct Place {
    std::string words;
    bool without_g = false;   ///< -g when compiling would add the line
};
/// MPI's functions, for Fortran as well, and functions of the same names around them, which the profiling interface has
/// for tools that count or time calls.
bool is_mpi(SourceLine const& line);
/// Libraries that come with the system, whatever debug information they have; and what belongs to no file.
bool is_system(SourceLine const& line);

inline constexpr char more_with_g[] = "compile with -g to see lines of the source";
Place place_of(pid_t process, std::vector<std::uint64_t> const& stack, KnownLines* known = nullptr);
/// The same of a rank's block, which may name a line of an interpreted program.
Place place_of(pid_t process, BlockedRank const& blocked, KnownLines* known = nullptr);
/// A rank notes where `call` ("MPI_Bcast(1 MPI_INT, ...)") was made as one address, which may lie in a library between
/// the program and MPI. While the rank is still blocked in that call, its whole stack is known. Returns no place for a
/// call of an interpreted program that has returned: all its calls share one address. Empty `call`: the current one.
Place noted_place(RankState const& rank_state, pid_t process, std::string_view call,
                  std::vector<std::uint64_t> const& noted, KnownLines* known = nullptr);

/// Returns false while a rank that `finding` names may still publish where it is: it has neither done so, nor reported
/// an error itself, nor completed MPI_Finalize. `state_of` returns null for ranks of other nodes.
using RankStateOf = std::function<RankState const*(int rank)>;
bool shows_all_places(Finding const& finding, RankStateOf const& state_of);

/// A blocked rank with the place of its call, as the launcher of its node reports it.
struct PlacedRank {
    BlockedRank blocked;
    Place place;
    std::vector<Place> also{};   ///< the same of its other threads

    /// Of the thread with this stack.
    Place place_of(std::vector<std::uint64_t> const& stack) const;
};

/// Finds a call's place; the launcher of the rank's node can.
using PlaceOf = std::function<Place(int rank, std::vector<std::uint64_t> const& stack)>;
using NotedPlaceOf = std::function<Place(int rank, std::string_view call, std::vector<std::uint64_t> const& noted)>;

/// `checked`: under --check, where sends in standard mode wait for their receives.
Report report_of(ProvenDeadlock const& deadlock, PlaceOf const& place_of, bool checked = false);
/// Of what a rank has found; `finding` is valid.
Report report_of(Finding const& finding, NotedPlaceOf const& place_of);
/// Of ranks of which nothing has moved for `limit`.
Report still_report(std::vector<PlacedRank> const& blocked, std::chrono::seconds limit);
/// What each rank waits for, for whoever asks; none waits: no lines.
std::vector<ReportLine> waiting(std::vector<PlacedRank> const& blocked);
/// Those lines as text, and for tools: {"waiting": [{"ranks", "call", "place", "remark"}]}.
std::string table_of(std::vector<ReportLine> const& lines);
std::string json_of(std::vector<ReportLine> const& waiting);

}   // namespace tutti::launcher
