// SPDX-License-Identifier: BSD-3-Clause
// One copy performed by two ranks: the receiver copies chunks from the front, the sender from the back as soon as it
// polls, until they meet. Each chunk is copied by exactly one of them. A sender that does not poll copies nothing and
// is not waited for. Cost per chunk: one store by the receiver or two by the sender, and one load of the other side's
// line.
//
// Correctness. A pair has two words: only the receiver writes `front`, only the sender writes `back`. Each contains the
// number of the copy it refers to, the number of chunks claimed, and, in `back`, whether the last of them is still
// being claimed or copied (busy). Let n be the number of chunks, f and b the numbers claimed by receiver and sender:
//  * Claiming means storing the own word with its count increased by one and then loading the other word, both
//    sequentially consistent. The claim is valid if f + b ≤ n. If both sides claim the same chunk, f + b = n + 1, and
//    the side that loads second sees that: at most one side considers its claim valid.
//  * A sender whose claim is invalid reverts it and takes no further part in this copy. It does the same if `front` has
//    another number: that copy is over.
//  * A receiver whose claim is invalid waits until `back` is not busy. By then the chunk has been copied, or the claim
//    has been reverted and the receiver copies the chunk. So every chunk is copied, and none twice. The wait takes no
//    longer than the copy of one chunk. Without it the receive could complete while the sender still writes.
//  * From then on every claim of the sender is invalid: either f + b = n, or `front` has another number. So the sender
//    writes to the receive buffer only while that receive is incomplete. The receiver reads the send buffer only before
//    it sends `done` through the ring, and the send is incomplete until then.
//  * Reuse: the receiver opens the next copy, with the next number, only after the previous one is complete. A sender
//    that polls late finds a `front` with no chunks left or with another number; what it stores in `back` then has an
//    old number and is ignored. Zeroed memory is copy number 0, which is never opened.
//  * Visibility: the sender clears busy with release and the receiver loads it with acquire, so the receiver sees what
//    the sender has copied.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti::p2p {

/// The two words of a pair, each on its own cache line.
struct SharedCopyWords {
    alignas(cache_line) std::atomic<std::uint64_t> front;   ///< written by the receiver
    alignas(cache_line) std::atomic<std::uint64_t> back;    ///< written by the sender

    /// Layout of a word: copy number in the upper 32 bits, number of claimed chunks in bits 1 to 31, busy in bit 0.
    static std::uint64_t word(std::uint32_t copy, std::uint32_t chunks, bool busy = false) {
        return std::uint64_t{copy} << 32 | std::uint64_t{chunks} << 1 | (busy ? 1 : 0);
    }
    static std::uint32_t copy(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
    static std::uint32_t chunks(std::uint64_t word) { return static_cast<std::uint32_t>(word) >> 1; }
    static bool busy(std::uint64_t word) { return word & 1; }
};

/// Division of a message into chunks. Chunks end at cache line boundaries of the receive buffer, so that no line has
/// two writers.
struct Chunks {
    std::uint64_t to = 0;                   ///< address of the receive buffer
    std::size_t bytes = 0;                  ///< size of the message
    std::size_t chunk_bytes = cache_line;   ///< bytes per chunk, a multiple of a cache line

    std::uint32_t count() const {
        return static_cast<std::uint32_t>((to % cache_line + bytes + chunk_bytes - 1) / chunk_bytes);
    }
    std::size_t begin(std::uint32_t i) const { return i == 0 ? 0 : std::min(bytes, i * chunk_bytes - to % cache_line); }
    std::size_t size(std::uint32_t i) const { return begin(i + 1) - begin(i); }
};

/// The receiver's side of a copy.
class SharedCopyReceiver {
public:
    /// Begins the next copy with these words. Must only be called when the previous copy is complete, and before the
    /// sender is notified of this one.
    void start(SharedCopyWords& words, std::uint32_t chunks) {
        words_ = &words;
        chunks_ = chunks;
        copied_ = 0;
        words_->front.store(SharedCopyWords::word(++copy_, 0), std::memory_order_release);
    }
    std::uint32_t copy_number() const { return copy_; }

    /// Returns true if the caller must copy chunk next_chunk() and then call commit(), false if the two sides have met.
    bool claim() {
        if (copied_ == chunks_) return false;
        words_->front.store(SharedCopyWords::word(copy_, copied_ + 1), std::memory_order_seq_cst);
        return copied_ + 1 + claimed_by_sender(words_->back.load(std::memory_order_seq_cst)) <= chunks_;
    }
    std::uint32_t next_chunk() const { return copied_; }
    void commit() { ++copied_; }
    /// Claims all remaining chunks, so that every further claim of the sender is invalid.
    void claim_rest() { words_->front.store(SharedCopyWords::word(copy_, chunks_), std::memory_order_seq_cst); }

    /// After claim() returned false, or claim_rest(): returns true once the sender has copied or reverted its last
    /// claim.
    bool is_sender_done() const {
        std::uint64_t back = words_->back.load(std::memory_order_seq_cst);
        return copied_ == chunks_ || SharedCopyWords::copy(back) != copy_ || !SharedCopyWords::busy(back);
    }
    /// When is_sender_done(): returns true if chunk next_chunk() has not been copied by either side.
    bool has_uncopied_chunk() const {
        return copied_ + claimed_by_sender(words_->back.load(std::memory_order_acquire)) < chunks_;
    }

private:
    std::uint32_t claimed_by_sender(std::uint64_t back) const {
        return SharedCopyWords::copy(back) == copy_ ? SharedCopyWords::chunks(back) : 0;
    }

    SharedCopyWords* words_ = nullptr;
    std::uint32_t copy_ = 0, chunks_ = 0, copied_ = 0;
};

/// The sender's side of a copy.
class SharedCopySender {
public:
    SharedCopySender(SharedCopyWords& words, std::uint32_t copy, std::uint32_t chunks)
        : words_(words), copy_(copy), chunks_(chunks) {}

    /// Returns true if the caller must copy chunk next_chunk() and then call commit(), or revert() to revert the claim.
    /// Returns false if the two sides have met; the object must then not be used any more.
    bool claim() {
        words_.back.store(SharedCopyWords::word(copy_, copied_ + 1, true), std::memory_order_seq_cst);
        std::uint64_t front = words_.front.load(std::memory_order_seq_cst);
        if (SharedCopyWords::copy(front) == copy_ && SharedCopyWords::chunks(front) + copied_ + 1 <= chunks_)
            return true;
        revert();
        return false;
    }
    std::uint32_t next_chunk() const { return chunks_ - 1 - copied_; }
    void commit() { words_.back.store(SharedCopyWords::word(copy_, ++copied_), std::memory_order_release); }
    void revert() { words_.back.store(SharedCopyWords::word(copy_, copied_), std::memory_order_release); }

private:
    SharedCopyWords& words_;
    std::uint32_t copy_, chunks_, copied_ = 0;
};

}   // namespace tutti::p2p
