// SPDX-License-Identifier: BSD-3-Clause
// Cheetah's reductions: allreduce (cheetah, recursive_k_ing) and reduce (cheetah).
//
// allreduce/cheetah: composed of primitives. n-ary reductions up the levels, recursive k-ing among the leaders at the
// top, n-ary broadcasts down; a sequential schedule. Large messages run through it as several fragments at the same
// time. 2 sum over lower levels of log_n(team) + log_k(top) (+ 2 with extra ranks) steps; every rank except those at
// the top stages s and copies s out; those at the top stage log_k(top)·s and read (k − 1)·log_k(top)·s.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections IV and VI.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/run_schedule.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

enum ParameterIndex : std::size_t { fragment = 1, in_flight, radix, fan_in, fan_out };

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    topo::Team const top = tree.team(tree.levels() - 1, env.rank());
    RecursiveKIngPlan const plan(top.members.size(), static_cast<int>(a.parameters[radix]), !a.op->commutative);
    Schedule schedule(env.frames(), Order::sequential, plan.buffers());
    compose_allreduce(schedule, tree, env.rank(), plan, a.parameters, fan_in, fan_out);
    schedule.finish();
    Reducer reducer(env.traffic(), a);
    ScheduleRun<Env> run(env, schedule, {operand(a), result(a), &reducer, reducer.element_bytes()}, a.bytes(),
                         a.parameters[fragment], a.parameters[in_flight], plan.buffers() + tree.levels());
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments in flight", ParameterKind::number},
    {"radix", 4, "ranks that combine their data in a step at the top", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the reductions of each level", ParameterKind::numbers},
    {"fan_out", 2, "children of a rank in the broadcasts of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<ReduceArgs> cheetah_algorithm = {
    "cheetah",
    "reduce up the levels, recursive k-ing at the top, broadcast down, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections IV and VI",
    requires_commutative_or_consecutive,
    cheetah_parameters,
    TUTTI_SHM_ONLY(cheetah),
    {"t = 1 < m ? m : p; k = min(radix, t); q = power(t, k); x = t - q; "
     "(5*p - 3*t + 3*x + 2*min(x, q) + q*log(t, k)*(k + 1) + 2*teams(top < 1 ? inner(n, fan_out) : 0))*s"}};

// allreduce/recursive_k_ing: in step i groups of k ranks, k^i apart, combine their data; ranks beyond the highest power
// of k pass their operands to a proxy and get the result from it. Large messages as several fragments. log_k(p) steps,
// two more with such extra ranks; each rank stages log_k(p)·s and reads (k − 1)·log_k(p)·s. Operators need not commute:
// then an extra rank is the neighbour of its proxy. k = 2 is recursive doubling.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV, without hierarchy.

template <class Env>
Task recursive_k_ing(Env& env, ReduceArgs const& a) {
    topo::Team const all = env.one_team().team(0, env.rank());
    RecursiveKIngPlan const plan(env.size(), static_cast<int>(a.parameters[0]), !a.op->commutative);
    Schedule schedule(env.frames(), Order::sequential, plan.buffers());
    schedule.exchange(all.members, all.my_index, plan);
    schedule.finish();
    Reducer reducer(env.traffic(), a);
    ScheduleRun<Env> run(env, schedule, {operand(a), result(a), &reducer, reducer.element_bytes()}, a.bytes(),
                         a.parameters[1], a.parameters[2], plan.buffers() + 1);
    co_await run.run();
}

constexpr Parameter recursive_k_ing_parameters[] = {
    {"k", 4, "ranks that combine their data in a step", ParameterKind::number},
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments in flight", ParameterKind::number},
};
extern constinit const Algorithm<ReduceArgs> recursive_k_ing_algorithm = {
    "recursive_k_ing",
    "groups of k ranks combine their data, in steps whose strides grow by k",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, section IV",
    requires_nothing,
    recursive_k_ing_parameters,
    TUTTI_SHM_ONLY(recursive_k_ing),
    {"n = min(k, p); q = power(p, n); x = p - q; (2*p + 3*x + 2*min(x, q) + q*log(p, n)*(n + 1))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/cheetah: n-ary reductions, one per team. The root determines the schedule: teams keep their leaders, data
// moves towards the root's team, which comes last; large messages as several fragments at the same time. Sum over
// levels of log_n(team) steps; every rank but the root stages s bytes, every inner one reads n·s. With an operator that
// is not commutative, data moves to the topmost leader, which passes the result to the root (the paper names no order
// of operands).
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections V and VI.

namespace tutti::coll::algorithms::reduce {
namespace {

enum ParameterIndex : std::size_t { fragment = 1, in_flight, fan_in };

void compose_towards_root(Schedule& s, topo::Hierarchy const& tree, int rank, ReduceArgs const& a) {
    int const last = level_towards(a.root, tree, rank);
    auto const reduce = [&](int level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, nearest_to(a.root, tree, level, team),
                 static_cast<int>(a.parameters.at(fan_in, level)));
    };
    for (int level = 0; level < tree.levels_of(rank); ++level)
        if (level != last) reduce(level);
    if (last >= 0) reduce(last);
}

void compose_in_rank_order(Schedule& s, topo::Hierarchy const& tree, int rank, ReduceArgs const& a) {
    for (int level = 0; level < tree.levels_of(rank); ++level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, team.leader_index, static_cast<int>(a.parameters.at(fan_in, level)));
    }
    int const leader = tree.team(tree.levels() - 1, rank).leader;
    if (leader == a.root) return;
    if (rank == leader) s.expose_to(1, a.root);
    if (rank == a.root) s.receive(leader);
}

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    int const exposed = a.op->commutative ? 1 : 2;
    Schedule schedule(env.frames(), Order::fixed, exposed);
    if (a.op->commutative) compose_towards_root(schedule, tree, env.rank(), a);
    else compose_in_rank_order(schedule, tree, env.rank(), a);
    if (env.rank() == a.root) schedule.finish();
    Reducer reducer(env.traffic(), a);
    ScheduleRun<Env> run(env, schedule, {operand(a), result(a), &reducer, reducer.element_bytes()}, a.bytes(),
                         a.parameters[fragment], a.parameters[in_flight], exposed + tree.levels());
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments in flight", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the reductions of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<ReduceArgs> cheetah_algorithm = {
    "cheetah",
    "an n-ary reduction per team, the root's team last, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections V and VI",
    requires_commutative_or_consecutive,
    cheetah_parameters,
    TUTTI_SHM_ONLY(cheetah),
    {"(3*p - 1 + 2*(teams(inner(n, fan_in)) - parents(fan_in)))*s"}};

}   // namespace tutti::coll::algorithms::reduce
