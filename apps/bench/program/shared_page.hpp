// SPDX-License-Identifier: BSD-3-Clause
// Flags and a barrier of the benchmark's own, in memory that all ranks of the node share. They are the same under
// every MPI, and the ranks leave this barrier much closer together in time than a barrier that is itself being
// measured: those that arrive before the last one leave later than it by one line transfer. All ranks must be on one
// node.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace bench {

/// Memory that all ranks of the node map: a memfd of rank 0 that the others open through /proc. It needs no name in a
/// file system, no /dev/shm, and only a broadcast of 8 bytes from the MPI library, so it is the same under every MPI.
class SharedMemory {
public:
    /// Collective. Maps `bytes` bytes of zeroes. Aborts the job if the ranks cannot share memory.
    SharedMemory(MPI_Comm comm, std::size_t bytes);
    ~SharedMemory();
    SharedMemory(SharedMemory const&) = delete;
    SharedMemory& operator=(SharedMemory const&) = delete;

    void* data() const { return memory_; }

private:
    void* memory_;
    std::size_t bytes_;
};

/// Polls until `ready`. On a core of its own a rank polls without a pause, because a pause takes as long as a line
/// transfer between two cores, and yields its core only after 1000 polls; if `oversubscribed`, it yields
/// after each poll.
template <class Ready>
inline void poll(bool oversubscribed, Ready ready) {
    for (int polls = 0; !ready(); ++polls)
        if (oversubscribed || polls > 1000) sched_yield();
}

/// The flags and the barrier. Each rank writes only its own line. Lines count arrivals, of which every rank has the
/// same number. A rank that sees another rank's arrival (acquire) sees everything that the other rank wrote before
/// it (release).
class SharedPage {
public:
    explicit SharedPage(MPI_Comm comm);   ///< collective

    /// Announces this rank's next step: other ranks may read what it has written so far.
    void arrive() { lines_[rank_].arrived.store(++count_, std::memory_order_release); }
    /// Waits until `rank` has arrived as often as this rank.
    void await(int rank) const {
        poll(oversubscribed_, [&] { return lines_[rank].arrived.load(std::memory_order_acquire) >= count_; });
    }
    void await_all() const {
        for (int rank = 0; rank < ranks_; ++rank) await(rank);
    }
    void barrier() {
        arrive();
        await_all();
    }
    /// A barrier during which this rank calls `progress` repeatedly and therefore keeps its core.
    template <class Progress>
    void barrier_with_progress(Progress progress) {
        arrive();
        for (int rank = 0; rank < ranks_; ++rank)
            for (; lines_[rank].arrived.load(std::memory_order_acquire) < count_; progress())
                if (oversubscribed_) sched_yield();
    }
    /// A barrier at which each rank publishes its time; the latest one can be read (last_arrival) until the next
    /// barrier.
    void barrier(double now) {
        lines_[rank_].time.store(now, std::memory_order_relaxed);
        barrier();
    }
    double last_arrival() const {
        double last = 0;
        for (int rank = 0; rank < ranks_; ++rank)
            last = std::max(last, lines_[rank].time.load(std::memory_order_relaxed));
        return last;
    }
    int ranks() const { return ranks_; }
    /// Publishes a decision of rank 0 before a barrier; decision() returns it after the barrier on all ranks.
    void publish(bool value) { lines_[0].decision.store(value, std::memory_order_relaxed); }
    bool oversubscribed() const { return oversubscribed_; }   ///< more ranks than cores
    bool decision() const { return lines_[0].decision.load(std::memory_order_relaxed); }

private:
    struct alignas(128) Line {
        std::atomic<long> arrived;
        std::atomic<bool> decision;
        std::atomic<double> time;
    };

    int rank_, ranks_;
    bool oversubscribed_;
    SharedMemory memory_;
    Line* lines_;
    long count_ = 0;
};

}   // namespace bench
