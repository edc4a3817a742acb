// SPDX-License-Identifier: BSD-3-Clause
// A receive that waits for one sender, announced to it in a line of the pair's memory: that sender stores its next
// message straight into the receive buffer. One copy, and nobody waits for an answer.
//
// The argument. The line is the receiver's: it alone writes it, but for one step that the sender makes, from announced
// to claimed, by compare-and-swap. Announcements are numbered, and no number comes back.
//  * What is claimed is what was read. The receiver makes `word` 0 before it changes the rest of the line, and stores
//    the new number behind it, all with release; the sender loads the word, then the rest with acquire, then swaps. A
//    sender that has loaded anything of a later announcement sees a later word, too, and its swap fails.
//  * Only the right message claims. An announcement holds for the message that goes into one cell, the first that its
//    receiver had not taken when it announced. A sender whose next cell has that number has no message on its way or in
//    a line that the receiver has not matched, and none of those it has matched went to this receive, which waits. No
//    older receive of that rank could take a message that this one takes (Matching::alone), none becomes older than it,
//    and none but messages of this sender suit it. So the claiming message is the one that MPI's order gives it.
//  * A claimed receive stays where it is. It can only be taken back by a swap from announced to 0 (withdraw). If that
//    fails it is claimed, and ends when the sender's cell `stored` says so: a sender claims, copies and publishes that
//    cell within one call, without waiting, and nothing else of it comes in between.
//  * Reuse: an announcement whose cell has come, whatever is in it, cannot be claimed any more, because the sender's
//    next cell has a higher number. Then a store closes it.
//  * The sender stores into the buffer after its swap (acquire), hence after all that the receiver did with it before
//    it announced; the receiver looks into it after it has seen the mark of the cell. Zero memory announces nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "p2p/matching/queues.hpp"
#include "runtime/base/flag.hpp"

namespace tutti::p2p {

struct alignas(cache_line) Announced {
    std::atomic<std::uint64_t> word;   ///< number · 2, and 1 more once it is claimed; 0: nothing is announced
    std::atomic<std::uint64_t> cell;   ///< whose message may be stored
    std::atomic<std::uint64_t> context;
    std::atomic<std::uint64_t> address;   ///< of the buffer, in the receiver
    std::atomic<std::uint64_t> room;      ///< bytes of it
    std::atomic<std::int32_t> source;
    std::atomic<std::int32_t> tag;   ///< or any_tag
};
static_assert(sizeof(Announced) == cache_line);

/// The receiver's end.
class Announcement {
public:
    explicit Announcement(Announced& line) : line_(&line) {}

    /// Announces a receive for the message in that cell, instead of what was announced before: the cell of that has
    /// come, or it was withdrawn.
    void open(std::uint64_t cell, Key const& key, std::uint64_t address, std::uint64_t room) {
        close();
        line_->cell.store(cell, std::memory_order_release);
        line_->context.store(key.context, std::memory_order_release);
        line_->address.store(address, std::memory_order_release);
        line_->room.store(room, std::memory_order_release);
        line_->source.store(key.source, std::memory_order_release);
        line_->tag.store(key.tag, std::memory_order_release);
        line_->word.store(word_ = ++number_ << 1, std::memory_order_release);
        cell_ = cell;
    }
    /// Its cell has come, so nobody claims it any more.
    void close() {
        if (word_ == 0) return;
        line_->word.store(0, std::memory_order_release);
        word_ = 0;
    }
    /// False: it is claimed, and its cell comes. Else it is closed.
    bool withdraw() {
        std::uint64_t word = word_;
        if (word != 0 && !line_->word.compare_exchange_strong(word, 0, std::memory_order_acq_rel)) return false;
        word_ = 0;
        return true;
    }
    /// Is the message of that cell announced?
    bool holds(std::uint64_t cell) const { return word_ != 0 && cell_ == cell; }

private:
    Announced* line_;
    std::uint64_t number_ = 0;
    std::uint64_t word_ = 0;   ///< what the line's holds, unless it is claimed
    std::uint64_t cell_ = 0;
};

/// The sender's end: what is announced at one moment.
class Claim {
public:
    explicit Claim(Announced& line) : line_(line), word_(line.word.load(std::memory_order_acquire)) {}

    /// For this message, if it goes into that cell?
    bool suits(std::uint64_t cell, Key const& message, std::uint64_t bytes) const {
        if (word_ == 0 || (word_ & 1) || line_.cell.load(std::memory_order_acquire) != cell) return false;
        Key const receive{line_.context.load(std::memory_order_acquire), line_.source.load(std::memory_order_acquire),
                          line_.tag.load(std::memory_order_acquire)};
        return receive.takes(message) && bytes <= line_.room.load(std::memory_order_acquire);
    }
    std::uint64_t address() const { return line_.address.load(std::memory_order_acquire); }
    /// True: the receive is the caller's to fill with the message that suits it, at the address read before, and to
    /// end by a cell.
    bool take() { return line_.word.compare_exchange_strong(word_, word_ | 1, std::memory_order_acq_rel); }

private:
    Announced& line_;
    std::uint64_t word_;
};

}   // namespace tutti::p2p
