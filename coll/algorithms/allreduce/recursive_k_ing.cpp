// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by recursive k-ing: in step i groups of k ranks, k^i apart, combine what they have; ranks beyond the
// highest power of k hand their operands to a proxy and get the result from it. Large messages as several fragments.
// log_k(p) steps, two more with such extra ranks; each rank stages log_k(p)·s and reads (k − 1)·log_k(p)·s.
// Operators need not commute: then an extra rank is the neighbour of its proxy. k = 2 is recursive doubling.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV, without hierarchy.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/schedule/run.hpp"

namespace tutti::coll::algorithms::allreduce {

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
    {"in_flight", 4, "fragments under way at once", ParameterKind::number},
};
extern constinit const Algorithm<ReduceArgs> recursive_k_ing_algorithm = {
    "recursive_k_ing",
    "groups of k ranks combine their data, in steps whose strides grow by k",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, section IV",
    requires_nothing,
    recursive_k_ing_parameters,
    TUTTI_RUNS(recursive_k_ing)};

}   // namespace tutti::coll::algorithms::allreduce
