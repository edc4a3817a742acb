// SPDX-License-Identifier: BSD-3-Clause
// The environment between nodes: one operation of a communicator that spans several nodes. Its ranks share no memory
// beyond their node, so an algorithm uses messages (coll/blocks/messages.hpp), whose peer may be on any node, and the
// collectives of its own node over shared memory (on_node, below). As in ShmEnv, a coroutine that a blocking call runs
// waits inside its awaiters, and a coroutine that was given a Suspension suspends.
//
// Numbers: members number their operations in the same order. The number is the tag of all messages of the operation,
// so concurrent operations do not interfere, and the messages of a pair keep their order. Collectives within a node
// have numbers of the node communicator's own sequence, allocated when the operation is numbered: an algorithm declares
// in advance how many it needs.
#pragma once

#include <atomic>
#include <exception>

#include "coll/env/group_layout.hpp"
#include "coll/env/shm_env.hpp"
#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// The numbers of one operation.
struct OperationNumbers {
    std::uint64_t operation;
    std::uint64_t node_first = 0, node_count = 0;   ///< in the sequence of the node communicator
};

/// A message in flight, until `completed` is 1. The object must not move until then.
struct Outgoing : p2p::Send, InPool {
    std::atomic<std::uint64_t> completed{0};
    PooledBytes packed;   ///< packed copy of the data if it is not sent from the user's buffer
    int to = -1;          ///< the receiver, a rank of the environment
};
struct Incoming : p2p::Receive {
    std::atomic<std::uint64_t> completed{0};
    Traffic* traffic = nullptr;   ///< where received bytes are counted
    PooledBytes packed;           ///< the packed data if it is not received in place
};

/// Called when an operation between nodes cannot continue. Members on other nodes cannot all be notified, so if memory
/// is exhausted, ends the job. Returns if memory is not the cause, or if no launcher is there to end the job.
void fail_between_nodes(Comm const& comm, char const* operation, std::exception_ptr const& error);

class NetEnv {
public:
    /// Covers the communicator's whole union group. `suspension`, `frames` as in ShmMemory.
    NetEnv(Comm const& comm, Trees const& trees, char const* operation, OperationNumbers numbers,
           Suspension* suspension = nullptr, FramePool* frames = nullptr);
    /// A team: some ranks of `whole`, this one among them, in the same operation; `members[i]` is rank i of the team.
    /// `trees` must have as many ranks; null: the team has no hierarchy. `whole` must stay valid as long as the team.
    NetEnv(NetEnv& whole, PooledVector<int> members, Trees const* trees = nullptr);
    NetEnv(NetEnv& whole, PooledVector<int> members, Trees const& trees) : NetEnv(whole, std::move(members), &trees) {}
    NetEnv(NetEnv const&) = delete;
    NetEnv& operator=(NetEnv const&) = delete;

    /// Continues with the next operation of the same kind; for operations that are repeated.
    void restart(OperationNumbers numbers) { numbers_ = numbers; }

    int rank() const { return rank_; }
    int size() const { return members_.empty() ? comm_.union_group->size() : static_cast<int>(members_.size()); }
    bool oversubscribed() const { return comm_.process.segment.header().oversubscribed(); }
    topo::Hierarchy const& hierarchy() const { return trees_->hierarchy; }
    topo::Hierarchy const& one_team() const { return trees_->one_team; }
    Partition const& nodes() const { return trees_->nodes; }
    Trees const& trees() const { return *trees_; }
    /// As ShmMemory::plans.
    Plans& plans() const;
    /// As in Environment. Has no effect: messages of a pair keep their order.
    void begin_phase() {}
    bool times_phases() const;
    FramePool& frames() { return frames_; }
    /// Returns the pool for objects that may be used after the operation.
    FramePool& process_frames() { return comm_.process.frames; }

    Comm const& comm() const { return comm_; }
    int world_rank(int peer) const { return comm_.union_group->world_rank(union_rank(peer)); }
    /// Like Comm::reported_rank, for a rank of this environment.
    int reported_rank(int peer) const { return comm_.reported_rank(union_rank(peer)); }
    MultiNode const& multi_node() const;
    NodePartition const& partition() const { return multi_node().partition; }
    char const* operation() const { return operation_; }
    Suspension* suspension() const { return suspension_; }

    // --- Messages ----------------------------------------------------------------------------------------------------
    /// Begins to send what `op.data` describes to a rank of this environment, or to receive into it.
    void begin(Outgoing& op, int to);
    void begin(Incoming& op, int from);
    /// Cancels a receive that is no longer awaited.
    void abandon(Incoming& op);

    struct Awaiter {
        NetEnv& env;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;           ///< rank in the union group
        int first_polled;   ///< where to poll first, as Cluster::peer_id numbers it; −1: anywhere
        bool await_ready() const {
            return has_reached(word.load(std::memory_order_acquire), value) ||
                   env.wait_unless_suspending(word, value, peer, first_polled);
        }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *env.suspension_ = {h, &word, value, peer, &env.comm_};
        }
        void await_resume() const noexcept {}
    };
    Awaiter completion(Outgoing const& op) { return {*this, op.completed, 1, union_rank(op.to), -1}; }
    Awaiter completion(Incoming const& op, int from) {
        return {*this, op.completed, 1, union_rank(from), peer_id(from)};
    }
    /// Awaits a word in this node's memory.
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) {
        return {*this, word, value, peer, -1};
    }
    struct AnyAwaiter {
        NetEnv& env;
        Events events;
        int peer;   ///< rank in the union group
        bool await_ready() const { return events.occurred() || env.wait_unless_suspending(events, peer, -1); }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *env.suspension_ = {h, nullptr, 0, peer, &env.comm_, events};
        }
        void await_resume() const noexcept {}
    };
    /// As Environment::until_any; events are completed messages, too.
    AnyAwaiter until_any(Events const& events, int peer) { return {*this, events, union_rank(peer)}; }

    // --- The node ----------------------------------------------------------------------------------------------------
    /// Returns this operation's next number in the sequence of the node communicator.
    std::uint64_t next_node_number();
    /// Returns how many of these numbers have not been used.
    std::uint64_t unused_node_numbers() const;

    // --- This rank's own memory, as in Environment -------------------------------------------------------------------
    std::size_t staging_bytes() const { return 16 * comm_.process.variables.staging; }
    Traffic& traffic() { return traffic_; }
    void count(std::size_t loaded, std::size_t stored) {
        traffic_.loaded.add(loaded);
        traffic_.stored.add(stored);
    }
    /// Counts a message of `bytes` bytes to a rank of this environment as loaded here. The receiver counts them as
    /// stored.
    void count_message(int peer, std::size_t bytes);
    void copy(void* to, void const* from, std::size_t bytes, std::size_t working_set) {
        count(bytes, bytes);
        if (comm_.process.copier.copy(to, from, bytes, working_set)) traffic_.past_cache.add(bytes);
    }
    bool streams(std::size_t working_set) const { return comm_.process.copier.streams(working_set); }
    bool exceeds_private_cache(std::size_t bytes) const { return comm_.process.copier.exceeds_private_cache(bytes); }
    void load(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        from.type->pack(from.address, from.count, position, to, bytes);
    }
    void store(Buffer const& to, std::size_t position, void const* from, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        to.type->unpack(to.address, to.count, position, from, bytes);
    }

private:
    int union_rank(int rank) const { return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)]; }
    int peer_id(int rank) const {
        return comm_.process.cluster.peer_id(comm_.union_group->world_rank(union_rank(rank)));
    }
    p2p::Key key(int source) const;
    /// Waits and returns true, unless the operation suspends: then returns false.
    bool wait_unless_suspending(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer,
                                int first_polled) const;
    bool wait_unless_suspending(Events const& events, int peer, int first_polled) const;

    Comm const& comm_;
    Trees const* trees_;   ///< null: none
    char const* const operation_;
    Traffic& traffic_;
    Suspension* const suspension_;
    FramePool& frames_;
    NetEnv* const whole_env_;   ///< the environment of the whole communicator; null unless this is a team
    OperationNumbers numbers_;
    PooledVector<int> members_;   ///< of a team; empty: all ranks of the communicator
    int rank_;
};

// An operation on the node as a part of an operation over several nodes: it takes the operation's next number in the
// sequence of the node communicator.

/// Takes that number, and returns when the operation may begin on the node (coll/env/area.hpp).
Task begin_on_node(NetEnv& env, std::uint64_t& number);

/// The environment of such an operation, whose channel it holds. Ranks are those of the node communicator.
class NodeEnv {
    ChannelGuard<OperationSequence> const channel_;

public:
    /// `number`: from begin_on_node.
    NodeEnv(NetEnv& env, Trees const& trees, std::uint64_t number);

    ShmEnv shm;
};

// A collective of the node communicator as such an operation. The algorithm is chosen from the same table as for any
// communicator on one node.

template <class Args>
struct Algorithm;   // coll/algorithms/algorithm.hpp

/// Runs `which` over env.multi_node().node. Ranks, roots and parts in `args` are those of the node communicator; its
/// kernels must be set. `algorithm`: runs, with `args.parameters`; it must be able to do the call and have no
/// buffer_requirements. Null: the one that is chosen for the call runs.
template <class Args>
Task on_node(NetEnv& env, Collective which, Args args, Algorithm<Args> const* algorithm = nullptr);

/// Like on_node above, for operations in which other nodes wait for this rank even if it fails locally: stores the
/// error in `error` instead of throwing it.
template <class Args>
Task on_node(NetEnv& env, Collective which, Args args, std::exception_ptr& error) {
    try {
        co_await on_node(env, which, args);
    } catch (Error const&) { error = std::current_exception(); }
}

/// Skips the numbers on the node that the operation did not use.
Task skip_unused_node_numbers(NetEnv& env);

}   // namespace tutti::coll
