// SPDX-License-Identifier: BSD-3-Clause
// A copy that several ranks make together, so that a rank that waits copies for one that computes. The copy is cut into
// pieces. One rank claims them from the front, its peer (or several peers) from the back, until they meet. A rank that
// makes no call claims nothing and is not waited for. Cost: one atomic operation per piece, and one more per rank.
//
// Correctness. The state is one word that every rank of the copy can change: the number of the copy in the upper 16
// bits, and below it three counts of 16 bits: the pieces that are done, those claimed from the back and those claimed
// from the front. It only changes by compare-and-swap of the whole word (acquire and release).
//  * Claiming counts one more piece at its end, and only while front + back < n. The piece follows from the count, so
//    each piece has exactly one claimant at a time.
//  * A rank counts a piece as done after it has copied it, in the same operation in which it claims its next piece. If
//    done = n, all pieces are copied and no rank holds a claim: none accesses the buffers again for this copy. The
//    owner of a buffer gets it back only then, so a rank that has copied all pieces waits for no answer.
//  * A rank that cannot copy a piece gives it back (release) and takes no further part. The rank at the other end then
//    claims the piece. Only the last piece claimed at an end can be given back, so at most one rank may do it per end.
//  * Visibility: every change acquires and releases, so a rank that has seen done = n sees all that the others have
//    copied, and a rank that claims a piece sees what the others had written before their last change.
//  * Reuse: copies that use the same word have increasing numbers, and the next one begins only after the previous one
//    is done. An earlier number in the word means that nothing of this copy is claimed yet; the first copy is number 1,
//    zeroed memory is number 0. A later number means that this copy is over: a rank that comes late changes nothing,
//    and its compare-and-swap fails if it has loaded the word before. Numbers wrap and are compared by their
//    difference. So fewer than 2^15 copies may begin while a rank may still try to claim in an earlier one; the users
//    of the word ensure that (coll/env/area.hpp, p2p/shm/ring.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti {

/// The pieces of a copy, numbered from 0. All but the last one end at multiples of `step` bytes minus `shift`. An empty
/// copy has one empty piece.
struct CopyPieces {
    static constexpr std::uint32_t max_pieces = 0xffff;   ///< of a SharedCopy

    CopyPieces() = default;
    /// Pieces of at least `piece_bytes` bytes, rounded up to whole cache lines. They end at cache lines of the target
    /// at address `to`, so that no line has two writers.
    CopyPieces(std::size_t whole, std::size_t piece_bytes, std::uint64_t to)
        : CopyPieces(whole, piece_bytes, cache_line, to % cache_line) {}
    /// Pieces of equal size, a multiple of `line` bytes, at most `limit` and none smaller than `min_piece_bytes`.
    static CopyPieces at_most(std::size_t limit, std::size_t whole, std::size_t min_piece_bytes,
                              std::size_t line = cache_line) {
        return {whole, std::max(min_piece_bytes, (whole + limit - 1) / limit), line, 0};
    }

    std::size_t begin(std::uint32_t k) const { return k == 0 ? 0 : std::min(bytes, k * step - shift); }
    std::size_t size(std::uint32_t k) const { return begin(k + 1) - begin(k); }

    std::size_t bytes = 0, step = cache_line, shift = 0;
    std::uint32_t count = 0;

private:
    CopyPieces(std::size_t whole, std::size_t piece_bytes, std::size_t line, std::size_t shift_bytes)
        : bytes(whole), shift(shift_bytes) {
        step = (std::max(piece_bytes, whole / (max_pieces - 2) + 1) + line - 1) / line * line;
        count = static_cast<std::uint32_t>(std::max<std::size_t>(1, (shift + bytes + step - 1) / step));
    }
};

enum class CopyFrom { front, back };

/// One rank's view of a copy.
class SharedCopy {
public:
    /// `number`: of the copy; only its lower 16 bits count.
    SharedCopy(std::atomic<std::uint64_t>& word, std::uint64_t number, std::uint32_t pieces)
        : word_(word), start_(number << number_at), pieces_(pieces) {}

    /// The counts of a copy of which `pieces` pieces are done are at least this.
    static constexpr std::uint64_t done_count(std::uint32_t pieces) { return std::uint64_t{pieces} << done_at; }

    /// Copies unclaimed pieces by copy(k) until the two ends meet. If copy(k) returns false, the piece remains claimed
    /// by the caller, who must call release() or take_rest(). Returns true if no unclaimed piece is left.
    template <class Copy>
    bool copy_from(CopyFrom end, Copy copy) {
        for (std::uint32_t k = claim(end); k != none; k = claim(end, 1))
            if (!copy(k)) return false;
        return true;
    }
    /// Gives back the piece that the caller has claimed last, and not copied.
    void release(CopyFrom end) { word_.fetch_sub(one_claim(end), std::memory_order_acq_rel); }
    /// Claims all remaining pieces and counts them as done, together with the piece that the caller has claimed last.
    void take_rest(CopyFrom end) {
        for (std::uint64_t old = word_.load(std::memory_order_relaxed);;) {
            std::uint64_t const rest = pieces_ - claimed(old - start_);
            std::uint64_t const next = old + rest * one_claim(end) + done_count(static_cast<std::uint32_t>(rest) + 1);
            if (word_.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
        }
    }
    /// True if all pieces are copied, and no rank accesses the buffers any more.
    bool is_done() const {
        return static_cast<std::int64_t>(word_.load(std::memory_order_acquire) - start_ - done_count(pieces_)) >= 0;
    }

private:
    static constexpr int number_at = 48, done_at = 32, back_at = 16;
    static constexpr std::uint64_t mask = 0xffff;
    static constexpr std::uint32_t none = ~0u;

    static constexpr std::uint64_t one_claim(CopyFrom end) {
        return end == CopyFrom::front ? 1 : std::uint64_t{1} << back_at;
    }
    static std::uint64_t claimed(std::uint64_t counts) { return (counts & mask) + (counts >> back_at & mask); }

    /// Counts `copied` pieces, 0 or 1, as done and claims the next one. Returns its number, or `none`.
    std::uint32_t claim(CopyFrom end, std::uint32_t copied = 0) {
        for (std::uint64_t old = word_.load(std::memory_order_relaxed);;) {
            std::uint64_t const since = old - start_;
            if (since >> number_at != 0 && static_cast<std::int64_t>(since) >= 0) return none;   // the copy is over
            std::uint64_t const counts = since >> number_at == 0 ? since : 0;
            bool const left = claimed(counts) < pieces_;
            std::uint64_t const next = counts + done_count(copied) + (left ? one_claim(end) : 0);
            if (next == counts) return none;
            if (!word_.compare_exchange_weak(old, start_ + next, std::memory_order_acq_rel, std::memory_order_relaxed))
                continue;
            if (!left) return none;
            return static_cast<std::uint32_t>(end == CopyFrom::front ? counts & mask
                                                                     : pieces_ - 1 - (counts >> back_at & mask));
        }
    }

    std::atomic<std::uint64_t>& word_;
    std::uint64_t start_;   ///< the word when nothing is claimed
    std::uint32_t pieces_;
};

}   // namespace tutti
