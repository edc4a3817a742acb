// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan between nodes: gathered and masters for each.
//
// The prefix that both masters algorithms use, if nodes hold consecutive ranks: (1) a prefix on each node; (2) the last
// rank of a node then has the node's total, without a further step in shared memory (the paper uses the first rank);
// (3) an exclusive prefix among the last ranks; (4) each of them broadcasts the total of all earlier nodes on its node.
// ⌈log2 N⌉ consecutive messages of s bytes between N nodes, N − 1 along a chain, or one step of N·(N − 1)/2 messages.
// If a node's ranks are not consecutive: coll/blocks/gathered.hpp, or from rank to rank.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.5.
#include <numeric>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/gathered.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/prefix.hpp"

// exscan/gathered: for small messages. Every rank gets all operands and combines those of the ranks below it, in rank
// order, so that the result has the same bits whatever the placement (coll/blocks/gathered.hpp). One step between
// nodes; with p ranks and operands of s bytes, p·s bytes enter each node.

namespace tutti::coll::algorithms::exscan {
namespace {

Task gathered(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await fold_gathered(env, a, env.rank(), a.parameters[0]);
}

std::uint64_t gathered_operations(ReduceArgs const& a, NodePartition const& map) {
    return gather_operations(a, map, a.parameters[0]);
}

}   // namespace

constexpr Parameter gathered_parameters[] = {memory_parameter};
constexpr RecordHead gathered_head = {
    "gathered",       "every rank receives all operands and combines those of lower ranks",
    Family::tutti,    "Tutti",
    requires_nothing, gathered_parameters,
};
extern constinit const Algorithm<ReduceArgs> gathered_algorithm = {gathered_head, TUTTI_NET_ONLY(gathered)};

}   // namespace tutti::coll::algorithms::exscan

namespace tutti::coll {

enum class PrefixParameter : std::size_t { between, gather };
enum class MasterPrefix : std::size_t { recursive_doubling, linear, direct };

inline constexpr Parameter prefix_across_parameters[] = {
    {"between", 0, "how the prefix of all earlier nodes is computed", ParameterKind::keyword,
     "recursive_doubling|linear|direct"},
    {"gather", 65536,
     "largest total of operands, in bytes, that all ranks receive if nodes' ranks are not consecutive"},
    fragment_parameter,
};

/// Each rank sends its total to all ranks after it. A rank combines totals beginning with that of the nearest rank, and
/// has memory for a few of them at a time. `before` becomes as in prefix_before().
inline Task combine_totals(NetEnv& team, ReduceArgs const& a, std::byte* total, std::byte* before) {
    std::size_t const bytes = a.bytes();
    int const rank = team.rank(), others = std::min(rank - 1, static_cast<int>(NetFlow::pipeline_depth));
    NetFlow flow(team);
    PooledBytes const memory(team.frames(), bytes * static_cast<std::size_t>(std::max(others, 0)));
    auto const total_of = [&](int from) {
        return from + 1 == rank ? before : memory.get() + bytes * static_cast<std::size_t>(from % others);
    };
    auto const expect = [&](int from) {
        if (from >= 0) flow.expect({packed_buffer(total_of(from), bytes), 0, bytes}, from);
    };
    for (int from = rank - 1; from >= rank - 1 - others; --from) expect(from);
    for (int to = rank + 1; to < team.size(); ++to) flow.send({packed_buffer(total, bytes), 0, bytes}, to);
    Reducer reducer(team.traffic(), a);
    for (int from = rank - 1; from >= 0; --from) {
        co_await flow.wait_oldest_receive();
        if (from + 1 == rank) continue;
        reducer.accumulate(total_of(from), before, bytes / element_of(a));
        expect(from - others);
    }
    co_await flow.wait_sends();
    flow.check();
}

/// Passes the combination from each rank to the next. `before` becomes as in prefix_before(). Overwrites `total`.
inline Task prefix_along_chain(NetEnv& team, Messages<NetEnv>& m, ReduceArgs const& a, std::byte* total,
                               std::byte* before) {
    std::size_t const bytes = a.bytes();
    int const rank = team.rank();
    bool const last = rank + 1 == team.size();
    if (rank > 0) co_await m.receive(rank - 1, bytes, m.into(packed_buffer(before, bytes), 0));
    if (last) co_return;
    if (rank > 0) Reducer(team.traffic(), a).accumulate(before, total, bytes / element_of(a));
    co_await m.send(rank + 1, packed_part(total, bytes));
}

/// Sets `before` to the combined packed totals of the ranks of `team` before this one, in their order. Overwrites
/// `total`.
inline Task prefix_before(NetEnv& team, ReduceArgs const& a, std::byte* total, std::byte* before) {
    Messages<NetEnv> m(team, element_of(a));
    switch (static_cast<MasterPrefix>(a.parameters[static_cast<std::size_t>(PrefixParameter::between)])) {
    case MasterPrefix::recursive_doubling: {
        PooledVector<int> ranks(static_cast<std::size_t>(team.size()), team.frames());
        std::iota(ranks.begin(), ranks.end(), 0);
        PrefixDoubling<NetEnv> among(team, m, a, ranks, team.rank(), a.bytes());
        co_await among.run(total, before, a.bytes(), false);
        break;
    }
    case MasterPrefix::linear: co_await prefix_along_chain(team, m, a, total, before); break;
    case MasterPrefix::direct: co_await combine_totals(team, a, total, before); break;
    }
    co_await m.close();
}

/// Combines the packed `before` with this rank's result, or stores it there if the rank has none.
inline void apply_before(NetEnv& env, ReduceArgs const& a, std::byte const* before, bool has_result) {
    std::size_t const bytes = a.bytes();
    if (!has_result) return env.store(result(a), 0, before, bytes);
    Reducer reducer(env.traffic(), a);
    if (a.type->dense(a.count)) return reducer.accumulate(before, first_byte(result(a)), bytes / element_of(a));
    PooledBytes const packed(env.frames(), bytes);
    env.load(packed.get(), result(a), 0, bytes);
    reducer.accumulate(before, packed.get(), bytes / element_of(a));
    env.store(result(a), 0, packed.get(), bytes);
}

/// Nodes must hold consecutive ranks.
inline Task prefix_by_consecutive_nodes(NetEnv& env, ReduceArgs const& a, bool inclusive) {
    NodePartition const& map = env.partition();
    std::size_t const bytes = a.bytes();
    int const here = map.own_part(), index = map.index_of(env.rank()), last = map.size(here) - 1;
    bool const has_result = inclusive || index > 0;
    PooledBytes const total = index == last ? PooledBytes(env.frames(), bytes) : PooledBytes();
    PooledBytes const before = here > 0 ? PooledBytes(env.frames(), bytes) : PooledBytes();
    if (index == last && !inclusive) env.load(total.get(), operand(a), 0, bytes);   // a result may overwrite it
    co_await on_node(env, inclusive ? Collective::scan : Collective::exscan, a);
    if (index == last) {
        if (inclusive) {
            env.load(total.get(), result(a), 0, bytes);
        } else if (has_result) {
            PooledBytes const below(env.frames(), bytes);
            env.load(below.get(), result(a), 0, bytes);
            Reducer(env.traffic(), a).accumulate(below.get(), total.get(), bytes / element_of(a));
        }
        PooledVector<int> last_ranks(env.frames());
        for (int n = 0; n < map.count(); ++n) last_ranks.push_back(map.members(n).back());
        NetEnv team(env, std::move(last_ranks), env.multi_node().masters);
        co_await prefix_before(team, a, total.get(), before.get());
    }
    if (here == 0) co_return;
    co_await on_node(env, Collective::bcast, bcast_bytes_args(before.get(), bytes, last));
    apply_before(env, a, before.get(), has_result);
}

/// Operations on the node: the prefix, and the broadcast of the total of earlier nodes.
inline std::uint64_t masters_operations(ReduceArgs const&, NodePartition const&) { return 2; }

inline Task prefix_across(NetEnv& env, ReduceArgs const& a, bool inclusive) {
    if (a.bytes() == 0) co_return;
    std::size_t const max_total = a.parameters[static_cast<std::size_t>(PrefixParameter::gather)];
    if (env.partition().is_consecutive()) co_await prefix_by_consecutive_nodes(env, a, inclusive);
    else if (a.bytes() * static_cast<std::size_t>(env.size()) <= max_total)
        co_await fold_gathered(env, a, env.rank() + (inclusive ? 1 : 0), ~std::size_t{0});
    else co_await prefix_linear(env, a, inclusive);
}

}   // namespace tutti::coll

// exscan/masters: in fragments, so that one is on the nodes while another is on the links. ⌈log2 N⌉ steps between N
// nodes, in each of which a message of s bytes leaves and enters a node; or along a chain N − 1 messages in all; or one
// step of at most N − 1 messages out and in.

namespace tutti::coll::algorithms::exscan {
namespace {

Task masters(NetEnv& env, ReduceArgs const& a) { return prefix_across(env, a, false); }

}   // namespace

constexpr RecordHead masters_head = {
    "masters",
    "prefixes on each node, among the nodes' last ranks, then combined on each node",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5",
    requires_reassociation,
    prefix_across_parameters,
};
extern constinit const Algorithm<ReduceArgs> masters_algorithm = {masters_head, TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::exscan

// scan/gathered: for small messages. Every rank gets all operands and combines those of the ranks up to itself,
// otherwise like exscan/gathered.

namespace tutti::coll::algorithms::scan {
namespace {

Task gathered(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await fold_gathered(env, a, env.rank() + 1, a.parameters[0]);
}

using exscan::gathered_operations;

}   // namespace

extern constinit const Algorithm<ReduceArgs> gathered_algorithm = {
    exscan::gathered_head.described_as("every rank receives all operands and combines those up to its own"),
    TUTTI_NET_ONLY(gathered)};

// scan/masters: steps and messages as in exscan/masters.

namespace {

Task masters(NetEnv& env, ReduceArgs const& a) { return prefix_across(env, a, true); }

}   // namespace

extern constinit const Algorithm<ReduceArgs> masters_algorithm = {exscan::masters_head, TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::scan
