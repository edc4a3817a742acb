// SPDX-License-Identifier: BSD-3-Clause
// Copies that either side can make, in operations that suspend: a rank may have begun one and compute, and who waits
// meanwhile copies for both. A copy is cut into pieces, and whoever comes takes one after the other, the receiver from
// the front and the sender from the back, until they meet. Cost: one atomic operation on the receiver's line per piece
// (its winner's store is release, who finds a piece taken acquires); the last one to come finds all done.
//
// Why nobody touches a buffer that its owner has got back: a side that has copied every piece needs no answer, for the
// other one finds all taken. Else it waits until the other one says, in a flag of its own, that it takes no more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti::coll {

/// What a copy is cut into: whole lines, but for the end.
struct CopyPieces {
    static constexpr int most_of_word = 48;   ///< of all the work at one rank (Environment::claim)
    static constexpr int most = 8;
    static constexpr std::size_t least_bytes = 16384;

    /// Cut at multiples of `line` bytes into at most `limit` pieces.
    explicit CopyPieces(std::size_t whole, int limit = most, std::size_t line = cache_line) : bytes(whole) {
        auto const parts = static_cast<std::size_t>(std::clamp(limit, 1, most));
        step = (std::max(least_bytes, (whole + parts - 1) / parts) + line - 1) / line * line;
        count = static_cast<int>((whole + step - 1) / step);
    }
    /// Of one of the pairs whose copies all go to one rank.
    static CopyPieces of_pair(std::size_t whole, int ranks) { return CopyPieces(whole, most_of_word / ranks); }
    std::size_t begin(int k) const { return static_cast<std::size_t>(k) * step; }
    std::size_t size(int k) const { return std::min(bytes, begin(k + 1)) - begin(k); }

    std::size_t bytes, step;
    int count;
};

enum class From { front, back };

/// Copies by copy(begin, bytes) what nobody has taken of the pieces at `owner`, numbered from `first` on, until it
/// meets who began at the other end. True: it has copied all.
template <class Env, class Copy>
bool copy_pieces(Env& env, int owner, int first, CopyPieces const& pieces, From end, Copy copy) {
    for (int i = 0; i < pieces.count; ++i) {
        int const k = end == From::front ? i : pieces.count - 1 - i;
        if (!env.claim(owner, first + k)) return false;
        copy(pieces.begin(k), pieces.size(k));
    }
    return true;
}

/// The peers with whom this rank has made a whole copy alone: none where there are more ranks than
/// CopyPieces::most_of_word.
class MadeAlone {
public:
    void note(int peer, bool alone) {
        if (alone) peers_ |= std::uint64_t{1} << peer;
    }
    bool with(int peer) const { return peers_ != 0 && (peers_ >> peer & 1); }

private:
    std::uint64_t peers_ = 0;
};

}   // namespace tutti::coll
