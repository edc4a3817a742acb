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

// Special values of what a rank watches; others are a word's offset in the segment.
constexpr std::uint64_t watches_nothing = 0, watches_anything = ~std::uint64_t{0};

constexpr std::int64_t fences_last_ns = 50'000'000;   // after the last sleep on a shared core
constexpr unsigned fences_per_check = 1024;
constexpr long longest_without_bell_ns = 1'000'000;   // costs a hundredth of a core

}   // namespace

Sleepers::Sleepers(Segment const& segment, unsigned place)
    : segment_(segment), place_(place), rank_state_(segment.rank_state(place)),
      always_fences_(segment.header().crowded() || !register_for_fences()) {
    if (always_fences_) segment.header().sleepers.fetch_or(SegmentHeader::fence_bits, std::memory_order_seq_cst);
}

Sleepers::Set Sleepers::for_word(std::uint64_t offset) const {
    constexpr unsigned first = 2, count = Segment::sleeper_sets - first;
    // Words of one kind lie a line or a page apart: after multiplication, their addresses differ in the highest bits.
    return segment_.sleeper_set(first + static_cast<unsigned>((offset * 0x9e37'79b9'7f4a'7c15ULL) >> 32) % count);
}

void Sleepers::enter(Set set) { set[place_ / 64].fetch_or(std::uint64_t{1} << place_ % 64, std::memory_order_relaxed); }
void Sleepers::leave(Set set) {
    set[place_ / 64].fetch_and(~(std::uint64_t{1} << place_ % 64), std::memory_order_relaxed);
}

std::uint32_t Sleepers::add(std::atomic<std::uint64_t> const* word, bool shared_core) {
    std::uint32_t const now = ticket();
    std::uint64_t watched = word ? segment_.offset(word) : watches_anything;
    bool const another = rank_state_.asleep.fetch_add(1, std::memory_order_relaxed) != 0;
    if (another) watched = watches_anything;
    enter(watched == watches_anything ? for_anything() : for_word(watched));
    enter(all());
    std::uint64_t const before_this = segment_.watched(place_).exchange(watched, std::memory_order_relaxed);
    if (another && before_this != watches_anything) leave(for_word(before_this));
    std::uint32_t const before = segment_.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (before & SegmentHeader::fenced) std::atomic_thread_fence(std::memory_order_seq_cst);
    else fence(shared_core);
    if (shared_core && !always_fences_)
        segment_.header().fences_until.store(now_ns() + fences_last_ns, std::memory_order_relaxed);
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

void Sleepers::stop_fences() {
    SegmentHeader& header = segment_.header();
    if (always_fences_ || now_ns() < header.fences_until.load(std::memory_order_relaxed)) return;
    std::uint32_t was = header.sleepers.load(std::memory_order_relaxed);
    if ((was & SegmentHeader::fence_bits) == SegmentHeader::fence_bits)
        header.sleepers.compare_exchange_strong(was, was & ~SegmentHeader::fence_bits, std::memory_order_seq_cst);
}

void Sleepers::remove() {
    segment_.header().sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (rank_state_.asleep.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    std::uint64_t const watched = segment_.watched(place_).exchange(watches_nothing, std::memory_order_relaxed);
    leave(all());
    leave(for_anything());
    if (watched != watches_anything) leave(for_word(watched));
}

void Sleepers::watch(int descriptor) {
    bell_ = Bell::create(rank_state_);
    descriptor_ = descriptor;
}

void Sleepers::sleep(std::uint32_t ticket, long longest_ns, int event) {
    bool const reachable = bell_ && rank_state_.bell_unreached.load(std::memory_order_relaxed) == 0;
    if (descriptor_ >= 0 && !reachable) longest_ns = std::min(longest_ns, longest_without_bell_ns);
    if (bell_) poll(ticket, longest_ns, event);
    else futex_wait(rank_state_.wake, ticket, longest_ns);
}

void Sleepers::poll(std::uint32_t ticket, long longest_ns, int event) {
    pollfd what[] = {{descriptor_, POLLIN, 0}, {bell_->descriptor(), POLLIN, 0}, {event, POLLIN, 0}};
    timespec const longest{longest_ns / 1'000'000'000, longest_ns % 1'000'000'000};
    if (this->ticket() == ticket) ppoll(what, 3, &longest, nullptr);
}

bool Sleepers::any_after_fence() {
    std::atomic<std::uint32_t> const& sleepers = segment_.header().sleepers;
    // Acquire: the reads that follow see what the counted ranks wrote before they counted themselves.
    if ((sleepers.load(std::memory_order_acquire) & SegmentHeader::fencing) == 0) return true;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    fences_.add(1);
    if (fences_.read() % fences_per_check == 0) stop_fences();
    return segment_.header().sleeping() != 0;
}

unsigned Sleepers::wake(unsigned place) {
    RankState& rank_state = segment_.rank_state(place);
    if (place == place_ && own_threads_) return 0;
    if (rank_state.asleep.load(std::memory_order_relaxed) == 0) return 0;
    rank_state.wake.fetch_add(1, std::memory_order_release);
    if (rank_state.bell.load(std::memory_order_acquire) == 0) futex_wake(rank_state.wake, everybody);
    else if (bell_) bell_->ring(rank_state);
    else rank_state.bell_unreached.store(1, std::memory_order_relaxed);
    rank_state_.times.wakes.add(1);
    return 1;
}

void Sleepers::wake_own() {
    rank_state_.wake.fetch_add(1, std::memory_order_release);
    if (bell_) bell_->ring(rank_state_);
    else futex_wake(rank_state_.wake, everybody);
}

template <class Applies>
unsigned Sleepers::wake_those_in(Set set, Applies&& applies) {
    unsigned woken = 0;
    for (std::size_t i = 0; i < set.size(); ++i)
        for (std::uint64_t rest = set[i].load(std::memory_order_relaxed); rest != 0; rest &= rest - 1) {
            auto const place = static_cast<unsigned>(64 * i + static_cast<unsigned>(std::countr_zero(rest)));
            if (applies(segment_.watched(place).load(std::memory_order_relaxed))) woken += wake(place);
        }
    return woken;
}

unsigned Sleepers::wake_one(unsigned place) { return any_after_fence() ? wake(place) : 0; }

unsigned Sleepers::wake_all() {
    if (!any_after_fence()) return 0;
    return wake_those_in(all(), [](std::uint64_t watched) { return watched != watches_nothing; });
}

unsigned Sleepers::wake_watchers(std::atomic<std::uint64_t> const& word) {
    if (!any_after_fence()) return 0;
    std::uint64_t const here = segment_.offset(&word);
    return wake_those_in(for_word(here), [here](std::uint64_t watched) { return watched == here; }) +
           wake_those_in(for_anything(), [](std::uint64_t watched) { return watched == watches_anything; });
}

}   // namespace tutti
