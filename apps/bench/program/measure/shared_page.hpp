// SPDX-License-Identifier: BSD-3-Clause
// Flags and a barrier of the benchmark's own, over memory that all ranks of the node share: the same under every MPI,
// and the ranks leave it much closer together in time than a barrier that is itself being measured: those that arrive
// earlier than the last one leave a line's way later than that one.
// Each rank writes only its own line; lines count up, by the same number of arrivals on every rank. Whoever sees a
// rank's arrival sees all that the rank wrote before it. Needs all ranks on one node.
#pragma once

#include "shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <sched.h>

namespace bench {

// Until `ready`. On a core of its own it looks again at once, since a pause takes as long as a line's way between two
// cores, and gives the core away only after a long while; on a `crowded` one at each turn.
template <class Ready>
inline void poll(bool crowded, Ready ready)
{
    for (int polls = 0; !ready(); ++polls)
        if (crowded || polls > 1000)
            sched_yield();
}

class SharedPage {
public:
    explicit SharedPage(MPI_Comm comm); // collective

    // One step on: what this rank has written so far may be looked at.
    void arrive() { lines_[rank_].arrived.store(++count_, std::memory_order_release); }
    // Until `rank` has arrived as often as this rank.
    void await(int rank) const
    {
        poll(crowded_, [&] { return lines_[rank].arrived.load(std::memory_order_acquire) >= count_; });
    }
    void await_all() const
    {
        for (int rank = 0; rank < ranks_; ++rank)
            await(rank);
    }
    void barrier()
    {
        arrive();
        await_all();
    }
    // The same, while this rank does again and again what the others may need of it: so it keeps its core.
    template <class Help>
    void barrier_helping(Help help)
    {
        arrive();
        for (int rank = 0; rank < ranks_; ++rank)
            for (; lines_[rank].arrived.load(std::memory_order_acquire) < count_; help())
                if (crowded_)
                    sched_yield();
    }
    // A barrier at which each rank says what time it is; until the next one, the latest of these times is known to all.
    void barrier(double now)
    {
        lines_[rank_].time.store(now, std::memory_order_relaxed);
        barrier();
    }
    double last_arrival() const
    {
        double last = 0;
        for (int rank = 0; rank < ranks_; ++rank)
            last = std::max(last, lines_[rank].time.load(std::memory_order_relaxed));
        return last;
    }
    int ranks() const { return ranks_; }
    // What rank 0 says before a barrier is what all ranks read after it.
    void say(bool word) { lines_[0].word.store(word, std::memory_order_relaxed); }
    bool crowded() const { return crowded_; } // more ranks than cores
    bool heard() const { return lines_[0].word.load(std::memory_order_relaxed); }

private:
    struct alignas(128) Line {
        std::atomic<long> arrived;
        std::atomic<bool> word;
        std::atomic<double> time;
    };

    int rank_, ranks_;
    bool crowded_;
    SharedMemory memory_;
    Line *lines_;
    long count_ = 0;
};

} // namespace bench
