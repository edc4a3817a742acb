// SPDX-License-Identifier: BSD-3-Clause
// Alltoall of small parts on several nodes: each node's parts for other nodes go to its master, masters exchange one
// message per pair of nodes, each master deals out what has come; parts within a node go through its shared memory
// meanwhile. One step between N nodes, N − 1 messages out of each instead of c·(p − c) with c ranks on it. Every part
// is copied four times more than if its rank sent it.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);

/// One rank's view. A rank's parts for other nodes lie in a record, with their size before them; so does what comes.
class Aggregated {
public:
    Aggregated(NetEnv& env, AlltoallArgs const& a)
        : env_(env), a_(a), map_(env.map()), messages_(env), remote_(env.frames()), out_(env.frames()),
          in_(env.frames()), arriving_(env.frames()) {
        each_ = outgoing(a, env.rank()).bytes();
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.mine()) remote_.insert(remote_.end(), map_.members(n).begin(), map_.members(n).end());
        ranks_here_ = map_.members();
    }
    FramePool& frames() { return env_.frames(); }
    bool master() const { return env_.rank() == ranks_here_.front(); }

    Task run() {
        std::size_t const here = ranks_here_.size();
        Packed mine(frames(), head + remote_.size() * each_), all(frames(), master() ? here * mine.bytes : 0);
        pack(mine);
        RootedArgs up{};
        up.mine = mine.buffer();
        up.parts = Parts::regular(all.data(), up.mine.count, *up.mine.type);
        up.largest = mine.bytes;
        up.equal = true;
        co_await on_node(env_, Collective::gather, up);
        if (master()) co_await begin(all);
        std::exception_ptr error;
        co_await local(error);
        Packed dealt(frames(), master() ? here * room() : 0), come(frames(), room());
        if (master()) co_await end(dealt);
        RootedArgs down{};
        down.mine = come.buffer();
        down.parts = Parts::regular(dealt.data(), down.mine.count, *down.mine.type);
        down.largest = room();
        down.equal = true;
        co_await on_node(env_, Collective::scatter, down);
        unpack(come);
        if (error) std::rethrow_exception(error);
        truncation_.check();
    }

private:
    /// What a rank gets from other nodes, each part after its size.
    std::size_t room() const { return remote_.size() * (head + each_); }

    void pack(Packed const& mine) {
        std::uint64_t const each = each_;
        std::memcpy(mine.data(), &each, head);
        for (std::size_t i = 0; i < remote_.size(); ++i)
            env_.load(mine.data() + head + i * each_, outgoing(a_, remote_[i]), 0, each_);
    }

    /// Parts between ranks of this node.
    Task local(std::exception_ptr& error) {
        PartList const send(frames(), a_.send, ranks_here_), receive(frames(), a_.receive, ranks_here_);
        AlltoallArgs args = a_;
        args.send = send.parts();
        args.receive = receive.parts();
        co_await on_node(env_, Collective::alltoall, args, error);
    }

    /// To each other master what is for its node: source after source, and of each its parts in order.
    Task begin(Packed const& all) {
        std::size_t const here = ranks_here_.size(), record = head + remote_.size() * each_;
        std::size_t first = 0;   // of the node's ranks among those of other nodes
        for (int n = 0; n < map_.count(); ++n) {
            if (n == map_.mine()) continue;
            std::size_t const ranks = map_.members(n).size(), bytes = ranks * each_;
            Packed const& out = out_.emplace_back(frames(), here * (head + bytes));
            for (std::size_t i = 0; i < here; ++i) {
                std::byte const* from = all.data() + i * record;
                std::byte* to = out.data() + i * (head + bytes);
                std::memcpy(to, from, head);
                std::memcpy(to + head, from + head + first * each_, bytes);
            }
            env_.count(out.bytes, out.bytes);
            first += ranks;
            Packed const& in = in_.emplace_back(frames(), ranks * (head + here * each_));
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
            std::size_t const each = head + each_, ranks = map_.members(map_.of(from)).size();
            co_await env_.over(arriving_[m]->op, map_.master(map_.of(from)));
            truncation_.compare(from, arriving_[m]->bytes(), in_[m].bytes);
            for (std::size_t r = 0; r < ranks; ++r, ++source) {
                std::byte const* record = in_[m].data() + r * (head + here * each_);
                for (std::size_t i = 0; i < here; ++i) {
                    std::byte* to = dealt.data() + i * room() + source * each;
                    std::memcpy(to, record, head);
                    std::memcpy(to + head, record + head + i * each_, each_);
                }
            }
            env_.count(in_[m].bytes, in_[m].bytes);
        }
        co_await messages_.close();
    }

    void unpack(Packed const& come) {
        for (std::size_t i = 0; i < remote_.size(); ++i) {
            std::byte const* part = come.data() + i * (head + each_);
            std::uint64_t size;
            std::memcpy(&size, part, head);
            deliver(env_, a_.receive[remote_[i]], 0, part + head, std::min<std::size_t>(size, each_), size, remote_[i],
                    truncation_);
        }
    }

    NetEnv& env_;
    AlltoallArgs const& a_;
    Division const& map_;
    Messages<NetEnv> messages_;
    std::size_t each_;   ///< bytes of a part that this rank sends
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

std::uint64_t masters_operations(AlltoallArgs const&, int) { return 3; }

}   // namespace

extern constinit const Algorithm<AlltoallArgs> masters_algorithm = {
    "masters",
    "each node's parts to its master, one message per pair of nodes, each master to its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_equal_parts,
    {},
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::alltoall
