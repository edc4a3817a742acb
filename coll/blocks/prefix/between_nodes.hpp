// SPDX-License-Identifier: BSD-3-Clause
// The prefix over several nodes that scan and exscan share: the ranks of each node among themselves (1), whose last one
// then has the node's sum (2), without further ado in shared memory, where the paper takes the first; an exclusive one
// among the last ones (3), who hand what comes before their node to the others (4). ⌈log2 N⌉ messages of s bytes in a
// row between N nodes, N − 1 along a chain, or one step of N·(N − 1)/2; by gathered.hpp or from rank to rank where a
// node's ranks do not follow each other. Zhu and others, "Hierarchical collectives in MPICH2", 2009, section 3.5.
#pragma once

#include <numeric>

#include "coll/blocks/nodes/gathered.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/prefix/doubling.hpp"
#include "coll/blocks/prefix/linear.hpp"

namespace tutti::coll {

enum class PrefixAcross : std::size_t { between, gather };
enum class PrefixBetween : std::size_t { recursive_doubling, linear, direct };

inline constexpr Parameter prefix_across_parameters[] = {
    {"between", 0, "how what comes before a node is found", ParameterKind::word, "recursive_doubling|linear|direct"},
    {"gather", 65536, "bytes of all operands up to which everybody gets these where ranks do not follow each other"},
    fragment_parameter,
};

/// Each rank sends its total to all that come after it. These combine totals from the nearest rank on, and have room
/// for a few of them at a time.
inline Task sum_of_totals(NetEnv& team, ReduceArgs const& a, std::byte* total, std::byte* before) {
    std::size_t const bytes = a.bytes();
    int const place = team.rank(), others = std::min(place - 1, static_cast<int>(NetFlow::ahead));
    NetFlow flow(team);
    PooledBytes const memory(team.frames(), bytes * static_cast<std::size_t>(std::max(others, 0)));
    auto const total_of = [&](int from) {
        return from + 1 == place ? before : memory.get() + bytes * static_cast<std::size_t>(from % others);
    };
    auto const expect = [&](int from) {
        if (from >= 0) flow.expect({packed_buffer(total_of(from), bytes), 0, bytes}, from);
    };
    for (int from = place - 1; from >= place - 1 - others; --from) expect(from);
    for (int to = place + 1; to < team.size(); ++to) flow.send({packed_buffer(total, bytes), 0, bytes}, to);
    Reducer reducer(team.traffic(), a);
    for (int from = place - 1; from >= 0; --from) {
        co_await flow.arrive();
        if (from + 1 == place) continue;
        reducer.accumulate(total_of(from), before, bytes / element_of(a));
        expect(from - others);
    }
    co_await flow.sent();
    flow.check();
}

/// From one to the next; `total` is used up.
inline Task sum_along(NetEnv& team, Messages<NetEnv>& m, ReduceArgs const& a, std::byte* total, std::byte* before) {
    std::size_t const bytes = a.bytes();
    int const place = team.rank();
    bool const last = place + 1 == team.size();
    if (place > 0) co_await m.receive(place - 1, bytes, m.into(packed_buffer(before, bytes), 0));
    if (last) co_return;
    if (place > 0) Reducer(team.traffic(), a).accumulate(before, total, bytes / element_of(a));
    co_await m.send(place + 1, packed_part(total, bytes));
}

/// Among the ranks of `team`, in their order: `before` becomes the sum of the packed totals of those before this one.
/// `total` is used up.
inline Task sum_before(NetEnv& team, ReduceArgs const& a, std::byte* total, std::byte* before) {
    Messages<NetEnv> m(team, element_of(a));
    switch (static_cast<PrefixBetween>(a.parameters[static_cast<std::size_t>(PrefixAcross::between)])) {
    case PrefixBetween::recursive_doubling: {
        PooledVector<int> ranks(static_cast<std::size_t>(team.size()), team.frames());
        std::iota(ranks.begin(), ranks.end(), 0);
        PrefixDoubling<NetEnv> among(team, m, a, ranks, team.rank(), a.bytes());
        co_await among.run(total, before, a.bytes(), false);
        break;
    }
    case PrefixBetween::linear: co_await sum_along(team, m, a, total, before); break;
    case PrefixBetween::direct: co_await sum_of_totals(team, a, total, before); break;
    }
    co_await m.close();
}

/// Puts the packed `before` before this rank's result, or there where the rank has none.
inline void put_before(NetEnv& env, ReduceArgs const& a, std::byte const* before, bool has_result) {
    std::size_t const bytes = a.bytes();
    if (!has_result) return env.store(result(a), 0, before, bytes);
    Reducer reducer(env.traffic(), a);
    if (a.type->dense(a.count)) return reducer.accumulate(before, first_byte(result(a)), bytes / element_of(a));
    PooledBytes const packed(env.frames(), bytes);
    env.load(packed.get(), result(a), 0, bytes);
    reducer.accumulate(before, packed.get(), bytes / element_of(a));
    env.store(result(a), 0, packed.get(), bytes);
}

/// Nodes hold consecutive ranks.
inline Task prefix_in_four_steps(NetEnv& env, ReduceArgs const& a, bool inclusive) {
    Division const& map = env.map();
    std::size_t const bytes = a.bytes();
    int const here = map.mine(), index = map.index_of(env.rank()), last = map.size(here) - 1;
    bool const has_result = inclusive || index > 0;
    PooledBytes const total = index == last ? PooledBytes(env.frames(), bytes) : PooledBytes();
    PooledBytes const before = here > 0 ? PooledBytes(env.frames(), bytes) : PooledBytes();
    if (index == last && !inclusive) env.load(total.get(), operand(a), 0, bytes);   // which a result may overwrite
    co_await on_node(env, inclusive ? Collective::scan : Collective::exscan, a);
    if (index == last) {
        if (inclusive) {
            env.load(total.get(), result(a), 0, bytes);
        } else if (has_result) {
            PooledBytes const below(env.frames(), bytes);
            env.load(below.get(), result(a), 0, bytes);
            Reducer(env.traffic(), a).accumulate(below.get(), total.get(), bytes / element_of(a));
        }
        PooledVector<int> last_ones(env.frames());
        for (int n = 0; n < map.count(); ++n) last_ones.push_back(map.members(n).back());
        NetEnv team(env, std::move(last_ones), env.multi_node().masters);
        co_await sum_before(team, a, total.get(), before.get());
    }
    if (here == 0) co_return;
    co_await on_node(env, Collective::bcast, bytes_from(before.get(), bytes, last));
    put_before(env, a, before.get(), has_result);
}

/// Operations on the node: the prefix there, and the broadcast of what comes before.
inline std::uint64_t masters_operations(ReduceArgs const&, Division const&) { return 2; }

inline Task prefix_across(NetEnv& env, ReduceArgs const& a, bool inclusive) {
    if (a.bytes() == 0) co_return;
    std::size_t const most = a.parameters[static_cast<std::size_t>(PrefixAcross::gather)];
    if (env.map().consecutive()) co_await prefix_in_four_steps(env, a, inclusive);
    else if (a.bytes() * static_cast<std::size_t>(env.size()) <= most)
        co_await fold_gathered(env, a, env.rank() + (inclusive ? 1 : 0), whole);
    else co_await prefix_linear(env, a, inclusive);
}

}   // namespace tutti::coll
