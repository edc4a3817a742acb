// SPDX-License-Identifier: BSD-3-Clause
// Announcement of a posted receive from one source to its sender, in one cache line of the pair's memory. The sender
// stores its next message directly into the receive buffer: one copy, and neither side waits for an answer.
//
// Correctness. Only the receiver writes the line, except that the sender may change it from announced to claimed by
// compare-and-swap. Announcements are numbered, and numbers are not reused.
//  * The sender claims what it has read. The receiver sets `word` to 0 before it changes the rest of the line, and
//    stores the new number after the rest, all with release. The sender loads the word, then the rest with acquire,
//    then performs the compare-and-swap. If it has loaded any part of a later announcement, it also sees a later word,
//    so the compare-and-swap fails.
//  * Only the right message claims. An announcement is for the message in one cell, the first cell that the receiver
//    had not consumed when it announced. If the sender's next cell has that number, the sender has no message in
//    transit or queued that the receiver has not matched, and none of the matched ones went to this receive, which is
//    still posted. No older receive of that rank matches a message that this one matches (Matching::is_exclusive), no
//    receive becomes older than it, and only messages of this sender match it. So the claiming message is the one that
//    MPI's order requires.
//  * A claimed receive stays in place. The receiver can withdraw it only by a compare-and-swap from announced to 0. If
//    that fails, the receive is claimed and completes when the sender's cell `stored` arrives: a sender claims, copies
//    and publishes that cell within one call, without waiting and without other cells in between.
//  * Reuse: when the announced cell has arrived, whatever it contains, the announcement can no longer be claimed,
//    because the sender's next cell has a higher number. A plain store then closes it.
//  * Visibility: the sender writes to the buffer after its compare-and-swap (acquire), so after everything that the
//    receiver did with the buffer before it announced it. The receiver reads the buffer after it has seen the mark of
//    the cell. Zeroed memory is no announcement.
#pragma once

#include <atomic>
#include <cstdint>

#include "p2p/matching/queues.hpp"
#include "runtime/base/flag.hpp"

namespace tutti::p2p {

struct alignas(cache_line) PostedReceiveLine {
    std::atomic<std::uint64_t> word;   ///< number · 2, plus 1 if claimed; 0: no announcement
    std::atomic<std::uint64_t> cell;   ///< the cell whose message may be stored
    std::atomic<std::uint64_t> context;
    std::atomic<std::uint64_t> address;    ///< address of the receive buffer in the receiver
    std::atomic<std::uint64_t> capacity;   ///< size of the receive buffer in bytes
    std::atomic<std::int32_t> source;
    std::atomic<std::int32_t> tag;   ///< may be any_tag
};
static_assert(sizeof(PostedReceiveLine) == cache_line);

/// The receiver's side.
class PostedReceiveOwner {
public:
    explicit PostedReceiveOwner(PostedReceiveLine& line) : line_(&line) {}

    /// Announces a receive for the message in the given cell. The previous announcement must have been withdrawn, or
    /// its cell must have arrived.
    void announce(std::uint64_t cell, Key const& key, std::uint64_t address, std::uint64_t capacity) {
        close();
        line_->cell.store(cell, std::memory_order_release);
        line_->context.store(key.context, std::memory_order_release);
        line_->address.store(address, std::memory_order_release);
        line_->capacity.store(capacity, std::memory_order_release);
        line_->source.store(key.source, std::memory_order_release);
        line_->tag.store(key.tag, std::memory_order_release);
        line_->word.store(word_ = ++number_ << 1, std::memory_order_release);
        cell_ = cell;
    }
    /// Ends the announcement. Must only be called when its cell has arrived, so that it cannot be claimed.
    void close() {
        if (word_ == 0) return;
        line_->word.store(0, std::memory_order_release);
        word_ = 0;
    }
    /// Withdraws the announcement. Returns false if it is claimed: its cell will arrive.
    bool withdraw() {
        std::uint64_t word = word_;
        if (word != 0 && !line_->word.compare_exchange_strong(word, 0, std::memory_order_acq_rel)) return false;
        word_ = 0;
        return true;
    }
    /// Returns true if the message in this cell is announced.
    bool is_for_cell(std::uint64_t cell) const { return word_ != 0 && cell_ == cell; }

private:
    PostedReceiveLine* line_;
    std::uint64_t number_ = 0;
    std::uint64_t word_ = 0;   ///< the value of the line's word, unless it is claimed
    std::uint64_t cell_ = 0;
};

/// The sender's side: a snapshot of the announcement.
class PostedReceiveClaim {
public:
    explicit PostedReceiveClaim(PostedReceiveLine& line)
        : line_(line), word_(line.word.load(std::memory_order_acquire)) {}

    /// Returns true if this message, sent in that cell, matches the announced receive and fits into its buffer.
    bool matches(std::uint64_t cell, Key const& message, std::uint64_t bytes) const {
        if (word_ == 0 || (word_ & 1) || line_.cell.load(std::memory_order_acquire) != cell) return false;
        Key const receive{line_.context.load(std::memory_order_acquire), line_.source.load(std::memory_order_acquire),
                          line_.tag.load(std::memory_order_acquire)};
        return receive.matches(message) && bytes <= line_.capacity.load(std::memory_order_acquire);
    }
    std::uint64_t address() const { return line_.address.load(std::memory_order_acquire); }
    /// Claims the receive. If true, the caller must store the message for which matches() was true at address(), and
    /// publish a `stored` cell. address() must be read before.
    bool try_claim() { return line_.word.compare_exchange_strong(word_, word_ | 1, std::memory_order_acq_rel); }

private:
    PostedReceiveLine& line_;
    std::uint64_t word_;
};

}   // namespace tutti::p2p
