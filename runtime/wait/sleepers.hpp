// SPDX-License-Identifier: BSD-3-Clause
// Sleeping ranks of a node, and waking them.
//
// No wake-up is lost, argued: the sleeper (1) says what it waits for (Segment::watched) and counts itself in
// header.sleepers, (2) runs membarrier, (3) checks its condition once more, (4) sleeps while `rank_state.wake` is
// unchanged since before (1). A writer (a) stores its flag, (b) reads header.sleepers and then the ranks' words.
// membarrier acts as if each running thread of a registered process were interrupted at some point P of its program
// and ran a full fence there; a thread that does not run passed one when it left its core. If (a) lies before P, the
// sleeper sees the flag in (3). If (a) lies behind P, so does (b), which therefore sees what was stored in (1), and the
// writer wakes it. All this needs of the writer is that (a) stands before (b) in its program. A release store and a
// relaxed load of another object do not say that to the compiler; the signal fence between them does, for it orders
// what an interruption of the thread may see, and P is such an interruption. So writers pay no fence. Where membarrier
// is missing, fences are always on.
//
// Where cores are shared, ranks sleep all the time, and membarrier, which interrupts the other cores, costs more than a
// fence at every store. Then the bit `fencing` in header.sleepers is set: a writer that reads anything but 0 runs a
// fence and reads again, and the sleeper runs a fence in place of (2). Where ranks outnumber cores, each rank sets
// `fencing` and `fenced` before it stores or sleeps, for good. Elsewhere a rank that goes to sleep on a shared core
// switches fences on: it sets `fencing`, runs membarrier, and sets `fenced`. A sleeper relies on the fences of writers
// only if its own count (1) found `fenced`: then every store after the membarrier is followed by a read of
// header.sleepers that finds `fencing`, or a later value. Fences are switched off when no rank has slept on a shared
// core for a while, by one exchange that clears both bits, and only if both are set. So the rank that set `fencing` is
// the only one that sets `fenced` after it, and a writer that reads 0 has read a value from after that exchange and
// after the last sleeper that relied on fences had removed its count.
//
// Which ranks are woken: where hundreds sleep, a store must neither wake them all nor search among them all. A sleeper
// that waits for one word of the segment names it in (1); a store to that word wakes it, and a store to another one
// does not. It names `anything` when it waits for more than a word, has other threads, or has operations under way that
// words of others move on. A message wakes the rank that it is for, whatever that waits for. A store that may concern
// any rank wakes all. For the search there are sets of ranks (Segment::sleeper_set): all that sleep, those that sleep
// for anything, and 64 of those that sleep for a word, by its address. A rank enters its sets in (1) and leaves them
// when it has removed its count.
//
// Where a rank sleeps: at the futex `rank_state.wake`, or, if messages of other nodes may wake it, in poll(2) at their
// sockets and its bell (runtime/wait/bell.hpp). (4) then reads `wake` once more before it polls: a change before that
// ends the sleep, and a writer that changes it later rings the bell, which stays until it is silenced. Only the thread
// that polls for its rank silences it, inside the rank's lock, and checks all conditions after that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/memory/segment.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti {

/// One rank's view of the sleeping ranks of its node, itself included. Thread-safe.
class Sleepers {
public:
    /// The segment outlives it.
    Sleepers(Segment const& segment, unsigned place);

    /// After a store that other ranks may wait for: may any rank sleep? Usually false, and then nothing else is to do.
    bool any() const {
        std::atomic_signal_fence(std::memory_order_seq_cst);   // see above: the store stands before the load
        return segment_.header().sleepers.load(std::memory_order_relaxed) != 0;
    }
    /// The rest of it, once any() is true. Each returns the number of ranks that were woken.
    unsigned wake_all();
    /// The ranks that sleep for that word of the segment, or for anything.
    unsigned wake_watchers(std::atomic<std::uint64_t> const& word);
    /// That rank, whatever it waits for.
    unsigned wake_one(unsigned place);
    /// The caller's own rank has several threads, which are not woken here (Waiter does it).
    void leave_own_threads_alone() { own_threads_ = true; }
    /// All threads of the own rank that sleep here.
    void wake_own();

    /// (1) and (2). `word`: in the segment, the only one that the rank waits for; null: anything. `shared_core`: see
    /// above. Returns what to give to sleep().
    std::uint32_t add(std::atomic<std::uint64_t> const* word, bool shared_core);
    /// (4): until the rank is woken, or so long. `event`: an eventfd by which another thread of the rank wakes this one
    /// where it sleeps in poll(2); −1: none does.
    void sleep(std::uint32_t ticket, long longest_ns, int event = -1);
    /// The ticket for another sleep under the same mark, read before the condition is checked.
    std::uint32_t ticket() const { return rank_state_.wake.load(std::memory_order_acquire); }
    void remove();

    /// From now on the rank sleeps until `descriptor` is readable, too; where it has no bell, for at most 1 ms.
    void watch(int descriptor);
    bool has_bell() const { return bell_ != nullptr; }
    /// After a sleep, by the thread that checks all conditions next.
    void silence_bell() {
        if (bell_) bell_->silence();
    }

private:
    using Set = std::span<std::atomic<std::uint64_t>>;
    Set all() const { return segment_.sleeper_set(0); }
    Set for_anything() const { return segment_.sleeper_set(1); }
    Set for_word(std::uint64_t offset) const;
    void enter(Set set);
    void leave(Set set);
    template <class Applies>
    unsigned wake_those_in(Set set, Applies&& applies);
    void poll(std::uint32_t ticket, long longest_ns, int event);
    bool any_after_fence();
    void fence(bool shared_core);
    void stop_fences();
    unsigned wake(unsigned place);

    Segment const& segment_;
    unsigned const place_;
    RankState& rank_state_;
    bool own_threads_ = false;
    bool const always_fences_;
    Counter fences_;               ///< that this rank has run for its stores
    int descriptor_ = -1;          ///< of what messages of other nodes come by
    std::unique_ptr<Bell> bell_;   ///< null: it sleeps at the futex
};

}   // namespace tutti
