// SPDX-License-Identifier: BSD-3-Clause
// The message that a rank's library prints as one line on standard error before it ends the job. The rank records the
// message in its rank state first, so its line can be identified in the program's own output with certainty. Ranks
// often end with the same message, which is then printed once for all of them, as a report.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/diagnosis/report.hpp"
#include "launcher/supervise/lines.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti::launcher {

class Sink;

/// A rank and its message, without a line break.
struct RankAbortMessage {
    ErrorText error{};   ///< its headline is the message; without help: the advice for its code
    LocatedCall call{};

    std::string line() const;
};

/// Returns the message that a rank has recorded; nothing if there is none. `rank_state` may be null.
std::optional<RankAbortMessage> read_abort_message(RankState const* rank_state);

/// Returns a report of a rank's message.
Report make_report(RankAbortMessage const& message);
/// Adds the message of another rank to a report of the same error. Returns false if it is about another error.
bool add_to(Report& report, RankAbortMessage const& message);

/// Removes the line of the message from `lines`, which must be whole lines that begin with `prefix`, preceded by a time
/// if the prefix has one. Returns true if the line was found.
bool remove_message_line(std::string& lines, RankAbortMessage const& message, LinePrefix const& prefix = {});

/// Delays messages for a moment, so that equal ones of other ranks can be merged, together with lines that must be
/// printed after them.
class MessageMerger {
public:
    using Clock = std::chrono::steady_clock;
    /// The longest delay of a message.
    static constexpr std::chrono::milliseconds max_delay{100};

    /// Merges the message of a rank with an equal one for the same sink, if any. `sink` must exist until write_all.
    void add(Sink& sink, RankAbortMessage const& message, Clock::time_point now);
    /// Prints reports as lines of JSON from now on.
    void use_json() { json_ = true; }
    /// Adds lines of mpiexec itself. They explain messages of ranks and are therefore printed after them.
    void add_lines(Sink& sink, std::string_view lines);

    bool empty() const { return delayed_.empty(); }
    /// Returns when write_all must be called. Valid only if not empty.
    Clock::time_point due() const { return since_ + max_delay; }
    /// Writes everything to its sink, in the order in which it was added.
    void write_all();

private:
    struct Delayed {
        Sink* sink;
        std::string lines;   ///< lines of mpiexec itself; empty: `report` is printed instead
        Report report{};
    };
    std::string text_of(Delayed const& one) const;

    std::vector<Delayed> delayed_;
    Clock::time_point since_{};
    bool json_ = false;
};

}   // namespace tutti::launcher
