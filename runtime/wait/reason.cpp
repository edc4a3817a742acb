// SPDX-License-Identifier: BSD-3-Clause
// What a reason tells, once somebody asks.
#include "runtime/wait/reason.hpp"

#include <algorithm>

namespace tutti {

// Ranks with the same distance from one to the next are one range: all of a communicator mostly are.
void Blockage::await_any(std::vector<int> const& world_ranks) {
    awaiting = Awaiting::any;
    std::vector<int> sorted(world_ranks);
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size();) {
        RankRange range{sorted[i], sorted[i], 1};
        std::size_t next = i + 1;
        if (next < sorted.size()) range.stride = std::max(1, sorted[next] - sorted[i]);
        for (; next < sorted.size() && sorted[next] <= range.last + range.stride; ++next) {
            if (sorted[next] != range.last + range.stride && sorted[next] != range.last) break;
            range.last = sorted[next];
        }
        awaited.push_back(range);
        i = next;
    }
}

Blockage Reason::blockage() const {
    Blockage b;
    b.call = operation;
    if (peer >= 0) b.await(peer);
    if (tell) {
        tell(about, b);
        return b;
    }
    std::string arguments;
    if (peer >= 0) arguments = "rank " + std::to_string(peer);
    if (tag >= 0) arguments += (arguments.empty() ? "tag " : ", tag ") + std::to_string(tag);
    if (!arguments.empty()) b.call += "(" + arguments + ")";
    return b;
}

}   // namespace tutti
