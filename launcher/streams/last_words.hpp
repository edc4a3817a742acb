// SPDX-License-Identifier: BSD-3-Clause
// What the library of a rank says before it ends the job, as one line on standard error. It notes the sentence in its
// rank state first, so the line is told from the program's own output for certain. Ranks often end by the same
// sentence: it is told once for all of them, as a report.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/diagnosis/report.hpp"
#include "launcher/streams/lines.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::launcher {

class Sink;

/// A rank and its sentence, without a line break.
struct LastWords {
    int rank = -1;
    std::string sentence{};
    std::string code{};                   ///< of the error, as `mpiexec --explain` knows it
    std::string call{};                   ///< "MPI_Barrier(MPI_COMM_WORLD)"
    std::string help{};                   ///< what to do; empty: what there is to say of the code
    std::vector<std::uint64_t> stack{};   ///< return addresses in the program; on the node of the rank only
    Place place{};                        ///< of that call, once it has been looked for

    std::string line() const;
};

/// What a rank has noted so far; none while it has nothing to say. `rank_state` may be null.
std::optional<LastWords> last_words_on(RankState const* rank_state);

/// The report of a rank's words.
Report report_of(LastWords const& words);
/// Adds the words of another rank to a report of the same error. Returns false if they are about another one.
bool add_to(Report& report, LastWords const& words);

/// Takes the line of those words out of whole lines, each of which begins with `prefix`, after a time where there is
/// one, and tells whether it was there.
bool take_out(std::string& lines, LastWords const& words, LinePrefix const& prefix = {});

/// Sentences that wait a moment for the same of other ranks, and what is to be written after them.
class HeldWords {
public:
    using Clock = std::chrono::steady_clock;
    /// The longest that any of them waits.
    static constexpr std::chrono::milliseconds longest{100};

    void add(Sink& sink, LastWords const& words, Clock::time_point now);
    /// Reports are lines of JSON.
    void speak_json() { json_ = true; }
    /// Lines of mpiexec's own, which explain what ranks have said and therefore come after it.
    void add_lines(Sink& sink, std::string_view lines);

    bool empty() const { return held_.empty(); }
    /// When write_all is due; only if not empty.
    Clock::time_point due() const { return since_ + longest; }
    /// Hands everything to its sink, in the order in which it came.
    void write_all();

private:
    struct Held {
        Sink* sink;
        std::string lines;   ///< of mpiexec's own; empty: it is the report
        Report report{};
    };
    std::string text_of(Held const& one) const;

    std::vector<Held> held_;
    Clock::time_point since_{};
    bool json_ = false;
};

}   // namespace tutti::launcher
