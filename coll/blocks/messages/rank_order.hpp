// SPDX-License-Identifier: BSD-3-Clause
// Reductions along all ranks in their order, by messages: each adds its own operand behind the sum of all before it, so
// that operands are grouped from the left as on one node, wherever ranks are. The last rank has the sum of all.
// In segments, p − 1 + s/segment messages in a row; with consecutive ranks on nodes N − 1 messages of each between N.
#pragma once

#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll {

inline constexpr Parameter rank_order_parameters[] = {{"segment", 32768, "bytes that are passed on at a time"}};

/// A rank's place in the chain of n, the last one at the top.
inline TreePlace in_rank_order(FramePool& frames, int rank, int n) {
    TreePlace t = chain_tree(frames, n - 1 - rank, n).named([n](int place) { return n - 1 - place; });
    t.before.swap(t.children);
    return t;
}

}   // namespace tutti::coll
