// SPDX-License-Identifier: BSD-3-Clause
// One copy made by two ranks: the receiver takes chunks from the front, the sender, once it looks, from the back, until
// they meet. Every chunk is copied by one of them only. A sender that never looks takes none and is not waited for.
// Cost: each side one store and one load of the other's line per chunk.
//
// The argument. A pair has two words: `front` has the receiver as its only writer, `back` the sender. Each holds the
// number of the copy that it speaks of, how many chunks are claimed, and, in `back`, whether the last of them is still
// being decided or copied (busy). With n chunks, f and b of them claimed:
//  * To claim is to store one's own word, raised by one, and then to load the other's, both sequentially consistent.
//    The claim holds if f + b ≤ n. Two claims of the same chunk make f + b = n + 1, and whoever loads second sees it:
//    at most one of them believes that its claim holds.
//  * A sender whose claim does not hold takes it back and leaves this copy for good. So does one that finds another
//    number in `front`: that copy is over.
//  * A receiver whose claim does not hold waits until `back` is not busy. The chunk is then either copied or given
//    back and the receiver's. So no chunk is left over and none is copied twice. The wait is no longer than the copy of
//    one chunk; without it the receive could be complete while the sender still writes.
//  * From then on no claim of the sender holds: either f + b = n already, or `front` has another number. So the sender
//    writes to the receiver's buffer only while that receive is incomplete. The receiver reads the send buffer only
//    before it says `done` in the ring, and the send is not complete before that.
//  * Reuse: the receiver opens the next copy, under the next number, only after it has settled the last one. A sender
//    that looks late finds a `front` in which nothing is left or that has another number; what it stores in `back`
//    meanwhile has an old number and counts as nothing. Zero memory is copy number 0, which nobody opens.
//  * What the sender copied is visible to the receiver: it ends busy with release, and the receiver loads with acquire.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti::p2p {

/// A pair's two words, each on a line of its own.
struct Halves {
    alignas(cache_line) std::atomic<std::uint64_t> front;   ///< written by the receiver
    alignas(cache_line) std::atomic<std::uint64_t> back;    ///< written by the sender

    static std::uint64_t word(std::uint32_t copy, std::uint32_t chunks, bool busy = false) {
        return std::uint64_t{copy} << 32 | std::uint64_t{chunks} << 1 | (busy ? 1 : 0);
    }
    static std::uint32_t copy(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
    static std::uint32_t chunks(std::uint64_t word) { return static_cast<std::uint32_t>(word) >> 1; }
    static bool busy(std::uint64_t word) { return word & 1; }
};

/// How a message is cut: chunks end on cache lines of the buffer that is written, so that no line has two writers.
struct Chunks {
    std::uint64_t to = 0;            ///< the receiver's address
    std::size_t bytes = 0;           ///< of the message
    std::size_t step = cache_line;   ///< bytes of a chunk, a multiple of a cache line

    std::uint32_t count() const { return static_cast<std::uint32_t>((to % cache_line + bytes + step - 1) / step); }
    std::size_t begin(std::uint32_t i) const { return i == 0 ? 0 : std::min(bytes, i * step - to % cache_line); }
    std::size_t size(std::uint32_t i) const { return begin(i + 1) - begin(i); }
};

/// The receiver's end of a copy.
class Front {
public:
    /// Begins the next copy over these words; only after the last one is settled. Before the sender learns of it.
    void open(Halves& halves, std::uint32_t chunks) {
        halves_ = &halves;
        chunks_ = chunks;
        mine_ = 0;
        halves_->front.store(Halves::word(++copy_, 0), std::memory_order_release);
    }
    std::uint32_t copy() const { return copy_; }

    /// True: chunk next() is this side's to copy, and to count with took(). False: the halves have met.
    bool claim() {
        if (mine_ == chunks_) return false;
        halves_->front.store(Halves::word(copy_, mine_ + 1), std::memory_order_seq_cst);
        return mine_ + 1 + theirs(halves_->back.load(std::memory_order_seq_cst)) <= chunks_;
    }
    std::uint32_t next() const { return mine_; }
    void took() { ++mine_; }
    /// Claims all that is left, so that the sender takes no more.
    void seal() { halves_->front.store(Halves::word(copy_, chunks_), std::memory_order_seq_cst); }

    /// After claim() was false or seal(): true once the sender has made up its mind about its last chunk.
    bool settled() const {
        std::uint64_t back = halves_->back.load(std::memory_order_seq_cst);
        return mine_ == chunks_ || Halves::copy(back) != copy_ || !Halves::busy(back);
    }
    /// Once settled: true when chunk next() has been copied by nobody.
    bool incomplete() const { return mine_ + theirs(halves_->back.load(std::memory_order_acquire)) < chunks_; }

private:
    std::uint32_t theirs(std::uint64_t back) const { return Halves::copy(back) == copy_ ? Halves::chunks(back) : 0; }

    Halves* halves_ = nullptr;
    std::uint32_t copy_ = 0, chunks_ = 0, mine_ = 0;
};

/// The sender's end.
class Back {
public:
    Back(Halves& halves, std::uint32_t copy, std::uint32_t chunks) : halves_(halves), copy_(copy), chunks_(chunks) {}

    /// True: chunk next() is this side's to copy, and then to be counted with took(), or given back with leave().
    /// False: the halves have met, and this end is done with.
    bool claim() {
        halves_.back.store(Halves::word(copy_, mine_ + 1, true), std::memory_order_seq_cst);
        std::uint64_t front = halves_.front.load(std::memory_order_seq_cst);
        if (Halves::copy(front) == copy_ && Halves::chunks(front) + mine_ + 1 <= chunks_) return true;
        leave();
        return false;
    }
    std::uint32_t next() const { return chunks_ - 1 - mine_; }
    void took() { halves_.back.store(Halves::word(copy_, ++mine_), std::memory_order_release); }
    void leave() { halves_.back.store(Halves::word(copy_, mine_), std::memory_order_release); }

private:
    Halves& halves_;
    std::uint32_t copy_, chunks_, mine_ = 0;
};

}   // namespace tutti::p2p
