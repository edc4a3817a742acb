// SPDX-License-Identifier: BSD-3-Clause
// The sleeping ranks of a node, and how they are woken.
//
// No wake-up is lost, argument: the sleeper (1) publishes what it waits for (Segment::wait_target) and counts itself in
// header.sleepers, (2) runs membarrier, (3) checks its condition once more, (4) sleeps while `rank_state.wake` is
// unchanged since before (1). A writer (a) stores its flag, (b) reads header.sleepers and then the ranks' words.
// membarrier acts as if each running thread of a registered process were interrupted at some point P of its program
// and ran a full fence there; a thread that is not running passed a fence when it left its core. If (a) precedes P,
// the sleeper sees the flag in (3). If (a) follows P, so does (b), which therefore sees what was stored in (1), and
// the writer wakes the sleeper. The only requirement on the writer is that (a) precedes (b) in its program. A release
// store and a relaxed load of another object do not guarantee that against the compiler; the signal fence between
// them does, because it orders what an interruption of the thread may see, and P is such an interruption. So writers
// pay no fence. Where membarrier is not available, fences are always on.
//
// Where cores are shared, ranks sleep all the time, and membarrier, which interrupts the other cores, costs more than
// a fence at every store. Then the bit `fencing` in header.sleepers is set: a writer that reads anything but 0 runs a
// fence and reads again, and the sleeper runs a fence in place of (2). Where ranks outnumber cores, each rank sets
// `fencing` and `fenced` permanently before it stores or sleeps. Elsewhere a rank that goes to sleep on a shared core
// switches fences on: it sets `fencing`, runs membarrier, and sets `fenced`. A sleeper relies on the fences of
// writers only if its own count (1) found `fenced`: then every store after the membarrier is followed by a read of
// header.sleepers that finds `fencing`, or a later value. Fences are switched off when no rank has slept on a shared
// core for a while, by one exchange that clears both bits, and only if both are set. So the rank that set `fencing`
// is the only one that sets `fenced` after it, and a writer that reads 0 has read a value from after that exchange
// and after the last sleeper that relied on fences had removed its count.
//
// Which ranks are woken: where hundreds sleep, a store must neither wake all of them nor search all of them. A
// sleeper that waits for one word of the segment names it in (1); a store to that word wakes it, and a store to
// another word does not. It names `anything` when it waits for more than a word, has other threads, or has operations
// in progress that advance by stores of other ranks. A message wakes its destination rank, whatever that waits for. A
// store that may concern any rank wakes all. For the search there are sets of ranks (Segment::sleeper_set): all that
// sleep, those that sleep for anything, and 64 of those that sleep for a word, by its address. A rank enters its sets
// in (1) and leaves them when it has removed its count.
//
// Where a rank sleeps: at the futex `rank_state.wake`, or, if messages of other nodes may wake it, in poll(2) at
// their sockets and its bell (runtime/wait/bell.hpp). (4) then reads `wake` once more before it polls: a change
// before that ends the sleep, and a writer that changes it later rings the bell, which stays readable until it is
// drained. Only the thread that polls for its rank drains it, with the rank's lock held, and checks all conditions
// after that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/memory/segment.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti {

/// One rank's view of the sleeping ranks of its node, including itself. Thread-safe.
class Sleepers {
public:
    /// The segment must stay valid as long as this object.
    Sleepers(Segment const& segment, unsigned local_rank);

    /// Returns true if any rank may sleep. Must be called after a store that other ranks may wait for. If it
    /// returns false, as it usually does, nothing else is needed.
    bool has_sleepers() const {
        std::atomic_signal_fence(std::memory_order_seq_cst);   // the store precedes the load: see above
        return segment_.header().sleepers.load(std::memory_order_relaxed) != 0;
    }
    /// Call one of the following if has_sleepers() is true. Each returns the number of ranks that were woken.
    unsigned wake_all_ranks();
    /// Wakes the ranks that sleep for `word`, which must be in the segment, or for anything.
    unsigned wake_waiters(std::atomic<std::uint64_t> const& word);
    /// Wakes this rank, whatever it waits for.
    unsigned wake_rank(unsigned local_rank);
    /// Declares that the caller's own rank has several threads. They are not woken by this class from then on (Waiter
    /// does that).
    void exclude_own_threads() { excludes_own_threads_ = true; }
    /// Wakes all threads of the own rank that sleep here.
    void wake_this_rank();

    /// Steps (1) and (2). `word`: the only word of the segment that the rank waits for; null: anything.
    /// `shared_core`: see above. Returns the ticket for sleep().
    std::uint32_t add(std::atomic<std::uint64_t> const* word, bool shared_core);
    /// Step (4): sleeps until the rank is woken, at most `max_ns`. `event`: an eventfd by which another thread of
    /// the rank wakes this one from poll(2); −1: none.
    void sleep(std::uint32_t ticket, long max_ns, int event = -1);
    /// Returns the ticket for another sleep under the same mark. Must be read before the condition is checked.
    std::uint32_t ticket() const { return rank_state_.wake.load(std::memory_order_acquire); }
    /// Undoes add().
    void remove();

    /// From now on the rank's sleeps also end when `descriptor` becomes readable; a rank without a bell then sleeps
    /// for at most 1 ms at a time.
    void set_poll_descriptor(int descriptor);
    bool has_bell() const { return bell_ != nullptr; }
    /// Must be called after a sleep by the thread that checks all conditions next.
    void drain_bell() {
        if (bell_) bell_->drain();
    }

private:
    using Set = std::span<std::atomic<std::uint64_t>>;
    Set all_sleepers() const { return segment_.sleeper_set(0); }
    Set any_event_sleepers() const { return segment_.sleeper_set(1); }
    Set word_sleepers(std::uint64_t offset) const;
    void insert(Set set);
    void erase(Set set);
    template <class Matches>
    unsigned wake_matching(Set set, Matches&& matches);
    void poll(std::uint32_t ticket, long max_ns, int event);
    bool has_sleepers_after_fence();
    void fence(bool shared_core);
    void disable_fences();
    unsigned wake(unsigned local_rank);

    Segment const& segment_;
    unsigned const local_rank_;
    RankState& rank_state_;
    bool excludes_own_threads_ = false;
    bool const always_fences_;
    Counter fences_;               ///< fences that this rank has run for its stores
    int descriptor_ = -1;          ///< readable when messages of other nodes arrive
    std::unique_ptr<Bell> bell_;   ///< null: the rank sleeps at the futex
};

}   // namespace tutti
