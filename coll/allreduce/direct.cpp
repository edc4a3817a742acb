// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by load and store in everybody's buffers: each rank combines its share of the index range straight from all
// operands in one pass and writes it into all results, piece by piece. Two exchanges, no staging; p·s bytes are loaded
// once by all ranks together and p·s stored. (Reading the shares back from their owners costs another exchange and
// another p·s loaded, and took twice as long.)
//
// Range r of every operand is read by rank r alone, before rank r writes that range of the results: in place the
// operand may be the result. Nobody returns before all have written.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement and the way without it: direct_access.hpp.
#include "coll/direct_access.hpp"
#include "coll/tree_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), shown_result(a));
    co_await DirectAccess<Env>::agree(env, access);
    if (!access.granted()) {
        TreeReduction<Env> reduction(env, env.one_team(), a, -1, a.parameters[2], a.parameters[1]);
        co_await reduction.run();
        co_return;
    }
    std::size_t const element = static_cast<std::size_t>(a.type->size()), piece = whole_lines(a.parameters[0], element);
    std::size_t const working_set = static_cast<std::size_t>(env.size()) * a.bytes() * (a.in ? 2 : 1);
    Share const share(a.bytes(), element, env.rank(), env.size(), a.parameters[1]);
    std::byte* const mine = access.outs()[static_cast<std::size_t>(env.rank())];
    for (std::size_t at = share.first; at < share.last; at += piece) {
        std::size_t const n = std::min(piece, share.last - at);
        access.combine(a, at, n, mine + at);
        for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
            if (++peer == env.size()) peer = 0;
            env.copy(access.outs()[static_cast<std::size_t>(peer)] + at, mine + at, n, working_set);
        }
    }
    co_await DirectAccess<Env>::leave_together(env);
}

constexpr Parameter direct_parameters[] = {
    {"chunk", 16384, "bytes that are combined and passed on at a time"},
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"block", 32768, "bytes of a block where some rank's buffers cannot be reached"},
};
constinit const Algorithm<ReduceArgs> direct_algorithm = {
    "direct", "every rank reduces its range of all buffers and writes it into all results", "Hashmi et al., IPDPS 2018",
    needs_one_kind, direct_parameters, TUTTI_RUNS(direct)};

}  // namespace tutti::coll::algorithms::allreduce
