// SPDX-License-Identifier: BSD-3-Clause
// Alltoall between nodes: masters (small equal parts) and paced (all forms). See also between_nodes_relayed.cpp.
//
// masters: the parts of each node for other nodes are gathered at its master, the masters exchange one message per pair
// of nodes, and each master scatters what it received; meanwhile, parts within a node are copied through its shared
// memory. One step between N nodes, in which each node sends N − 1 messages instead of c·(p − c) with c ranks on it. If
// a node has no memory for all bytes at the same time, this is repeated for slices of the parts. Each part is copied
// four times more than if its rank sent it.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/relay.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// The slices of each part, which has the same size at all ranks.
Segments slices_of(AlltoallArgs const& a, NodePartition const& map) {
    constexpr std::size_t tables = 6;   // at the senders, two at each of both masters, at the receivers
    std::size_t others = 0;
    for (int n = 0; n < map.count(); ++n) others += static_cast<std::size_t>(map.size(n));
    others -= static_cast<std::size_t>(map.smallest());
    std::size_t const pieces = tables * static_cast<std::size_t>(map.largest()) * others;
    Segments slices(outgoing(a, 0).bytes(), 1, bytes_per_piece(a.parameters[0], pieces));
    slices.count = std::max<std::uint64_t>(1, slices.count);   // parts within nodes are exchanged with the first
    return slices;
}

/// The state of one rank. A rank's bytes for other nodes are one record, node after node; so are those that it
/// receives.
class MasterAlltoall {
public:
    MasterAlltoall(NetEnv& env, AlltoallArgs const& a)
        : env_(env), a_(a), map_(env.partition()), slices_(slices_of(a, env.partition())), messages_(env),
          remote_ranks_(env.frames()), out_(env.frames()), in_(env.frames()), arriving_(env.frames()) {
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.own_part())
                remote_ranks_.insert(remote_ranks_.end(), map_.members(n).begin(), map_.members(n).end());
        local_ranks_ = map_.members();
    }
    FramePool& frames() { return env_.frames(); }
    bool master() const { return env_.rank() == local_ranks_.front(); }

    Task run() {
        std::exception_ptr error;
        for (std::uint64_t k = 0; k < slices_.count; ++k) {
            at_ = slices_.at(k);
            length_ = slices_.bytes(k);
            co_await run_slice(k == 0, error);
        }
        if (error) std::rethrow_exception(error);
        truncation_.check(env_);
    }

private:
    /// Bytes of a slice that a rank sends to other nodes and receives from them.
    std::size_t record() const { return remote_ranks_.size() * length_; }

    Task run_slice(bool first, std::exception_ptr& error) {
        std::size_t const local_count = local_ranks_.size();
        std::optional<Packed> mine(std::in_place, frames(), record()),
            all(std::in_place, frames(), master() ? local_count * record() : 0);
        for (std::size_t i = 0; i < remote_ranks_.size(); ++i)
            env_.load(mine->data() + i * length_, outgoing(a_, remote_ranks_[i]), at_, length_);
        co_await on_node(env_, Collective::gather, args(*mine, *all));
        if (master()) co_await start_exchange(*all);
        all.reset();
        if (first) co_await alltoall_within_node(env_, a_, error);
        Packed const incoming(frames(), master() ? local_count * record() : 0);
        if (master()) co_await finish_exchange(incoming);
        co_await on_node(env_, Collective::scatter, args(*mine, incoming));
        for (std::size_t i = 0; i < remote_ranks_.size(); ++i)
            deliver(env_, a_.receive[remote_ranks_[i]], at_, mine->data() + i * length_, length_, slices_.total,
                    remote_ranks_[i], truncation_);
    }
    RootedArgs args(Packed const& mine, Packed const& all) const {
        RootedArgs rooted{};
        rooted.mine = mine.buffer();
        rooted.parts = Parts::regular(all.data(), rooted.mine.count, *rooted.mine.type);
        rooted.max_part_bytes = mine.bytes;
        rooted.equal_parts = true;
        return rooted;
    }

    /// Sends to each other master the data for its node: source after source, and of each source its parts in order.
    Task start_exchange(Packed const& all) {
        std::size_t const local_count = local_ranks_.size();
        std::size_t first = 0;   // index of the node's first rank among those of other nodes
        for (int n = 0; n < map_.count(); ++n) {
            if (n == map_.own_part()) continue;
            std::size_t const ranks = map_.members(n).size(), bytes = ranks * length_;
            Packed const& out = out_.emplace_back(frames(), local_count * bytes);
            for (std::size_t i = 0; i < local_count; ++i)
                std::memcpy(out.data() + i * bytes, all.data() + i * record() + first * length_, bytes);
            env_.count(out.bytes, out.bytes);
            first += ranks;
            Packed const& in = in_.emplace_back(frames(), ranks * local_count * length_);
            arriving_.emplace_back(new (frames()) PendingReceive(env_));
            arriving_.back()->begin(in.data(), in.bytes, map_.master(n));
        }
        std::size_t i = 0;
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.own_part()) {
                Packed const& out = out_[i++];
                co_await messages_.start(map_.master(n), {out.buffer(), 0, out.bytes});
            }
    }

    /// Receives the messages and sorts them by destination rank.
    Task finish_exchange(Packed const& incoming) {
        std::size_t const local_count = local_ranks_.size();
        std::size_t source = 0;
        for (std::size_t m = 0; m < in_.size(); ++m) {
            int const from = remote_ranks_[source];
            std::size_t const ranks = map_.members(map_.part_of(from)).size();
            co_await env_.completion(arriving_[m]->op, map_.master(map_.part_of(from)));
            truncation_.compare(from, arriving_[m]->bytes(), in_[m].bytes);
            for (std::size_t r = 0; r < ranks; ++r, ++source)
                for (std::size_t i = 0; i < local_count; ++i)
                    std::memcpy(incoming.data() + i * record() + source * length_,
                                in_[m].data() + (r * local_count + i) * length_, length_);
            env_.count(in_[m].bytes, in_[m].bytes);
        }
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.own_part()) co_await messages_.finish(map_.master(n));
        out_.clear(), in_.clear(), arriving_.clear();
    }

    NetEnv& env_;
    AlltoallArgs const& a_;
    NodePartition const& map_;
    Segments const slices_;
    std::size_t at_ = 0, length_ = 0;   ///< of the current slice
    Messages<NetEnv> messages_;
    std::span<int const> local_ranks_;
    PooledVector<int> remote_ranks_;   ///< ranks of other nodes, node after node
    PooledVector<Packed> out_, in_;
    PooledVector<std::unique_ptr<PendingReceive>> arriving_;
    Truncation truncation_;
};

Task masters(NetEnv& env, AlltoallArgs const& a) {
    MasterAlltoall x(env, a);
    co_await x.run();
}

std::uint64_t masters_operations(AlltoallArgs const& a, NodePartition const& map) {
    return 1 + 2 * slices_of(a, map).count;
}

}   // namespace

constexpr Parameter masters_parameters[] = {memory_parameter};
extern constinit const Algorithm<AlltoallArgs> masters_algorithm = {
    "masters",
    "masters gather their nodes' parts, exchange one message per pair of nodes, and scatter",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_equal_parts,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

// paced: alltoall(v, w) in which every rank sends for itself. Parts within a node are copied through its shared memory;
// those for other nodes are messages, a few of them in flight at the same time. With ranks numbered node after node, in
// step i the rank at position x sends to x + i and receives from x − i, so that at any time the ranks of a node send to
// different ranks of few nodes, and no link gets more than its share. p − 1 steps; with parts of n bytes, each link
// carries those that must cross it, once.
// Rotated order: KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C; its use between nodes is
// ours.

namespace {

/// The ranks to which this rank sends and from which it receives in each step; −1: no rank of another node. In place,
/// pairs of ranks exchange with each other, in step i those whose positions add up to i: a part is sent before it is
/// overwritten.
struct Step {
    int to = -1, from = -1;
};
PooledVector<Step> steps_of(FramePool& frames, NodePartition const& map, int rank, bool in_place) {
    PooledVector<int> order(frames);
    for (int n = 0; n < map.count(); ++n) order.insert(order.end(), map.members(n).begin(), map.members(n).end());
    std::size_t const size = order.size();
    auto const position = static_cast<std::size_t>(std::ranges::find(order, rank) - order.begin());
    auto const remote = [&](std::size_t at) {
        int const peer = order[at % size];
        return map.part_of(peer) == map.own_part() ? -1 : peer;
    };
    PooledVector<Step> steps(frames);
    for (std::size_t i = 0; i < size; ++i) {
        if (in_place) steps.push_back({remote(i + size - position), remote(i + size - position)});
        else steps.push_back({remote(position + i), remote(position + size - i)});
    }
    return steps;
}

Task paced(NetEnv& env, AlltoallArgs const& a) {
    PooledVector<Step> const steps = steps_of(env.frames(), env.partition(), env.rank(), a.is_in_place);
    std::size_t const window = std::max<std::size_t>(1, a.parameters[0]), size = steps.size();
    NetFlow flow(env);
    auto const begin = [&](Step const& s) {
        if (s.to >= 0) flow.send({outgoing(a, s.to), 0, outgoing(a, s.to).bytes()}, s.to, a.is_in_place);
        if (s.from >= 0) flow.expect({a.receive[s.from], 0, a.receive[s.from].bytes()}, s.from);
    };
    std::size_t begun = 0;
    while (begun < std::min(window, size)) begin(steps[begun++]);
    std::exception_ptr error;
    co_await alltoall_within_node(env, a, error);
    for (Step const& s : steps) {
        if (s.from >= 0) co_await flow.wait_oldest_receive();
        if (s.to >= 0) co_await flow.wait_oldest_send();
        if (begun < size) begin(steps[begun++]);
    }
    if (error) std::rethrow_exception(error);
    flow.check();
}

std::uint64_t paced_operations(AlltoallArgs const&, NodePartition const&) { return 1; }

}   // namespace

constexpr Parameter paced_parameters[] = {{"window", 4, "steps in flight", ParameterKind::number}};
extern constinit const Algorithm<AlltoallArgs> paced_algorithm = {
    "paced",
    "ranks exchange parts directly, a few at a time, in an order that spreads over the nodes",
    Family::tutti,
    "after KNEM-Coll, section V.C",
    requires_nothing,
    paced_parameters,
    TUTTI_NET_ONLY(paced)};

}   // namespace tutti::coll::algorithms::alltoall
