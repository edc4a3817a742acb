// SPDX-License-Identifier: BSD-3-Clause
// The ordinary collectives of MPICH, which ignore nodes, as parts of other algorithms: its algorithms by messages, and
// how it chooses among them by size. A hierarchical algorithm runs them on the ranks of a node and among the masters
// (Team, coll/env/team.hpp). What each algorithm does, and its source, is stated at its record in coll/algorithms.
//
// The choice: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19
// (2005), section 4.
#pragma once

#include <bit>

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/halving.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "coll/env/net_env.hpp"
#include "coll/env/team.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

// Barrier.

/// Waits for the `count`-th message of no bytes from `peer` in this phase. Such messages are counts of `sent`.
template <class Env>
Task receive_empty(Env& env, int peer, std::uint64_t count) {
    co_await env.until_sent(peer, count);
    env.count_message(peer);
}

/// Dissemination: in step k each rank sends to the rank 2^k ahead and receives from the rank 2^k behind.
template <class Env>
Task disseminate(Env& env) {
    int const size = env.size(), rank = env.rank();
    for (int distance = 1; distance < size; distance *= 2) {
        env.sent((rank + distance) % size, 1);
        co_await receive_empty(env, (rank + size - distance) % size, 1);
    }
}
inline Task disseminate(NetEnv& env) {
    Messages<NetEnv> m(env);
    int const size = env.size(), rank = env.rank();
    auto nothing = [](std::byte const*, std::size_t, std::size_t) {};
    for (int distance = 1; distance < size; distance *= 2)
        co_await m.exchange((rank + distance) % size, packed_part(nullptr, 0), (rank + size - distance) % size, 0,
                            nothing);
    co_await m.close();
}

// Broadcast. binomial_bcast is in linear.hpp.

template <class Env>
Task scatter_allgather_bcast(Env& env, BcastArgs const& a, bool by_ring) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPosition const tree(env, a.root);
    std::size_t const bytes = a.data.bytes(), ranks = static_cast<std::size_t>(env.size());
    std::size_t const block = ((bytes + ranks - 1) / ranks + cache_line - 1) / cache_line * cache_line;
    BlockRow row{a.data, {}, bytes * ranks};
    for (std::size_t i = 0; i <= ranks; ++i) row.offsets.push_back(std::min(bytes, i * block));

    if (tree.vrank > 0) {
        std::size_t const under = row.bytes(tree.vrank, tree.end());
        co_await m.receive(tree.parent_rank(), under, m.into(a.data, row.start(tree.vrank), row.working_set));
        truncation.compare(tree.parent_rank(), m.received(tree.parent_rank()), under);
    }
    co_await start_children(env, m, tree, [&](int child) { return row.part(child, tree.end_of(child)); });
    co_await finish_children(env, m, tree);

    if (by_ring) {
        co_await ring_allgather(env, m, row, a.root, truncation);
    } else {
        RecursiveDoubling<Env> doubling(env, m, row, a.root, truncation);
        co_await doubling.run();
    }
    co_await m.close();
    truncation.check(env);
}

/// Where MPICH changes between its broadcasts.
struct BcastSizes {
    std::size_t scatter;   ///< scatter and allgather messages of at least this number of bytes, …
    std::size_t ring;      ///< from this number on around a ring,
    std::size_t few;       ///< unless there are fewer ranks
};
/// They are these parameters, in this order.
inline constexpr Parameter scatter_parameter = {
    "scatter", 12288, "bytes from which a broadcast among a team scatters and allgathers; below, binomial"};
inline constexpr Parameter ring_parameter = {"ring", 524288, "bytes from which that allgather is a ring"};
inline constexpr Parameter few_parameter = {"few", 8, "ranks of a team below which its broadcasts are binomial",
                                            ParameterKind::number};

/// Allgathers by recursive doubling if the number of ranks is a power of two. `a` must stay valid.
template <class Env>
Task ordinary_bcast(Env& env, BcastArgs const& a, BcastSizes const& sizes) {
    std::size_t const bytes = a.data.bytes();
    auto const ranks = static_cast<std::size_t>(env.size());
    if (bytes < sizes.scatter || ranks < sizes.few) return binomial_bcast(env, a);
    return scatter_allgather_bcast(env, a, bytes >= sizes.ring || !std::has_single_bit(ranks));
}

// Reduce and allreduce.

/// The steps in reverse: in each, a rank receives the half that its peer has kept.
template <class Env>
Task gather_halves_to_all(Env& env, Messages<Env>& m, Folding const& folding, std::byte* sum,
                          HalvingRanges const& halving) {
    int const position = folding.position(env.rank());
    for (int step = halving.steps - 1; step >= 0; --step) {
        int const peer = folding.rank_at(position ^ 1 << step);
        Range const mine = halving.kept(step), other = halving.sent(step);
        co_await m.exchange(peer, packed_part(sum + mine.first, mine.bytes()), peer, other.bytes(),
                            copy_into(env, sum + other.first));
    }
}

template <class Env>
Task rabenseifner_allreduce(Env& env, ReduceArgs const& a, Combining combining = Combining::lean) {
    if (a.bytes() == 0) co_return;
    Folding const folding(env.size());
    PartialResult<Env> partial(env, a, result_if_contiguous(a, true), combining);
    Messages<Env> m(env, partial.element());
    co_await fold(env, m, a, folding, partial);
    if (folding.participates(env.rank())) {
        HalvingRanges halving;
        co_await halve(env, m, folding, partial, a.bytes(), halving);
        co_await gather_halves_to_all(env, m, folding, partial.sum(), halving);
        deliver(env, a, partial);
    }
    co_await unfold(env, m, a, folding);
    co_await m.close();
}

/// The data that a step sends must not change while the partial result is built, so it is built in the other one of two
/// places; the last step builds it in the first one if possible.
template <class Env>
Task exchange_by_doubling(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding,
                          PartialResult<Env>& partial) {
    PooledBytes const spare(env.frames(), a.bytes());
    std::byte* const buffers[] = {partial.sum(), spare.get()};
    auto const build_for = [&](int steps_left) { partial.build_sum_at(buffers[steps_left % 2]); };
    build_for(folding.steps());
    co_await fold(env, m, a, folding, partial);
    int const position = folding.position(env.rank());
    for (int step = 0; folding.participates(env.rank()) && step < folding.steps(); ++step) {
        build_for(folding.steps() - step - 1);
        if (partial.sum() == partial.current()) build_for(folding.steps() - step);
        int const peer = folding.rank_at(position ^ 1 << step);
        co_await m.exchange(peer, partial.part(0, a.bytes()), peer, a.bytes(),
                            partial.combiner(0, (position & 1 << step) != 0));
        partial.use_sum();
    }
    if (folding.participates(env.rank())) deliver(env, a, partial);
}

template <class Env>
Task recursive_doubling_allreduce(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Folding const folding(env.size());
    PartialResult<Env> partial(env, a, result_if_contiguous(a, true));
    Messages<Env> m(env, partial.element());
    co_await exchange_by_doubling(env, m, a, folding, partial);
    co_await unfold(env, m, a, folding);
    co_await m.close();
}

/// In each pair, the rank nearer to the root receives the data of the other.
template <class Env>
Task gather_halves_to_root(Env& env, Messages<Env>& m, Folding const& folding, int root, std::byte* sum,
                           HalvingRanges const& halving) {
    int const position = folding.position(env.rank()), away = position ^ folding.position(root);
    for (int step = halving.steps - 1; step >= 0; --step) {
        int const peer = folding.rank_at(position ^ 1 << step);
        if (away & 1 << step) {
            Range const mine = halving.kept(step);
            co_await m.send(peer, packed_part(sum + mine.first, mine.bytes()));
            co_return;
        }
        Range const other = halving.sent(step);
        co_await m.receive(peer, other.bytes(), copy_into(env, sum + other.first));
    }
}

template <class Env>
Task rabenseifner_reduce(Env& env, ReduceArgs const& a, Combining combining = Combining::lean) {
    if (a.bytes() == 0) co_return;
    bool const is_root = env.rank() == a.root;
    Folding const folding(env.size(), a.root);
    PartialResult<Env> partial(env, a, result_if_contiguous(a, is_root), combining);
    Messages<Env> m(env, partial.element());
    co_await fold(env, m, a, folding, partial);
    if (folding.participates(env.rank())) {
        HalvingRanges halving;
        co_await halve(env, m, folding, partial, a.bytes(), halving);
        co_await gather_halves_to_root(env, m, folding, a.root, partial.sum(), halving);
        if (is_root) deliver(env, a, partial);
    }
    co_await m.close();
}

inline constexpr Parameter halving_parameter = {
    "halving", 2048, "bytes up to which reductions in a team send whole vectors; above, Rabenseifner's"};

/// True if a reduction is Rabenseifner's: a predefined operator, more than `halving` bytes, and at least one element
/// for each participant.
inline bool halves_vectors(ReduceArgs const& a, int ranks, std::size_t halving) {
    return a.bytes() > halving && a.op->builtin != BuiltinOp::none &&
           a.count >= static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(ranks)));
}
/// `a` must stay valid.
template <class Env>
Task ordinary_reduce(Env& env, ReduceArgs const& a, std::size_t halving) {
    if (halves_vectors(a, env.size(), halving)) return rabenseifner_reduce(env, a);
    return reduce_by_shape(env, a, binomial_tree, one_segment);
}
template <class Env>
Task ordinary_allreduce(Env& env, ReduceArgs const& a, std::size_t halving) {
    if (halves_vectors(a, env.size(), halving)) return rabenseifner_allreduce(env, a);
    return recursive_doubling_allreduce(env, a);
}

}   // namespace tutti::coll
