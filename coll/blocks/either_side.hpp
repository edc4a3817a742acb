// SPDX-License-Identifier: BSD-3-Clause
// Copies that either side can make, in operations that suspend: a rank may have started an operation and be computing,
// and a peer that waits meanwhile copies for both. A copy is cut into pieces that are claimed one after the other, by
// the receiver from the front and by the sender from the back, until they meet. Cost: one atomic operation per piece,
// on the receiver's line (a successful claim acquires and releases; a rank that finds a piece claimed may have read the
// word relaxed, and acquires the copied data through a flag of the other side). The side that arrives last finds all
// pieces claimed.
//
// Why no rank accesses a buffer that its owner has got back: a side that has copied every piece needs no answer,
// because the other side finds all pieces claimed. Otherwise it waits until the other side signals, in a flag of its
// own, that it claims no more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti::coll {

/// The pieces of a copy: whole cache lines, except for the last one.
struct CopyPieces {
    static constexpr int max_pieces_per_word = 48;   ///< limit for all the work at one rank (Environment::claim)
    static constexpr int max_pieces = 8;
    static constexpr std::size_t min_piece_bytes = 16384;

    /// Cut at multiples of `line` bytes into at most `limit` pieces.
    explicit CopyPieces(std::size_t whole, int limit = max_pieces, std::size_t line = cache_line) : bytes(whole) {
        auto const parts = static_cast<std::size_t>(std::clamp(limit, 1, max_pieces));
        step = (std::max(min_piece_bytes, (whole + parts - 1) / parts) + line - 1) / line * line;
        count = static_cast<int>((whole + step - 1) / step);
    }
    /// The pieces of one of the pairs whose copies are all claimed at one rank.
    static CopyPieces for_pair(std::size_t whole, int ranks) { return CopyPieces(whole, max_pieces_per_word / ranks); }
    std::size_t begin(int k) const { return static_cast<std::size_t>(k) * step; }
    std::size_t size(int k) const { return std::min(bytes, begin(k + 1)) - begin(k); }

    std::size_t bytes, step;
    int count;
};

enum class CopyFrom { front, back };

/// Copies with copy(begin, bytes) the unclaimed pieces at `owner`, numbered from `first` on, until it meets the side
/// that began at the other end. Returns true if it has copied all pieces.
template <class Env, class Copy>
bool copy_pieces(Env& env, int owner, int first, CopyPieces const& pieces, CopyFrom end, Copy copy) {
    for (int i = 0; i < pieces.count; ++i) {
        int const k = end == CopyFrom::front ? i : pieces.count - 1 - i;
        if (!env.claim(owner, first + k)) return false;
        copy(pieces.begin(k), pieces.size(k));
    }
    return true;
}

/// The peers with which this rank has made a whole copy alone: none if there are more ranks than
/// CopyPieces::max_pieces_per_word.
class CompletedAlone {
public:
    void record(int peer, bool alone) {
        if (alone) peers_ |= std::uint64_t{1} << peer;
    }
    bool is_complete(int peer) const { return peers_ != 0 && (peers_ >> peer & 1); }

private:
    std::uint64_t peers_ = 0;
};

}   // namespace tutti::coll
