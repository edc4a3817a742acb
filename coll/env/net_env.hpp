// SPDX-License-Identifier: BSD-3-Clause
// The environment between nodes: one operation of a communicator over several nodes. Its ranks have no memory in common
// beyond their nodes, so an algorithm has messages (coll/blocks/messages/messages.hpp), whose other side may be
// anywhere, and the collectives of its node over shared memory (coll/env/on_node.hpp). As in ShmEnv, a coroutine that a
// blocking call runs waits inside its awaiters, and one that was given a Suspension suspends.
//
// Numbers: members number their operations in the same order; the number is the tag of all messages of the operation,
// so operations under way do not meet, and messages of one pair keep their order. What goes over a node's memory has
// numbers of the node's own sequence, taken when the operation is numbered: an algorithm says beforehand how many it
// needs.
#pragma once

#include <atomic>
#include <exception>

#include "coll/env/group_layout.hpp"
#include "coll/env/shm_env.hpp"
#include "p2p/engine.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// The numbers of one operation.
struct Numbers {
    std::uint64_t operation;
    std::uint64_t node_first = 0, node_count = 0;   ///< in the sequence of the node's part
};

/// A message on its way, until `over` is 1. Stays where it is until then.
struct Outgoing : p2p::Send, InPool {
    std::atomic<std::uint64_t> over{0};
    PooledBytes packed;   ///< what has no place of its own
    int to = -1;
};
struct Incoming : p2p::Receive {
    std::atomic<std::uint64_t> over{0};
    Traffic* traffic = nullptr;   ///< where it is counted
    PooledBytes packed;
};

/// Between nodes not everybody can be told that an operation cannot go on: where memory is what is missing, ends the
/// job. Returns where nobody can end one.
void fail_between_nodes(Comm const& comm, char const* operation, std::exception_ptr const& error);

class NetEnv {
public:
    /// All of the communicator's union group. `suspension`, `frames` as in ShmMemory.
    NetEnv(Comm const& comm, Trees const& trees, char const* operation, Numbers numbers,
           Suspension* suspension = nullptr, FramePool* frames = nullptr);
    /// Some of its ranks, this one among them, in the same operation: `members[i]` is the team's rank i. `trees` has as
    /// many. The whole must outlive the team.
    NetEnv(NetEnv& whole, PooledVector<int> members, Trees const& trees);
    NetEnv(NetEnv const&) = delete;
    NetEnv& operator=(NetEnv const&) = delete;

    /// The next operation of the same kind, for what is done again and again.
    void restart(Numbers numbers) { numbers_ = numbers; }

    int rank() const { return rank_; }
    int size() const { return members_.empty() ? comm_.union_group->size() : static_cast<int>(members_.size()); }
    bool crowded() const { return comm_.process.segment.header().crowded(); }
    topo::Hierarchy const& hierarchy() const { return trees_.hierarchy; }
    topo::Hierarchy const& one_team() const { return trees_.one_team; }
    FramePool& frames() { return frames_; }
    /// For what may outlive the operation.
    FramePool& frames_of_process() { return comm_.process.frames; }

    Comm const& comm() const { return comm_; }
    int world_rank(int peer) const { return comm_.union_group->world_rank(union_group(peer)); }
    /// As Comm::reported_rank, of a rank of this environment.
    int reported_rank(int peer) const { return comm_.reported_rank(union_group(peer)); }
    MultiNode const& multi_node() const;
    Division const& map() const { return multi_node().map; }
    char const* operation() const { return operation_; }
    Suspension* suspension() const { return suspension_; }

    // --- Messages ----------------------------------------------------------------------------------------------------
    /// Begins a message of what `op.data` says to a rank of this environment.
    void begin(Outgoing& op, int to);
    void begin(Incoming& op, int from);
    /// Forgets a message that nobody waits for any more.
    void abandon(Incoming& op);

    struct Awaiter {
        NetEnv& env;
        std::atomic<std::uint64_t> const& word;
        std::uint64_t value;
        int peer;   ///< of the union group
        int from;   ///< where to look first, as Cluster::peer_of names it; −1: anywhere
        bool await_ready() const {
            return has_come(word.load(std::memory_order_acquire), value) || env.waited(word, value, peer, from);
        }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            *env.suspension_ = {h, &word, value, peer, &env.comm_};
        }
        void await_resume() const noexcept {}
    };
    Awaiter over(Outgoing const& op) { return {*this, op.over, 1, union_group(op.to), -1}; }
    Awaiter over(Incoming const& op, int from) { return {*this, op.over, 1, union_group(from), peer_of(from)}; }
    /// A word in this node's memory.
    Awaiter until(std::atomic<std::uint64_t> const& word, std::uint64_t value, int union_rank) {
        return {*this, word, value, union_rank, -1};
    }

    // --- The node ----------------------------------------------------------------------------------------------------
    /// The next of this operation's numbers in the sequence of the node's part.
    std::uint64_t next_on_node();
    std::uint64_t left_on_node() const;

    // --- This rank's own memory, as in Environment -------------------------------------------------------------------
    std::size_t staging_bytes() const { return 16 * comm_.process.variables.staging; }
    Traffic& traffic() { return traffic_; }
    void count(std::size_t loaded, std::size_t stored) {
        traffic_.loaded.add(loaded);
        traffic_.stored.add(stored);
    }
    /// A message of so many bytes goes to a rank of this environment, from where they lie. Its receiver stores them.
    void count_message(int peer, std::size_t bytes);
    void copy(void* to, void const* from, std::size_t bytes, std::size_t working_set) {
        count(bytes, bytes);
        comm_.process.copier.copy(to, from, bytes, working_set);
    }
    bool streams(std::size_t working_set) const { return comm_.process.copier.streams(working_set); }
    bool outgrows_core(std::size_t bytes) const { return comm_.process.copier.outgrows_core(bytes); }
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
    int union_group(int rank) const { return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)]; }
    int peer_of(int rank) const {
        return comm_.process.cluster.peer_of(comm_.union_group->world_rank(union_group(rank)));
    }
    p2p::Key key(int source) const;
    /// Waits, unless the operation suspends: then it is false.
    bool waited(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer, int from) const;

    Comm const& comm_;
    Trees const& trees_;
    char const* const operation_;
    Traffic& traffic_;
    Suspension* const suspension_;
    FramePool& frames_;
    NetEnv* const whole_;   ///< of a team
    Numbers numbers_;
    PooledVector<int> members_;   ///< of a team; empty: everybody
    int rank_;
};

}   // namespace tutti::coll
