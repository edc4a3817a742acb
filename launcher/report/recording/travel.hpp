// SPDX-License-Identifier: BSD-3-Clause
// What ranks of other nodes have traced, as it travels to mpiexec, and by how much their clocks differ from ours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/report/recording/recording.hpp"

namespace tutti::launcher {

std::string packed_recording(RankRecording const& recording);
std::string packed_node(RecordedNode const& node);
/// Throw Error when it is not what those have made.
RankRecording recording_in(std::string_view bytes);
RecordedNode node_in(std::string_view bytes);

/// A question to a node's clock, and what it said.
struct ClockAnswer {
    std::int64_t asked = 0;    ///< by our clock
    std::int64_t theirs = 0;   ///< 0: a question
};

template <class A>
void members(A& a, ClockAnswer& c) {
    a(c.asked, c.theirs);
}

/// The difference of clocks, by Cristian's algorithm (Probabilistic clock synchronization, Distributed Computing 3,
/// 1989): the answer was made between question and receipt, so the best of some has an error of half its round trip.
class ClockOffsets {
public:
    static constexpr int wanted = 10;

    /// An answer has come at `now`. True: ask once more.
    bool hear(int node, ClockAnswer const& answer, std::int64_t now);
    /// Puts a recording on our clock, as far as that is known.
    void adjust(RankRecording& recording) const;

private:
    struct Offset {
        std::int64_t ours_minus_theirs = 0, error = 0;
        int answers = 0;
    };
    std::map<int, Offset> offsets_;   ///< by node
};

}   // namespace tutti::launcher
