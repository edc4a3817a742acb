// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by load and store in everybody's buffers: each rank combines its share of the index range straight from all
// operands in one pass and writes it into all results. Two exchanges, no staging; p·s bytes are loaded by all ranks
// together and p·s stored. (Reading the shares back from their owners costs another exchange and another p·s loaded.)
//
// Range r of every operand is read by rank r alone, before rank r writes that range of the results: in place the
// operand may be the result. Nobody returns before all have written.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement and the way without it: direct_access.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/trees/tree_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), shown_result(a));
    co_await access.agree();
    if (!access.granted()) {
        TreeReduction<Env> reduction(env, env.one_team(), a, -1, 1, a.parameters[0]);
        co_await reduction.run();
        co_return;
    }
    Share const share(a.bytes(), element_bytes(a), env.rank(), env.size(), a.parameters[0]);
    auto const own = access.outs().begin() + env.rank();
    PooledVector<void*> to(env.frames());
    for (std::byte* out : std::span(own, access.outs().end())) to.push_back(out + share.first);
    for (std::byte* out : std::span(access.outs().begin(), own)) to.push_back(out + share.first);
    std::size_t const n = (share.last - share.first) / element_bytes(a);
    Reducer reducer(env.traffic(), a);
    // What does not stay in the reader's cache anyway is written there past the cache.
    if (env.outgrows_core(2 * a.bytes()))
        reducer.stream(access.operands(share.first), env.size(), to.data(), env.size(), 1, n);
    else reducer.spread(access.operands(share.first), env.size(), to.data(), env.size(), n);
    co_await access.leave_together();
}

constexpr Parameter direct_parameters[] = {
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"block", 32768, "bytes of a block where some rank's buffers cannot be reached"},
};
extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    "direct",          "every rank reduces its range of all buffers and writes it into all results",
    Family::tutti,     "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind, direct_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::allreduce
