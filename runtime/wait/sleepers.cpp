// SPDX-License-Identifier: BSD-3-Clause
// Enters and removes sleeping ranks, and wakes them; sleepers.hpp argues why no wake-up is lost.
#include "runtime/wait/sleepers.hpp"

#include <algorithm>
#include <bit>
#include <ctime>

#include <poll.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"

namespace tutti {
namespace {

// Special values of a rank's wait target; others are a word's offset in the segment.
constexpr std::uint64_t no_target = 0, any_target = ~std::uint64_t{0};

constexpr std::int64_t fences_for_ns = 50'000'000;   // after the last sleep on a shared core
constexpr unsigned fences_per_check = 1024;
constexpr long max_without_bell_ns = 1'000'000;   // costs a hundredth of a core

}   // namespace

Sleepers::Sleepers(Segment const& segment, unsigned local_rank)
    : segment_(segment), local_rank_(local_rank), rank_state_(segment.rank_state(local_rank)),
      always_fences_(segment.header().oversubscribed() || !register_for_fences()) {
    if (always_fences_) segment.header().sleepers.fetch_or(SegmentHeader::fence_bits, std::memory_order_seq_cst);
}

Sleepers::Set Sleepers::word_sleepers(std::uint64_t offset) const {
    constexpr unsigned first = 2, count = Segment::sleeper_sets - first;
    // Words of one kind lie a line or a page apart: after multiplication, their addresses differ in the highest bits.
    return segment_.sleeper_set(first + static_cast<unsigned>((offset * 0x9e37'79b9'7f4a'7c15ULL) >> 32) % count);
}

void Sleepers::insert(Set set) {
    set[local_rank_ / 64].fetch_or(std::uint64_t{1} << local_rank_ % 64, std::memory_order_relaxed);
}
void Sleepers::erase(Set set) {
    set[local_rank_ / 64].fetch_and(~(std::uint64_t{1} << local_rank_ % 64), std::memory_order_relaxed);
}

std::uint32_t Sleepers::add(std::atomic<std::uint64_t> const* word, bool shared_core) {
    std::uint32_t const now = ticket();
    std::uint64_t target = word ? segment_.offset(word) : any_target;
    bool const others_asleep = rank_state_.asleep.fetch_add(1, std::memory_order_relaxed) != 0;
    if (others_asleep) target = any_target;
    insert(target == any_target ? any_event_sleepers() : word_sleepers(target));
    insert(all_sleepers());
    std::uint64_t const previous = segment_.wait_target(local_rank_).exchange(target, std::memory_order_relaxed);
    if (others_asleep && previous != any_target) erase(word_sleepers(previous));
    std::uint32_t const before = segment_.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (before & SegmentHeader::fenced) std::atomic_thread_fence(std::memory_order_seq_cst);
    else fence(shared_core);
    if (shared_core && !always_fences_)
        segment_.header().fences_until.store(now_ns() + fences_for_ns, std::memory_order_relaxed);
    return now;
}

/// Runs membarrier; on a shared core it also switches on the fences of writers.
void Sleepers::fence(bool shared_core) {
    std::atomic<std::uint32_t>& sleepers = segment_.header().sleepers;
    bool const switches_on =
        shared_core && !(sleepers.fetch_or(SegmentHeader::fencing, std::memory_order_seq_cst) & SegmentHeader::fencing);
    fence_registered_processes();
    if (switches_on) sleepers.fetch_or(SegmentHeader::fenced, std::memory_order_seq_cst);
}

void Sleepers::disable_fences() {
    SegmentHeader& header = segment_.header();
    if (always_fences_ || now_ns() < header.fences_until.load(std::memory_order_relaxed)) return;
    std::uint32_t value = header.sleepers.load(std::memory_order_relaxed);
    if ((value & SegmentHeader::fence_bits) == SegmentHeader::fence_bits)
        header.sleepers.compare_exchange_strong(value, value & ~SegmentHeader::fence_bits, std::memory_order_seq_cst);
}

void Sleepers::remove() {
    segment_.header().sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (rank_state_.asleep.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    std::uint64_t const target = segment_.wait_target(local_rank_).exchange(no_target, std::memory_order_relaxed);
    erase(all_sleepers());
    erase(any_event_sleepers());
    if (target != any_target) erase(word_sleepers(target));
}

void Sleepers::set_poll_descriptor(int descriptor) {
    bell_ = Bell::create(rank_state_);
    descriptor_ = descriptor;
}

void Sleepers::sleep(std::uint32_t ticket, long max_ns, int event) {
    bool const is_reachable = bell_ && rank_state_.bell_unreached.load(std::memory_order_relaxed) == 0;
    if (descriptor_ >= 0 && !is_reachable) max_ns = std::min(max_ns, max_without_bell_ns);
    if (bell_) poll(ticket, max_ns, event);
    else futex_wait(rank_state_.wake, ticket, max_ns);
}

void Sleepers::poll(std::uint32_t ticket, long max_ns, int event) {
    pollfd descriptors[] = {{descriptor_, POLLIN, 0}, {bell_->descriptor(), POLLIN, 0}, {event, POLLIN, 0}};
    timespec const timeout{max_ns / 1'000'000'000, max_ns % 1'000'000'000};
    if (this->ticket() == ticket) ppoll(descriptors, 3, &timeout, nullptr);
}

bool Sleepers::has_sleepers_after_fence() {
    std::atomic<std::uint32_t> const& sleepers = segment_.header().sleepers;
    // Acquire: the reads that follow see what the counted ranks wrote before they counted themselves.
    if ((sleepers.load(std::memory_order_acquire) & SegmentHeader::fencing) == 0) return true;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    fences_.add(1);
    if (fences_.read() % fences_per_check == 0) disable_fences();
    return segment_.header().sleeping() != 0;
}

unsigned Sleepers::wake(unsigned local_rank) {
    RankState& rank_state = segment_.rank_state(local_rank);
    if (local_rank == local_rank_ && excludes_own_threads_) return 0;
    if (rank_state.asleep.load(std::memory_order_relaxed) == 0) return 0;
    rank_state.wake.fetch_add(1, std::memory_order_release);
    if (rank_state.bell.load(std::memory_order_acquire) == 0) futex_wake(rank_state.wake, wake_all);
    else if (bell_) bell_->ring(rank_state);
    else rank_state.bell_unreached.store(1, std::memory_order_relaxed);
    rank_state_.times.wakes.add(1);
    return 1;
}

void Sleepers::wake_this_rank() {
    rank_state_.wake.fetch_add(1, std::memory_order_release);
    if (bell_) bell_->ring(rank_state_);
    else futex_wake(rank_state_.wake, wake_all);
}

template <class Matches>
unsigned Sleepers::wake_matching(Set set, Matches&& matches) {
    unsigned woken = 0;
    for (std::size_t i = 0; i < set.size(); ++i)
        for (std::uint64_t rest = set[i].load(std::memory_order_relaxed); rest != 0; rest &= rest - 1) {
            auto const local_rank = static_cast<unsigned>(64 * i + static_cast<unsigned>(std::countr_zero(rest)));
            if (matches(segment_.wait_target(local_rank).load(std::memory_order_relaxed))) woken += wake(local_rank);
        }
    return woken;
}

unsigned Sleepers::wake_rank(unsigned local_rank) { return has_sleepers_after_fence() ? wake(local_rank) : 0; }

unsigned Sleepers::wake_all_ranks() {
    if (!has_sleepers_after_fence()) return 0;
    return wake_matching(all_sleepers(), [](std::uint64_t target) { return target != no_target; });
}

unsigned Sleepers::wake_waiters(std::atomic<std::uint64_t> const& word) {
    if (!has_sleepers_after_fence()) return 0;
    std::uint64_t const offset = segment_.offset(&word);
    return wake_matching(word_sleepers(offset), [offset](std::uint64_t target) { return target == offset; }) +
           wake_matching(any_event_sleepers(), [](std::uint64_t target) { return target == any_target; });
}

}   // namespace tutti
