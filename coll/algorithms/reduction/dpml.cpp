// SPDX-License-Identifier: BSD-3-Clause
// DPML (data partitioning based multi-leader) reductions, one-level and two-level, for allreduce, reduce and
// reduce_scatter; the common part is coll/blocks/multi_leader.hpp.
//
// dpml: every rank copies its whole operand into shared memory; every rank leads one slice and reduces it there,
// operand by operand, copying the first. Two steps per round of p·slice bytes. Operators need not commute.
// DPML (Bayatpour et al., SC 2017), with the data volume and the reduction in pieces of YHCCL's paper, sections 3 and
// 5.3.
//
// dpml_two_level, for small messages: every rank copies its operand into shared memory, the members of each socket
// divide its reduction among themselves, and each rank combines the sockets' results of its slice. Three steps per
// round of p·slice bytes, in which a rank waits for its own socket and for the ranks with the same slice. Sockets of
// consecutive ranks keep the order of operands.
// YHCCL (Peng et al., SC 2023), section 5.1; coll/blocks/sliced.hpp defines what counts as a socket.
//
// Bytes loaded and stored by all ranks together, and who copies the slices out:
//                    allreduce: all ranks    reduce: the root    reduce_scatter: no rank
//   dpml             (7p − 1)·s              (5p + 1)·s          (5p − 1)·s
//   dpml_two_level   (7p − 3)·s              (5p − 1)·s          (5p − 3)·s
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/multi_leader.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task dpml(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders(env, a, Receives::all);
}
template <class Env>
Task dpml_two_level(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders_of_sockets(env, a, Receives::all);
}

constexpr RecordHead dpml_head = {
    "dpml",           "every rank stages its operand and reduces one slice, operand by operand",
    Family::baseline, "DPML (Bayatpour et al., SC 2017)",
    requires_nothing, dpml_parameters,
};
constexpr RecordHead dpml_two_level_head = {
    "dpml_two_level",
    "sockets reduce their members' staged operands, then each rank combines a slice of them",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.1",
    requires_commutative_or_consecutive,
    dpml_two_level_parameters,
};

extern constinit const Algorithm<ReduceArgs> dpml_algorithm = {dpml_head, TUTTI_SHM_ONLY(dpml), {"(7*p - 1)*s"}};
extern constinit const Algorithm<ReduceArgs> dpml_two_level_algorithm = {
    dpml_two_level_head, TUTTI_SHM_ONLY(dpml_two_level), {"(7*p - 3 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::allreduce

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task dpml(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders(env, a, Receives::root);
}
template <class Env>
Task dpml_two_level(Env& env, ReduceArgs const& a) {
    return reduce_by_leaders_of_sockets(env, a, Receives::root);
}

extern constinit const Algorithm<ReduceArgs> dpml_algorithm = {
    allreduce::dpml_head, TUTTI_SHM_ONLY(dpml), {"(5*p + 1)*s"}};
extern constinit const Algorithm<ReduceArgs> dpml_two_level_algorithm = {
    allreduce::dpml_two_level_head, TUTTI_SHM_ONLY(dpml_two_level), {"(5*p - 1 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::reduce

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task dpml(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_leaders(env, a, Receives::own);
}
template <class Env>
Task dpml_two_level(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_leaders_of_sockets(env, a, Receives::own);
}

extern constinit const Algorithm<ReduceScatterArgs> dpml_algorithm = {
    allreduce::dpml_head, TUTTI_SHM_ONLY(dpml), {"(5*p - 1)*s"}};
extern constinit const Algorithm<ReduceScatterArgs> dpml_two_level_algorithm = {
    allreduce::dpml_two_level_head, TUTTI_SHM_ONLY(dpml_two_level), {"(5*p - 3 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
