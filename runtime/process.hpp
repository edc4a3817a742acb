// SPDX-License-Identifier: BSD-3-Clause
// The state of one rank: everything that other libraries keep in globals. A program has one; the tests run many
// in the threads of one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/job/watcher.hpp"
#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/measured_copier.hpp"
#include "runtime/memory/arena/arena.hpp"
#include "runtime/memory/heap.hpp"
#include "runtime/memory/placement/placement.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/settings/cluster.hpp"
#include "runtime/settings/variables.hpp"
#include "runtime/trace/tracer.hpp"
#include "runtime/wait/task.hpp"
#include "runtime/wait/wait.hpp"
#include "topo/machine/machine.hpp"

namespace tutti {

class Process {
public:
    /// `place`: index of the rank state in `segment`, which must outlive the process. The cluster is that of the
    /// segment unless given. Waits for nobody.
    Process(Segment& segment, unsigned place, Variables variables, std::optional<Cluster> cluster = {});
    ~Process();
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;

    int rank() const { return rank_; }            ///< in the world
    int size() const { return cluster.size(); }   ///< of the world
    unsigned place() const { return place_; }     ///< among the ranks of this node: index of its state
    RankState& rank_state() { return rank_state_; }

    /// A context id that no other communicator of this job ever gets: this rank's number and a count.
    std::uint64_t fresh_context() { return (static_cast<std::uint64_t>(rank_ + 1) << 32) | next_context_++; }

    /// Tells the user, on standard error, unless TUTTI_QUIET is set. `sentence` is without its full stop; one rank of
    /// those that know the same should say it.
    void warn(std::string const& sentence) const;

    /// Starts the rank's progress thread. Where the system starts none (ulimit -u, the pids limit of a control group,
    /// no memory for its stack) returns false, and the rank makes progress in its calls alone; the first such rank of
    /// the node warns.
    bool start_progress_thread();

    Segment& segment;
    Variables const variables;
    Cluster const cluster;            ///< who is where
    Home home;                        ///< on which NUMA node this rank's memory lies
    RankLock lock;                    ///< closed off unless several threads may call
    bool many_threads = false;        ///< of the program (MPI_THREAD_MULTIPLE)
    bool supervised = false;          ///< a launcher of ours looks at what this rank has found (RankState::finding)
    bool has_warned = false;          ///< of a mistake of the program, which was not printed by the rank itself
    void const*& call_site;           ///< where the program goes on after its last MPI call,
    char const*& call_name;           ///< and which one that is (RankState::last_call)
    std::unique_ptr<Tracer> tracer;   ///< null: nothing is traced
    Waiter waiter;
    topo::NodeMap const node;   ///< as the launcher described it; without ranks when nobody did
    Copier const copier;
    MeasuredCopier window_copier;   ///< to and from peers' windows
    SingleCopy single_copy;
    SegmentHeap heap;                                  ///< this rank's part of the segment
    arena::Arena* arena = nullptr;                     ///< from which it allocates what is to be shared; null: none
    FramePool frames;                                  ///< for coroutines
    std::unique_ptr<Extension> p2p;                    ///< the point-to-point engine, made by p2p::start
    Ref<Comm> world, self;                             ///< made by coll::start
    std::unique_ptr<Extension> collectives;            ///< what coll/ keeps per process
    std::unique_ptr<Extension> one_sided;              ///< what rma/ keeps per process; null: nothing
    std::unique_ptr<ProgressThread> progress_thread;   ///< null: none
    std::unique_ptr<Watcher> watcher;                  ///< null: mpiexec watches, or nobody
    std::unique_ptr<Balance> balance;                  ///< null: this rank moves to no other core by itself
    void (*threads_begin)(Process&) = nullptr;         ///< from now on the lock is open; null: nobody needs to know
    void (*end_job)(int code, std::string const& sentence) = nullptr;   ///< does not return; null: nobody can

private:
    unsigned const place_;
    int const rank_;
    RankState& rank_state_;
    std::uint32_t next_context_ = 1;
};

}   // namespace tutti
