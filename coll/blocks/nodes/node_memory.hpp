// SPDX-License-Identifier: BSD-3-Clause
// How much of what ranks of several nodes exchange is under way at a time: as much as a node's memory for it holds,
// whatever the number of ranks and the sizes of their parts.
#pragma once

#include <algorithm>

#include "coll/env/parameter.hpp"

namespace tutti::coll {

inline constexpr Parameter memory_parameter = {
    "memory", 16 << 20, "bytes of memory of a node for parts that are under way, of all its ranks together"};

/// Connections between two nodes for parts that go by more than one: each is between a rank here and one there.
inline constexpr std::size_t links_of_a_pair = 2;

/// Bytes for each of `pieces` pieces that are under way at a time; of fewer than a few bytes steps are not worth their
/// messages.
constexpr std::size_t part_of_memory(std::size_t memory, std::size_t pieces) {
    constexpr std::size_t least = 8;
    return std::max(least, memory / std::max<std::size_t>(pieces, 1));
}

}   // namespace tutti::coll
