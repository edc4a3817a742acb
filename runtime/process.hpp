// SPDX-License-Identifier: BSD-3-Clause
// The state of one rank, which other libraries keep in globals. A program has one Process; tests run many as threads
// of one operating-system process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/job/watchdog.hpp"
#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/measured_copier.hpp"
#include "runtime/memory/arena/arena.hpp"
#include "runtime/memory/heap.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/settings/cluster.hpp"
#include "runtime/settings/variables.hpp"
#include "runtime/state/tracer.hpp"
#include "runtime/wait/task.hpp"
#include "runtime/wait/wait.hpp"
#include "topo/binding.hpp"
#include "topo/machine.hpp"

namespace tutti {

class Process {
public:
    /// `local_rank` is the index of the rank state in `segment`, which must stay valid as long as the process. The
    /// cluster is read from the segment unless given. Does not wait for other ranks.
    Process(Segment& segment, unsigned local_rank, Variables variables, std::optional<Cluster> cluster = {});
    ~Process();
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;

    int rank() const { return rank_; }                    ///< in MPI_COMM_WORLD
    int size() const { return cluster.size(); }           ///< of MPI_COMM_WORLD
    unsigned local_rank() const { return local_rank_; }   ///< index among the ranks of this node
    RankState& rank_state() { return rank_state_; }

    /// Returns a context id that is unique in the job: this rank's number and a counter.
    std::uint64_t new_context_id() { return (static_cast<std::uint64_t>(rank_ + 1) << 32) | next_context_++; }

    /// Prints `message`, given without its full stop, on standard error unless TUTTI_QUIET is set. If several ranks
    /// know the same fact, only one of them should call this.
    void warn(std::string const& message) const;

    /// Starts the rank's progress thread. Returns false if the system refuses one (ulimit -u, the pids limit of a
    /// control group, no memory for its stack); the rank then makes progress only inside MPI calls, and the first
    /// such rank of the node warns the user.
    bool start_progress_thread();

    Segment& segment;
    Variables const variables;
    Cluster const cluster;            ///< which ranks run on which node
    NumaHome numa_home;               ///< the NUMA node on which this rank's memory lies
    RankLock lock;                    ///< disabled unless several threads may call MPI
    bool thread_multiple = false;     ///< the program's threads may call MPI concurrently (MPI_THREAD_MULTIPLE)
    bool is_supervised = false;       ///< our launcher reads this rank's diagnostics (RankState::diagnostic)
    bool has_warned = false;          ///< has published a warning for the launcher or the watchdog
    void const*& call_site;           ///< return address of the last MPI call,
    Function& call_function;          ///< and its function (both in RankState::last_call)
    std::unique_ptr<Tracer> tracer;   ///< null: tracing is off
    Waiter waiter;
    topo::NodeMap const node;   ///< as described by the launcher; empty if there is no description
    Copier const copier;
    MeasuredCopier window_copier;   ///< for copies to and from peers' windows
    SingleCopy single_copy;
    SegmentHeap heap;                                  ///< this rank's heap in the segment
    arena::Arena* arena = nullptr;                     ///< allocator for memory that is to be shared; null: none
    FramePool frames;                                  ///< coroutine frames
    std::unique_ptr<LayerState> p2p;                   ///< the point-to-point engine, created by p2p::start
    Ref<Comm> world, self;                             ///< created by coll::initialize
    std::unique_ptr<LayerState> collectives;           ///< per-process state of coll/
    std::unique_ptr<LayerState> one_sided;             ///< per-process state of rma/; null: none
    std::unique_ptr<ProgressThread> progress_thread;   ///< null: none
    std::unique_ptr<Watchdog> watchdog;                ///< null: mpiexec supervises the rank, or nothing does
    std::unique_ptr<CoreBalancer> core_balancer;       ///< null: this rank never changes its core by itself
    void (*on_lock_enabled)(Process&) = nullptr;       ///< called when the lock is enabled; null: no callback
    void (*end_job)(int code, std::string const& message) = nullptr;   ///< does not return; null: not available

private:
    unsigned const local_rank_;
    int const rank_;
    RankState& rank_state_;
    std::uint32_t next_context_ = 1;
};

// The hardware that this process is restricted to at the time of the query; its affinity may change while it runs.

/// Derives the restriction from the affinity of the calling thread; on a simulated machine, from the rank's position
/// there. If the affinity contains a processing unit that the launcher did not see (outside its own affinity), only
/// the restriction to the node remains.
topo::Restriction hw_restriction(Process const& process);

}   // namespace tutti
