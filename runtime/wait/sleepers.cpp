// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/sleepers.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/futex.hpp"
#include "runtime/base/membarrier.hpp"

namespace tutti {
namespace {

// What a rank watches, other than a word's offset in the segment.
constexpr std::uint64_t watches_nothing = 0, watches_anything = ~std::uint64_t{0};

constexpr std::int64_t fences_last_ns = 50'000'000;   // after the last sleep on a shared core
constexpr unsigned fences_per_check = 1024;

}   // namespace

Sleepers::Sleepers(Segment const& segment, unsigned place)
    : segment_(segment), place_(place), rank_state_(segment.rank_state(place)),
      always_fences_(segment.header().crowded() || !register_for_fences()) {
    if (always_fences_) segment.header().sleepers.fetch_or(SegmentHeader::fence_bits, std::memory_order_seq_cst);
}

std::uint32_t Sleepers::add(std::atomic<std::uint64_t> const* word, bool shared_core) {
    std::uint32_t const now = ticket();
    segment_.watched(place_).store(word ? segment_.offset(word) : watches_anything, std::memory_order_relaxed);
    rank_state_.asleep.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t const before = segment_.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (before & SegmentHeader::fenced) std::atomic_thread_fence(std::memory_order_seq_cst);
    else fence(shared_core);
    if (shared_core && !always_fences_)
        segment_.header().fences_until.store(now_ns() + fences_last_ns, std::memory_order_relaxed);
    return now;
}

/// By membarrier; on a shared core this is also what switches the fences of writers on.
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
    if (rank_state_.asleep.fetch_sub(1, std::memory_order_relaxed) == 1)
        segment_.watched(place_).store(watches_nothing, std::memory_order_relaxed);
}

void Sleepers::sleep(std::uint32_t ticket, long longest_ns) {
    std::int64_t const before = now_ns();
    futex_wait(rank_state_.wake, ticket, longest_ns);
    rank_state_.times.sleeps.add(1);
    rank_state_.times.slept.add(static_cast<std::uint64_t>(now_ns() - before));
}

bool Sleepers::any_after_fence() {
    std::atomic<std::uint32_t> const& sleepers = segment_.header().sleepers;
    // Acquire: what those counted have written before belongs to what is read of them next.
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
    futex_wake(rank_state.wake, everybody);
    rank_state_.times.wakes.add(1);
    return 1;
}

unsigned Sleepers::wake_one(unsigned place) { return any_after_fence() ? wake(place) : 0; }

unsigned Sleepers::wake_all() {
    unsigned woken = 0;
    if (!any_after_fence()) return woken;
    for (unsigned r = 0; r < segment_.ranks(); ++r)
        if (segment_.watched(r).load(std::memory_order_relaxed) != watches_nothing) woken += wake(r);
    return woken;
}

// Eight ranks on a line: a look at all of a thousand costs less than to wake one.
unsigned Sleepers::wake_watchers(std::atomic<std::uint64_t> const& word) {
    unsigned woken = 0;
    if (!any_after_fence()) return woken;
    std::uint64_t const here = segment_.offset(&word);
    for (unsigned r = 0; r < segment_.ranks(); ++r) {
        std::uint64_t const watched = segment_.watched(r).load(std::memory_order_relaxed);
        if (watched == here || watched == watches_anything) woken += wake(r);
    }
    return woken;
}

}   // namespace tutti
