// SPDX-License-Identifier: BSD-3-Clause
// Cheetah's reductions: allreduce (cheetah, recursive_k_ing) and reduce (cheetah), on one node and over several. Inside
// nodes, levels use shared memory; between nodes, messages. hierarchy=flat is one level of all ranks, hierarchy=node
// the levels (UMA, P2P) of the paper, hierarchy=socket+node the levels (Socket, UMA, P2P).
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

enum ParameterIndex : std::size_t { large = 1, fragment, in_flight, radix, partners, fan_in, fan_out };

// The ranks that combine their data in a step are those of figure 5 (rotated) where this gives the same result at all
// ranks, as the standard requires (MPI 3.1, 5.9.6): if the bits do not depend on the order and the grouping of the
// operands. With floating-point numbers and users' operators they may; then the ranks of a group combine the same
// operands in the same order. Rotation has no order for operators that do not commute: these always use groups.
Partners partners_for(ReduceArgs const& a, std::size_t requested) {
    Basic const kind = a.type->basic();
    bool const exact = a.op->builtin != BuiltinOp::none && kind >= Basic::byte_ && kind <= Basic::uint64;
    bool const rotated = a.op->commutative && (requested == 1 || (requested == 0 && exact));
    return rotated ? Partners::rotated : Partners::groups;
}
constexpr Parameter partners_parameter = {
    "partners", 0,
    "ranks that combine their data: those of figure 5, groups (the same bits at all ranks), or by operator and type",
    ParameterKind::keyword, "auto|rotated|groups"};

Plans::Shape shape_of(std::string_view algorithm, Trees const& trees, ReduceArgs const& a, Partners partners) {
    int const variant = partners == Partners::rotated ? 0 : a.op->commutative ? 1 : 2;
    return {algorithm, -1, variant, &trees, a.parameters.values()};
}

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    Partners const with = partners_for(a, a.parameters[partners]);
    auto const make = [&] {
        topo::Hierarchy const& tree = env.hierarchy();
        ScheduleLevels const levels{tree, env.rank(), std::is_same_v<Env, NetEnv>};
        RecursiveKIngPlan const plan(tree.team(levels.top(), env.rank()).members.size(),
                                     static_cast<int>(a.parameters[radix]), !a.op->commutative);
        auto schedule = std::make_shared<Schedule>(Order::sequential, plan.buffers());
        compose_allreduce(*schedule, levels, plan, with, {a.parameters, fan_in, fan_out});
        schedule->finish();
        return schedule;
    };
    Reducer reducer(env.traffic(), a);
    co_await run_schedule(env, shape_of("allreduce/cheetah", env.trees(), a, with),
                          {operand(a), result(a), &reducer, a.bytes(), reducer.element_bytes()},
                          {a.parameters[large], a.parameters[fragment], a.parameters[in_flight]}, make);
}

std::uint64_t cheetah_operations(ReduceArgs const&, NodePartition const&) { return 1; }

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    large_parameter,
    fragment_of_schedule,
    in_flight_parameter,
    {"radix", 4, "ranks that combine their data in a step at the top", ParameterKind::number},
    partners_parameter,
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
    TUTTI_SHM_AND_NODES(cheetah),
    {"t = 1 < m ? m : p; k = min(radix, t); q = power(t, k); x = t - q; "
     "(5*p - 3*t + 3*x + 2*min(x, q) + q*log(t, k)*(k + 1) + 2*teams(top < 1 ? inner(n, fan_out) : 0))*s"}};

// allreduce/recursive_k_ing: in step i each rank combines its data with that of k − 1 others, k^i, 2 k^i, … ranks away
// (or, see above, with that of its group of k ranks, k^i apart); ranks beyond the highest power of k pass their
// operands to a proxy and get the result from it. Large messages as several fragments. log_k(p) steps, two more with
// such extra ranks; each rank stages log_k(p)·s and reads (k − 1)·log_k(p)·s. Operators need not commute: then an extra
// rank is the neighbour of its proxy. k = 2 is recursive doubling.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV, without hierarchy.

template <class Env>
Task recursive_k_ing(Env& env, ReduceArgs const& a) {
    Partners const with = partners_for(a, a.parameters[1]);
    auto const make = [&] {
        topo::Team const all = env.one_team().team(0, env.rank());
        RecursiveKIngPlan const plan(env.size(), static_cast<int>(a.parameters[0]), !a.op->commutative);
        auto schedule = std::make_shared<Schedule>(Order::sequential, plan.buffers());
        schedule->exchange(all.members, all.my_index, plan, with,
                           std::is_same_v<Env, NetEnv> ? Mechanism::messages : Mechanism::shared_memory);
        schedule->finish();
        return schedule;
    };
    Reducer reducer(env.traffic(), a);
    co_await run_schedule(env, shape_of("allreduce/recursive_k_ing", env.trees(), a, with),
                          {operand(a), result(a), &reducer, a.bytes(), reducer.element_bytes()},
                          {a.parameters[2], a.parameters[3], a.parameters[4]}, make);
}

constexpr Parameter recursive_k_ing_parameters[] = {
    {"k", 4, "ranks that combine their data in a step", ParameterKind::number},
    partners_parameter,
    large_parameter,
    fragment_of_schedule,
    in_flight_parameter,
};
extern constinit const Algorithm<ReduceArgs> recursive_k_ing_algorithm = {
    "recursive_k_ing",
    "each rank combines its data with that of k - 1 ranks, in steps whose strides grow by k",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, section IV",
    requires_nothing,
    recursive_k_ing_parameters,
    TUTTI_SHM_AND_NET(recursive_k_ing),
    {"n = min(k, p); q = power(p, n); x = p - q; (2*p + 3*x + 2*min(x, q) + q*log(p, n)*(n + 1))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/cheetah: a reduction per team, along binary trees in shared memory and n-ary trees between nodes. The root
// determines the schedule: teams keep their leaders, data moves towards the root's team, which comes last; large
// messages as several fragments at the same time. Sum over levels of log_n(team) steps; every rank but the root stages
// s bytes, every inner one reads n·s. With an operator that is not commutative, data moves to the topmost leader, which
// passes the result to the root (the paper names no order of operands).
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections V and VI.

namespace tutti::coll::algorithms::reduce {
namespace {

enum ParameterIndex : std::size_t { large = 1, fragment, in_flight, fan_in, between };

/// `nearest(level, team)`: the index of the member at which the operands of a team meet.
template <class Nearest>
void reduce_at(Schedule& s, ScheduleLevels const& levels, int level, ReduceArgs const& a, Nearest nearest) {
    topo::Team const team = levels.tree.team(level, levels.rank);
    Mechanism const by = levels.mechanism(level);
    std::size_t const degree = by == Mechanism::messages ? a.parameters[between] : a.parameters.at(fan_in, level);
    s.fan_in(team.members, team.my_index, nearest(level, team), static_cast<int>(degree), by);
}

void compose_towards_root(Schedule& s, ScheduleLevels const& levels, ReduceArgs const& a) {
    int const last = level_towards(a.root, levels.tree, levels.rank);
    auto const nearest = [&](int level, topo::Team const& team) {
        return nearest_to(a.root, levels.tree, level, team);
    };
    for (int level = 0; level < levels.tree.levels_of(levels.rank); ++level)
        if (level != last) reduce_at(s, levels, level, a, nearest);
    if (last >= 0) reduce_at(s, levels, last, a, nearest);
}

void compose_in_rank_order(Schedule& s, ScheduleLevels const& levels, ReduceArgs const& a) {
    for (int level = 0; level < levels.tree.levels_of(levels.rank); ++level)
        reduce_at(s, levels, level, a, [](int, topo::Team const& team) { return team.leader_index; });
    int const leader = levels.tree.team(levels.top(), levels.rank).leader;
    if (leader == a.root) return;
    Mechanism const by = levels.mechanism(levels.top());
    if (levels.rank == leader) s.expose_to(1, a.root, by);
    if (levels.rank == a.root) s.receive(leader, by);
}

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    auto const make = [&] {
        ScheduleLevels const levels{env.hierarchy(), env.rank(), std::is_same_v<Env, NetEnv>};
        auto schedule = std::make_shared<Schedule>(Order::fixed, a.op->commutative ? 1 : 2);
        if (a.op->commutative) compose_towards_root(*schedule, levels, a);
        else compose_in_rank_order(*schedule, levels, a);
        if (env.rank() == a.root) schedule->finish();
        return schedule;
    };
    Reducer reducer(env.traffic(), a);
    Plans::Shape const shape{"reduce/cheetah", a.root, !a.op->commutative, &env.trees(), a.parameters.values()};
    co_await run_schedule(env, shape, {operand(a), result(a), &reducer, a.bytes(), reducer.element_bytes()},
                          {a.parameters[large], a.parameters[fragment], a.parameters[in_flight]}, make);
}

std::uint64_t cheetah_operations(ReduceArgs const&, NodePartition const&) { return 1; }

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    large_parameter,
    fragment_of_schedule,
    in_flight_parameter,
    {"fan_in", 2, "children of a rank in the reductions of each level inside a node", ParameterKind::numbers},
    {"between", 4, "children of a rank in the reduction between nodes", ParameterKind::number},
};
extern constinit const Algorithm<ReduceArgs> cheetah_algorithm = {
    "cheetah",
    "a reduction per team (binary inside nodes, n-ary between), the root's team last, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections V and VI",
    requires_commutative_or_consecutive,
    cheetah_parameters,
    TUTTI_SHM_AND_NODES(cheetah),
    {"(3*p - 1 + 2*(teams(inner(n, fan_in)) - parents(fan_in)))*s"}};

}   // namespace tutti::coll::algorithms::reduce
