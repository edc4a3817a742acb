// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by load and store in everybody's buffers: each rank combines its share of the index range straight from all
// operands in one pass and writes it into all results. Two exchanges, no staging; p·s bytes are loaded by all ranks
// together and p·s stored. (Reading the shares back from their owners costs another exchange and another p·s loaded.)
//
// Range r of every operand is read by rank r alone, before rank r writes that range of the results: in place the
// operand may be the result. Nobody returns before all have written.
// In large operations that suspend, who waits combines the shares of those who compute, piece by piece: a piece is one
// rank's from its reading to its writing all the same, and nobody returns before all are written.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement and the way without it: direct_access.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/either_side.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/trees/tree_reduction.hpp"

namespace tutti::coll::algorithms::allreduce {

namespace {

constexpr std::size_t worth_pieces = 65536;   // bytes; below, the pieces cost more than there is to hide

/// Bytes [first, first + bytes) of all operands into all results, this rank's first.
template <class Env>
void combine(Env& env, ReduceArgs const& a, DirectAccess<Env>& access, std::size_t first, std::size_t bytes) {
    auto const own = access.outs().begin() + env.rank();
    PooledVector<void*> to(env.frames());
    for (std::byte* out : std::span(own, access.outs().end())) to.push_back(out + first);
    for (std::byte* out : std::span(access.outs().begin(), own)) to.push_back(out + first);
    std::size_t const n = bytes / element_bytes(a);
    Reducer reducer(env.traffic(), a);
    // What does not stay in the reader's cache anyway is written there past the cache.
    if (env.outgrows_core(2 * a.bytes()))
        reducer.stream(access.operands(first), env.size(), to.data(), env.size(), 1, n);
    else reducer.spread(access.operands(first), env.size(), to.data(), env.size(), n);
}

/// The word of each rank says which pieces of its share are taken, and then which are done.
template <class Env>
Task by_whoever_comes(Env& env, ReduceArgs const& a, DirectAccess<Env>& access) {
    auto const of = [&](int rank) { return Share(a.bytes(), element_bytes(a), rank, env.size(), a.parameters[0]); };
    auto const cut = [&](Share const& share) {
        return CopyPieces(share.last - share.first, CopyPieces::most, line_of(element_bytes(a)));
    };
    for (int i = 0; i < env.size(); ++i) {
        int const owner = (env.rank() + i) % env.size();
        Share const share = of(owner);
        CopyPieces const pieces = cut(share);
        copy_pieces(env, owner, 0, pieces, i == 0 ? From::front : From::back, [&](std::size_t at, std::size_t n) {
            combine(env, a, access, share.first + at, n);
            env.claim(owner, pieces.count + static_cast<int>(at / pieces.step));
        });
    }
    for (int owner = 0; owner < env.size(); ++owner)
        if (int const pieces = cut(of(owner)).count) co_await env.until_claimed(owner, 2 * pieces);
}

}   // namespace

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
    if (env.suspends() && a.bytes() >= worth_pieces) {
        co_await env.later();
        co_await by_whoever_comes(env, a, access);
        co_return;
    }
    Share const share(a.bytes(), element_bytes(a), env.rank(), env.size(), a.parameters[0]);
    combine(env, a, access, share.first, share.last - share.first);
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
