// SPDX-License-Identifier: BSD-3-Clause
// Team<Env>: some ranks of an environment as an environment of their own, in which any algorithm of messages runs, such
// as an ordinary collective among the ranks of a node. Algorithms of several teams run one after the other in one
// operation: each in a phase (Environment::begin_phase), which all ranks of the operation begin. PhaseClock measures
// how long a rank is in phases inside nodes and between them.
#pragma once

#include "coll/env/env.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::coll {

class NetEnv;

/// A team within one node. Everything goes to the environment of all ranks, under their numbers there.
template <class Env>
class TeamEnv {
public:
    /// `members`: ranks of `whole`, this one among them; members[i] is rank i of the team. `whole` must stay valid as
    /// long as the team.
    TeamEnv(Env& whole, PooledVector<int> members)
        : whole_(whole), members_(std::move(members)),
          rank_(static_cast<int>(std::ranges::find(members_, whole.rank()) - members_.begin())) {}

    int rank() const { return rank_; }
    int size() const { return static_cast<int>(members_.size()); }
    FramePool& frames() { return whole_.frames(); }
    bool never_suspends() const requires requires(Env const& env) { env.never_suspends(); }
    { return whole_.never_suspends(); }
    int world_rank(int peer) const { return whole_.world_rank(at(peer)); }
    int reported_rank(int peer) const { return whole_.reported_rank(at(peer)); }

    void sent(int peer, std::uint64_t step) { whole_.sent(at(peer), step); }
    auto until_sent(int peer, std::uint64_t step) { return whole_.until_sent(at(peer), step); }
    void consumed(int peer, std::uint64_t step) { whole_.consumed(at(peer), step); }
    auto until_consumed(int peer, std::uint64_t step) { return whole_.until_consumed(at(peer), step); }
    std::uint64_t consumed_by(int peer) const { return whole_.consumed_by(at(peer)); }

    AccessPath access_path(void const* address, std::size_t bytes) const { return whole_.access_path(address, bytes); }
    std::byte* reach(int peer, std::uint64_t address, std::size_t bytes) {
        return whole_.reach(at(peer), address, bytes);
    }
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        return whole_.fetch(at(peer), address, to, bytes);
    }
    std::size_t staging_bytes() const { return whole_.staging_bytes(); }
    void reserve_staging(std::size_t bytes) { whole_.reserve_staging(bytes); }
    void add_staging() { whole_.add_staging(); }
    std::byte* staging() { return whole_.staging(); }
    std::byte* staging(int peer) { return whole_.staging(at(peer)); }
    std::byte* staging_of(int peer) { return whole_.staging_of(at(peer)); }
    StagingMemory more_staging(std::size_t bytes) { return whole_.more_staging(bytes); }
    std::byte* shared_memory(std::uint64_t offset) { return whole_.shared_memory(offset); }
    Exposure const& exposure(int peer) const { return whole_.exposure(at(peer)); }

    Traffic& traffic() { return whole_.traffic(); }
    void count(std::size_t loaded, std::size_t stored) { whole_.count(loaded, stored); }
    void count_message(int peer) { whole_.count_message(at(peer)); }
    void copy(void* to, void const* from, std::size_t bytes, std::size_t working_set) {
        whole_.copy(to, from, bytes, working_set);
    }
    void load(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        whole_.load(to, from, position, bytes);
    }
    void stage(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        whole_.stage(to, from, position, bytes);
    }
    void store(Buffer const& to, std::size_t position, void const* from, std::size_t bytes) {
        whole_.store(to, position, from, bytes);
    }

private:
    int at(int peer) const { return members_[static_cast<std::size_t>(peer)]; }

    Env& whole_;
    PooledVector<int> const members_;
    int const rank_;
};

template <class Env>
struct TeamOf {
    using type = TeamEnv<Env>;
};
template <>
struct TeamOf<NetEnv> {
    using type = NetEnv;   // which has a constructor for teams
};
template <class Env>
using Team = typename TeamOf<Env>::type;

/// Adds the time since the last call, or since its construction, to that of a phase, if call statistics are enabled:
/// that on the node before the masters communicate, that among the masters, or that on the node afterwards. The time of
/// a nonblocking operation includes that of the program between its calls. Pipelines along one tree have no phases: a
/// master forwards a segment on its node while the next one arrives, so its time cannot be divided among them.
template <class Env>
class PhaseClock {
public:
    explicit PhaseClock(Env& env) : traffic_(env.traffic()), since_(env.times_phases() ? now_ns() : 0) {}

    void end_before() { add(traffic_.inside_before); }
    void end_between() { add(traffic_.between_nodes); }
    void end_after() { add(traffic_.inside_after); }

private:
    void add(Counter& counter) {
        if (since_ == 0) return;
        std::int64_t const now = now_ns();
        counter.add(static_cast<std::uint64_t>(now - since_));
        since_ = now;
    }

    Traffic& traffic_;
    std::int64_t since_;   ///< 0: nothing is measured
};

/// Returns the ranks of a node, for Team.
inline PooledVector<int> ranks_of_node(FramePool& frames, Partition const& nodes, int node) {
    return {nodes.members(node).begin(), nodes.members(node).end(), Pooled<int>(frames)};
}

}   // namespace tutti::coll
