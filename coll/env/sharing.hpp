// SPDX-License-Identifier: BSD-3-Clause
// Limits of the work that ranks share in operations that suspend (Environment::share).
#pragma once

#include "runtime/base/flag.hpp"
#include "runtime/memory/shared_copy.hpp"

namespace tutti::coll {

/// Algorithms in which every pair of ranks shares a copy do so with at most this number of ranks. They have not been
/// measured with more.
inline constexpr int max_sharing_ranks = 48;

/// The pieces of work that ranks share in operations that suspend: whole multiples of `line` bytes, except the last.
inline CopyPieces shared_pieces(std::size_t bytes, std::size_t line = cache_line) {
    return CopyPieces::at_most(8, bytes, 16384, line);
}

}   // namespace tutti::coll
