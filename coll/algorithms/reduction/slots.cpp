// SPDX-License-Identifier: BSD-3-Clause
// Reductions of small messages through slots: allreduce (exchange, hierarchical_slots), reduce (slots), reduce_scatter
// (slots).
//
// reduce/slots: every rank writes its slot and returns; the root reduces all slots in rank order. One step; s bytes
// written per rank, p·s read by the root.
#include <numeric>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/tree.hpp"

// allreduce/exchange: every rank writes its slot and reduces all slots in rank order, so that the result has the same
// bits at all ranks. One step; s bytes written, p·s read and reduced by each rank.

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task exchange(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
    fold_slots(env, a, env.size() - 1);
}

extern constinit const Algorithm<ReduceArgs> exchange_algorithm = {"exchange",
                                                                   "every rank reduces the slots of all ranks",
                                                                   Family::tutti,
                                                                   "Tutti",
                                                                   requires_slot,
                                                                   {},
                                                                   TUTTI_SHM_ONLY(exchange),
                                                                   {"p*(p + 3)*s"}};

// allreduce/hierarchical_slots: a tree in each team; parents combine their children's slots into their own, then all
// copy the result from their parent's. The number of steps up equals that down; it is one if a team has at most
// `degree` other members. s bytes written and combined per rank, and as many read on the way down. No rank waits for
// its readers.
// XHC (Katevenis, Ploumidis, Marazakis), section IV, the copy-in-copy-out path.
//
// Reuse: a slot is written twice: the partial result of the subtree (step 1), then the result (step 2). The parent has
// read the former before it publishes the latter, for which its child waits before it writes again.

namespace {

enum Step : std::uint64_t { sum_ready = 1, result_ready };

/// The leader of a team has further children in the next team.
TreePosition position_in_teams(FramePool& frames, topo::Hierarchy const& tree, int rank, std::size_t degree) {
    TreePosition position(frames);
    for (int level = 0; level < tree.levels_of(rank); ++level) {
        topo::Team const team = tree.team(level, rank);
        int const group = static_cast<int>(std::max<std::size_t>(1, degree)) + 1;
        TreePosition const t = tree_of_groups(frames, team.my_index, static_cast<int>(team.members.size()), group);
        if (t.parent >= 0) position.parent = team.members[t.parent];
        for (int child : t.children) position.children.push_back(team.members[child]);
    }
    return position;
}

}   // namespace

template <class Env>
Task hierarchical_slots(Env& env, ReduceArgs const& a) {
    std::size_t const bytes = a.bytes();
    TreePosition const position = position_in_teams(env.frames(), env.hierarchy(), env.rank(), a.parameters[1]);
    Reducer reducer(env.traffic(), a);
    std::size_t const elements = bytes / std::max<std::size_t>(1, reducer.element_bytes());   // some have no bytes
    std::byte* const own = env.slot(bytes);
    env.load(own, operand(a), 0, bytes);
    for (int child : position.children) {
        co_await env.until(child, sum_ready);
        void const* const operands[] = {own, env.slot(child, bytes)};
        reducer.combine(operands, 2, own, elements);
    }
    std::byte const* sum = own;
    if (position.parent >= 0) {
        env.publish(sum_ready);
        co_await env.until(position.parent, result_ready);
        sum = env.slot(position.parent, bytes);
        if (!position.children.empty()) {
            env.count(bytes, bytes);
            copy_bytes(own, sum, bytes);
        }
    }
    if (!position.children.empty()) env.publish(result_ready);
    env.store(result(a), 0, sum, bytes);
}

constexpr Parameter hierarchical_slots_parameters[] = {
    hierarchy_parameter, {"degree", 31, "children of a parent in each step of a team's tree", ParameterKind::number}};
extern constinit const Algorithm<ReduceArgs> hierarchical_slots_algorithm = {
    "hierarchical_slots",
    "parents combine slots up the levels of the hierarchy, and pass the result down",
    Family::tutti,
    "after XHC, section IV (copy-in-copy-out)",
    requires_slot | requires_commutative_or_consecutive,
    hierarchical_slots_parameters,
    TUTTI_SHM_ONLY(hierarchical_slots),
    {"(7*p - 5 + 2*group_parents(degree + 1))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task slots(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    if (env.rank() != a.root) co_return;
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != a.root) co_await env.until(peer);
    fold_slots(env, a, env.size() - 1);
}

extern constinit const Algorithm<ReduceArgs> slots_algorithm = {"slots",
                                                                "the root reduces the slots of all ranks",
                                                                Family::tutti,
                                                                "Tutti",
                                                                requires_slot,
                                                                {},
                                                                TUTTI_SHM_ONLY(slots),
                                                                {"(3*p + 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce

// reduce_scatter(_block)/slots: every rank writes its whole vector into its slot and reduces its share of all slots in
// rank order. One step; s bytes written and s read by each rank.

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task slots(Env& env, ReduceScatterArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
    auto const mine = a.counts.begin() + env.rank();
    fold_slots(env, a, 0, env.size() - 1, std::accumulate(a.counts.begin(), mine, std::int64_t{0}), *mine);
}

extern constinit const Algorithm<ReduceScatterArgs> slots_algorithm = {"slots",
                                                                       "every rank reduces its share of all slots",
                                                                       Family::tutti,
                                                                       "Tutti",
                                                                       requires_slot,
                                                                       {},
                                                                       TUTTI_SHM_ONLY(slots),
                                                                       {"(3*p + 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
