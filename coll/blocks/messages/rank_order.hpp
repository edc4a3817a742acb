// SPDX-License-Identifier: BSD-3-Clause
// Reductions along all ranks in their order, by messages: each adds its own operand behind the sum of all before it, so
// that operands are grouped from the left as on one node, wherever ranks are. The last rank has the sum of all.
// In segments, p − 1 + s/segment messages in a row; with consecutive ranks on nodes N − 1 messages of each between N.
#pragma once

#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll {

inline constexpr Parameter rank_order_parameters[] = {{"segment", 32768, "bytes that are passed on at a time"}};

/// One rank's position in the chain of n.
inline Position in_rank_order(int rank, int n) {
    Position p{.parent = rank + 1 < n ? rank + 1 : -1, .depth = n - 1 - rank};
    if (rank > 0) p.before.push_back(rank - 1);
    return p;
}

}  // namespace tutti::coll
