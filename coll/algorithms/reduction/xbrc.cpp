// SPDX-License-Identifier: BSD-3-Clause
// XBRC, the XPMEM-based direct reduction, for allreduce, reduce and reduce_scatter: ranks load from all ranks' buffers,
// without staging, and combine operand by operand. Tutti's `direct` combines all operands in one pass.
// Hashmi et al., IPDPS 2018.
//
// allreduce/xbrc: each rank reduces its share of the index range into its own result, then copies the other shares from
// the results of their owners. Three exchanges. 5 (p − 1)·s bytes loaded and stored by all ranks together; `direct`:
// 2p·s.
// The volume: YHCCL (Peng et al., SC 2023), section 5.5.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/sliced.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task xbrc(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a), exposed_result(a));
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    constexpr int shares = 1;   // counter: this rank's share is reduced
    std::size_t const smallest = a.parameters[0], element = element_bytes(a);
    Share const mine(a.bytes(), element, env.rank(), env.size(), smallest);
    std::byte* const out = exposed_result(a).data();
    Reducer reducer(env.traffic(), a);
    // In place, the result is this rank's operand, with which the reduction begins.
    fold_from(reducer, {access.operands(mine.first), access.inputs().size()}, static_cast<std::size_t>(env.rank()),
              out + mine.first, (mine.last - mine.first) / element, a.parameters[1]);
    env.ready(shares, 1);
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until_ready(peer, shares, 1);
        Share const share(a.bytes(), element, peer, env.size(), smallest);
        env.count_message(peer);
        env.copy(out + share.first, access.outputs()[static_cast<std::size_t>(peer)] + share.first,
                 share.last - share.first, 2 * a.bytes() * static_cast<std::size_t>(env.size()),
                 static_cast<CopyMode>(a.parameters[2]));
    }
    co_await access.final_barrier();
}

constexpr Parameter xbrc_parameters[] = {
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"piece", 16384, "bytes that are reduced at a time"},
};
constexpr Parameter allreduce_xbrc_parameters[] = {xbrc_parameters[0], xbrc_parameters[1], memmove_copy_parameter};
constexpr RecordHead xbrc_head = {
    "xbrc",
    "every rank reduces its share of all buffers operand by operand, then copies the others",
    Family::baseline,
    "XPMEM-based direct reduction (Hashmi et al., IPDPS 2018)",
    requires_kernels | requires_loadable_buffers,
    xbrc_parameters,
};
extern constinit const Algorithm<ReduceArgs> xbrc_algorithm = {
    xbrc_head.with(allreduce_xbrc_parameters), TUTTI_SHM_ONLY(xbrc), {"5*(p - 1)*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/xbrc: each rank reduces its share of the index range into the root's result. Two exchanges. 3 (p − 1)·s bytes
// loaded and stored by all ranks together; `direct`: (p + 1)·s.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task xbrc(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a),
                             env.rank() == a.root ? exposed_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    Share const share(a.bytes(), element_bytes(a), env.rank(), env.size(), a.parameters[0]);
    auto const root = static_cast<std::size_t>(a.root);
    Reducer reducer(env.traffic(), a);
    // In place, the result is the root's operand, with which the reduction begins.
    fold_from(reducer, {access.operands(share.first), access.inputs().size()}, root,
              access.outputs()[root] + share.first, (share.last - share.first) / element_bytes(a), a.parameters[1]);
    co_await access.final_barrier();
}

extern constinit const Algorithm<ReduceArgs> xbrc_algorithm = {
    allreduce::xbrc_head.described_as(
        "every rank reduces its share of all buffers operand by operand into the root's result"),
    TUTTI_SHM_ONLY(xbrc),
    {"3*(p - 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce

// reduce_scatter(_block)/xbrc: each rank reduces its share into its result. Two exchanges. 3 (p − 1)·s bytes loaded and
// stored by all ranks together; `direct`: (p + 1)·s.
//
// In place, a rank's result is at the start of its operand, which others still read. Therefore the rank reduces its
// share at the share's position in the operand and moves it to the start when all ranks have finished.

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task xbrc(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a), {});
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    auto const my_count = a.counts.begin() + env.rank();
    std::size_t const n = static_cast<std::size_t>(*my_count), bytes = n * element_bytes(a),
                      first = element_bytes(a) * std::accumulate(a.counts.begin(), my_count, std::size_t{0});
    std::byte* const result = first_byte(Buffer{a.out, *my_count, a.type});
    std::byte* const to = a.in ? result : result + first;
    Reducer reducer(env.traffic(), a);
    fold_from(reducer, {access.operands(first), access.inputs().size()}, static_cast<std::size_t>(env.rank()), to, n,
              a.parameters[0]);
    co_await access.final_barrier();
    if (to == result) co_return;
    std::memmove(result, to, bytes);
    env.count(bytes, bytes);
}

constexpr Parameter xbrc_parameters[] = {
    {"piece", 16384, "bytes that are reduced at a time"},
};
extern constinit const Algorithm<ReduceScatterArgs> xbrc_algorithm = {
    "xbrc",
    "every rank reduces its share of all buffers operand by operand",
    Family::baseline,
    "XPMEM-based direct reduction (Hashmi et al., IPDPS 2018)",
    requires_kernels | requires_loadable_buffers,
    xbrc_parameters,
    TUTTI_SHM_ONLY(xbrc),
    {"3*(p - 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
