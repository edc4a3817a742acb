// SPDX-License-Identifier: BSD-3-Clause
// Group construction and look-up.
#include "runtime/objects/group.hpp"

#include <algorithm>

namespace tutti {

Group::Group(std::vector<int> world_ranks, int me) : world_ranks_(std::move(world_ranks)), me_(me) {
    auto mine = std::find(world_ranks_.begin(), world_ranks_.end(), me);
    if (mine != world_ranks_.end()) rank_ = static_cast<int>(mine - world_ranks_.begin());
}

int Group::rank_of(int world_rank) const {
    if (ranks_.empty() && !world_ranks_.empty()) {
        ranks_.assign(static_cast<std::size_t>(*std::max_element(world_ranks_.begin(), world_ranks_.end())) + 1, -1);
        for (int r = 0; r < size(); ++r) ranks_[static_cast<std::size_t>(world_ranks_[r])] = r;
    }
    bool known = world_rank >= 0 && world_rank < static_cast<int>(ranks_.size());
    return known ? ranks_[static_cast<std::size_t>(world_rank)] : -1;
}

}   // namespace tutti
