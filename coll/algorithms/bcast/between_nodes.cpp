// SPDX-License-Identifier: BSD-3-Clause
// Barrier and broadcast between nodes, both named masters.
//
// barrier/masters: each node gathers at its master, the masters disseminate, and each master releases its node. ⌈log2
// N⌉ steps of empty messages between N nodes; on each node, a barrier and a broadcast of one byte.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.4; between masters
// Hensgen, Finkel, Manber, IJPP 1988.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/ordinary.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll::algorithms::barrier {
namespace {

Task masters(NetEnv& env, BarrierArgs const&) {
    NodePartition const& map = env.partition();
    bool const master = env.rank() == map.master(map.own_part());
    std::byte token{};
    co_await on_node(env, Collective::barrier, BarrierArgs{});
    if (master) {
        NetEnv team(env, map.masters(env.frames()), env.multi_node().masters);
        co_await disseminate(team);
    }
    co_await on_node(env, Collective::bcast, bcast_bytes_args(&token, 1, 0));
}

std::uint64_t masters_operations(BarrierArgs const&, NodePartition const&) { return 2; }

}   // namespace

extern constinit const Algorithm<BarrierArgs> masters_algorithm = {
    "masters",
    "nodes gather at their masters, masters disseminate, and each master releases its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.4; Hensgen, Finkel, Manber, IJPP 1988",
    requires_nothing,
    {},
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::barrier

// bcast/masters: the masters forward the data in segments along a tree, and each master broadcasts a segment on its
// node through shared memory while its next segments are in flight. The root acts as its node's master, so the data
// crosses between nodes N − 1 times whatever the root. With h the height of the tree and w its width: h steps of a
// segment, then w·s bytes over the root's link; with the chain (w = 1), large messages take about as long as they take
// to cross one link.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.1.

namespace tutti::coll::algorithms::bcast {

extern const Algorithm<BcastArgs> scatter_allgather_algorithm;
namespace {

struct Between {
    enum : std::size_t { binomial, binary, chain, linear, scatter_and_gather };
};

Segments segments_of(BcastArgs const& a) {
    bool const whole_message = a.parameters[0] == Between::scatter_and_gather;
    Segments segments(a.data.bytes(), 1, whole_message ? one_segment : std::max<std::size_t>(1, a.parameters[1]));
    segments.count = std::max<std::uint64_t>(1, segments.count);   // an empty message is one segment, too
    return segments;
}

/// Returns the position of this node's master in the tree among masters; without parent and children unless this rank
/// is that master.
TreePosition position_among_masters(NetEnv& env, BcastArgs const& a) {
    static constexpr TreeShape shapes[] = {binomial_tree, binary_tree, chain_tree, star_tree};
    NodePartition const& map = env.partition();
    if (a.parameters[0] == Between::scatter_and_gather || env.rank() != map.master(map.own_part(), a.root))
        return TreePosition(env.frames());
    return position_of_master(env.frames(), map, map.own_part(), a.root, shapes[a.parameters[0]]);
}

/// Broadcasts the whole message among the masters by scatter and allgather.
Task scatter_allgather_among_masters(NetEnv& env, BcastArgs const& a) {
    NetEnv team(env, env.partition().masters(env.frames(), a.root), env.multi_node().masters);
    BcastArgs between = a;
    between.root = env.partition().part_of(a.root);
    Values const ring;   // how the blocks are gathered
    between.parameters = ring;
    co_await scatter_allgather_algorithm.net(team, between);
}

Task masters(NetEnv& env, BcastArgs const& a) {
    NodePartition const& map = env.partition();
    Segments const segments = segments_of(a);
    int const master = map.master(map.own_part(), a.root);
    bool const whole_message = a.parameters[0] == Between::scatter_and_gather;
    Buffer data = a.data;
    PooledBytes packed;   // segments of a buffer with gaps
    if (segments.count > 1 && !data.type->dense(data.count)) {
        packed = PooledBytes(env.frames(), segments.total);
        data = packed_buffer(packed.get(), segments.total);
        if (env.rank() == a.root) env.load(packed.get(), a.data, 0, segments.total);
    }
    auto const piece = [&](std::uint64_t k) -> Piece { return {data, segments.at(k), segments.bytes(k)}; };
    TreePosition const position = position_among_masters(env, a);
    bool const has_parent = position.parent >= 0;
    NetFlow flow(env);
    for (std::uint64_t k = 0; has_parent && k < std::min<std::uint64_t>(NetFlow::pipeline_depth, segments.count); ++k)
        flow.expect(piece(k), position.parent);
    if (whole_message && env.rank() == master) co_await scatter_allgather_among_masters(env, a);
    for (std::uint64_t k = 0; k < segments.count; ++k) {
        if (has_parent) co_await flow.wait_oldest_receive();
        if (has_parent && k + NetFlow::pipeline_depth < segments.count)
            flow.expect(piece(k + NetFlow::pipeline_depth), position.parent);
        for (auto child = position.children.rbegin(); child != position.children.rend();
             ++child)   // the largest subtree first
            flow.send(piece(k), *child);
        BcastArgs inside = a;
        inside.data = segments.count == 1 ? data : packed_buffer(first_byte(data) + segments.at(k), segments.bytes(k));
        inside.root = map.index_of(master);
        co_await on_node(env, Collective::bcast, inside);
        co_await flow.wait_sends(NetFlow::pipeline_depth * position.children.size());
    }
    co_await flow.wait_sends();
    if (packed && env.rank() != a.root) env.store(a.data, 0, packed.get(), segments.total);
    flow.check();
}

std::uint64_t masters_operations(BcastArgs const& a, NodePartition const&) { return segments_of(a).count; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"between", Between::binomial, "how the masters forward the message", ParameterKind::keyword,
     "binomial|binary|chain|linear|scatter_allgather"},
    {"segment", 65536, "bytes forwarded at a time along a tree"},
};
extern constinit const Algorithm<BcastArgs> masters_algorithm = {
    "masters",
    "masters forward segments along a tree, and each broadcasts on its node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1",
    requires_nothing,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::bcast
