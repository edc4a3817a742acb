// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) on several nodes: each node reduces the whole vector to its master through shared memory, each
// master gets what the others have for its node and combines it in the order of nodes, then deals it out there. Shares
// of any sizes. One step between N nodes; each link carries s less its node's share out, and N − 1 such shares in.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3; share_fold.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/share_fold.hpp"
#include "coll/blocks/nodes/node_parts.hpp"
#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/blocks/reduce/shares.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll::algorithms::reduce_scatter {
namespace {

/// What masters combine: a node's sum, packed, with each node's share in one piece, and where these begin.
struct ByNode {
    ByNode(NetEnv& env, ReduceScatterArgs const& a, ConstBuffer sum) : vector(sum), starts(env.frames()) {
        Shares const shares(a, env.frames());
        Division const& map = env.map();
        std::size_t at = 0;
        for (int n = 0; n < map.count(); ++n) {
            starts.push_back(at);
            for (int r : map.members(n)) at += shares.bytes(r);
        }
        starts.push_back(at);
        if (map.consecutive()) return;
        packed = PooledBytes(env.frames(), at);
        vector = packed_buffer(packed.get(), at);
        std::byte* to = packed.get();
        for (int n = 0; n < map.count(); ++n)
            for (int r : map.members(n)) env.load(to, sum, shares.start(r), shares.bytes(r)), to += shares.bytes(r);
    }

    ConstBuffer vector;
    PooledVector<std::size_t> starts;
    PooledBytes packed;   ///< where the nodes' ranks do not follow each other
};

/// The share of this master's node, over all nodes, into `share`.
Task among_masters(NetEnv& env, ReduceScatterArgs const& a, ConstBuffer sum, Buffer share) {
    NetEnv team(env, env.map().masters(env.frames()), env.multi_node().masters);
    ByNode by_node(env, a, sum);
    Messages<NetEnv> m(team, element_bytes(a));
    ShareFold<NetEnv> fold(team, m, a, std::move(by_node.starts));
    PooledBytes const packed(env.frames(), share.bytes());
    co_await fold.reduce(by_node.vector, packed.get());
    env.store(share, 0, packed.get(), share.bytes());
    co_await m.close();
}

Task masters(NetEnv& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    Division const& map = env.map();
    bool const master = map.index_of(env.rank()) == 0;
    LaidOut const sum = master ? LaidOut(*a.type, a.count, &env.frames()) : LaidOut();
    ReduceArgs inside = a;
    inside.root = 0;
    inside.in = operand(a).address;
    inside.out = sum.origin();
    co_await on_node(env, Collective::reduce, inside);

    std::int64_t elements = 0;   // more than an int holds, as those of all ranks are
    for (int r : map.members()) elements += a.counts[static_cast<std::size_t>(r)];
    LaidOut const share = master ? LaidOut(*a.type, elements, &env.frames()) : LaidOut();
    PartList parts(env.frames());
    std::byte* part = share.origin();
    for (int r : master ? map.members() : std::span<int const>()) {
        std::int64_t const count = a.counts[static_cast<std::size_t>(r)];
        parts.add({part, count, a.type});
        part += count * a.type->extent();
    }
    if (master) co_await among_masters(env, a, {sum.origin(), a.count, a.type}, {share.origin(), elements, a.type});
    RootedArgs dealt{};
    dealt.mine = {a.out, a.counts[static_cast<std::size_t>(env.rank())], a.type};
    dealt.parts = parts.parts();
    dealt.root = 0;
    dealt.equal = false;
    co_await on_node(env, Collective::scatter, dealt);
}

std::uint64_t masters_operations(ReduceScatterArgs const&, Division const&) { return 2; }

}   // namespace

extern constinit const Algorithm<ReduceScatterArgs> masters_algorithm = {
    "masters",
    "each node to its master, masters exchange their nodes' shares and deal them out",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3",
    requires_commutative | requires_grouping,
    {},
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::reduce_scatter
