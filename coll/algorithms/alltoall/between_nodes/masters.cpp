// SPDX-License-Identifier: BSD-3-Clause
// Alltoall of small parts on several nodes: each node's parts for other nodes go to its master, masters exchange one
// message per pair of nodes, each master deals out what has come; parts within a node go through its shared memory
// meanwhile. One step between N nodes, N − 1 messages out of each instead of c·(p − c) with c ranks on it; where a node
// has no memory for all bytes at a time, as many such steps as it takes. Each part is copied four times more.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/messages/segments.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_memory.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// Of each part, which has one size at all ranks, what goes at a time.
Segments slices_of(AlltoallArgs const& a, Division const& map) {
    constexpr std::size_t tables = 6;   // at the ranks, two at the master for each direction, at the ranks again
    std::size_t others = 0;
    for (int n = 0; n < map.count(); ++n) others += static_cast<std::size_t>(map.size(n));
    others -= static_cast<std::size_t>(map.smallest());
    std::size_t const pieces = tables * static_cast<std::size_t>(map.largest()) * others;
    Segments slices(outgoing(a, 0).bytes(), 1, part_of_memory(a.parameters[0], pieces));
    slices.count = std::max<std::uint64_t>(1, slices.count);   // what is inside the nodes goes with the first
    return slices;
}

/// One rank's view. A rank's bytes for other nodes lie in a record, node after node; so does what comes.
class Aggregated {
public:
    Aggregated(NetEnv& env, AlltoallArgs const& a)
        : env_(env), a_(a), map_(env.map()), slices_(slices_of(a, env.map())), messages_(env), remote_(env.frames()),
          out_(env.frames()), in_(env.frames()), arriving_(env.frames()) {
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.mine()) remote_.insert(remote_.end(), map_.members(n).begin(), map_.members(n).end());
        ranks_here_ = map_.members();
    }
    FramePool& frames() { return env_.frames(); }
    bool master() const { return env_.rank() == ranks_here_.front(); }

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
    /// Bytes of a slice that a rank sends to other nodes, and gets from there.
    std::size_t record() const { return remote_.size() * length_; }

    Task run_slice(bool first, std::exception_ptr& error) {
        std::size_t const here = ranks_here_.size();
        std::optional<Packed> mine(std::in_place, frames(), record()),
            all(std::in_place, frames(), master() ? here * record() : 0);
        for (std::size_t i = 0; i < remote_.size(); ++i)
            env_.load(mine->data() + i * length_, outgoing(a_, remote_[i]), at_, length_);
        co_await on_node(env_, Collective::gather, args(*mine, *all));
        if (master()) co_await begin(*all);
        all.reset();
        if (first) co_await alltoall_within_node(env_, a_, error);
        Packed const dealt(frames(), master() ? here * record() : 0);
        if (master()) co_await end(dealt);
        co_await on_node(env_, Collective::scatter, args(*mine, dealt));
        for (std::size_t i = 0; i < remote_.size(); ++i)
            deliver(env_, a_.receive[remote_[i]], at_, mine->data() + i * length_, length_, slices_.total, remote_[i],
                    truncation_);
    }
    RootedArgs args(Packed const& mine, Packed const& all) const {
        RootedArgs rooted{};
        rooted.mine = mine.buffer();
        rooted.parts = Parts::regular(all.data(), rooted.mine.count, *rooted.mine.type);
        rooted.largest = mine.bytes;
        rooted.equal = true;
        return rooted;
    }

    /// To each other master what is for its node: source after source, and of each its parts in order.
    Task begin(Packed const& all) {
        std::size_t const here = ranks_here_.size();
        std::size_t first = 0;   // of the node's ranks among those of other nodes
        for (int n = 0; n < map_.count(); ++n) {
            if (n == map_.mine()) continue;
            std::size_t const ranks = map_.members(n).size(), bytes = ranks * length_;
            Packed const& out = out_.emplace_back(frames(), here * bytes);
            for (std::size_t i = 0; i < here; ++i)
                std::memcpy(out.data() + i * bytes, all.data() + i * record() + first * length_, bytes);
            env_.count(out.bytes, out.bytes);
            first += ranks;
            Packed const& in = in_.emplace_back(frames(), ranks * here * length_);
            arriving_.emplace_back(new (frames()) Arriving(env_));
            arriving_.back()->begin(in.data(), in.bytes, map_.master(n));
        }
        std::size_t i = 0;
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.mine()) {
                Packed const& out = out_[i++];
                co_await messages_.start(map_.master(n), {out.buffer(), 0, out.bytes});
            }
    }

    /// What has come, sorted by the ranks that it is for.
    Task end(Packed const& dealt) {
        std::size_t const here = ranks_here_.size();
        std::size_t source = 0;
        for (std::size_t m = 0; m < in_.size(); ++m) {
            int const from = remote_[source];
            std::size_t const ranks = map_.members(map_.of(from)).size();
            co_await env_.over(arriving_[m]->op, map_.master(map_.of(from)));
            truncation_.compare(from, arriving_[m]->bytes(), in_[m].bytes);
            for (std::size_t r = 0; r < ranks; ++r, ++source)
                for (std::size_t i = 0; i < here; ++i)
                    std::memcpy(dealt.data() + i * record() + source * length_,
                                in_[m].data() + (r * here + i) * length_, length_);
            env_.count(in_[m].bytes, in_[m].bytes);
        }
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.mine()) co_await messages_.finish(map_.master(n));
        out_.clear(), in_.clear(), arriving_.clear();
    }

    NetEnv& env_;
    AlltoallArgs const& a_;
    Division const& map_;
    Segments const slices_;
    std::size_t at_ = 0, length_ = 0;   ///< of the slice under way
    Messages<NetEnv> messages_;
    std::span<int const> ranks_here_;
    PooledVector<int> remote_;   ///< ranks of other nodes, node after node
    PooledVector<Packed> out_, in_;
    PooledVector<std::unique_ptr<Arriving>> arriving_;
    Truncation truncation_;
};

Task masters(NetEnv& env, AlltoallArgs const& a) {
    Aggregated x(env, a);
    co_await x.run();
}

std::uint64_t masters_operations(AlltoallArgs const& a, Division const& map) { return 1 + 2 * slices_of(a, map).count; }

}   // namespace

constexpr Parameter masters_parameters[] = {memory_parameter};
extern constinit const Algorithm<AlltoallArgs> masters_algorithm = {
    "masters",
    "each node's parts to its master, one message per pair of nodes, each master to its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_equal_parts,
    masters_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::alltoall
