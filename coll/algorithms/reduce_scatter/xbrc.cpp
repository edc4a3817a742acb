// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) by load from everybody's buffers: each rank reduces its share operand by operand into its
// result. Two exchanges, no staging.
// 3 (p − 1)·s bytes loaded and stored by all ranks together. Our `direct` takes all operands in one pass: (p + 1)·s.
// XPMEM-based direct reduction, Hashmi et al., IPDPS 2018.
//
// In place a rank's result lies at the start of its operand, where others still read: its share is reduced where it
// lies in the operand, and moved to the start when all have finished.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/reduce/multi_leader.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task xbrc(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), {});
    co_await access.agree();
    if (!access.granted()) {
        co_await reduce_by_leaders(env, env.one_team(), a, Receives::own, Sum::of_two, a.parameters[1],
                                   a.parameters[0]);
        co_return;
    }
    auto const my_count = a.counts.begin() + env.rank();
    std::size_t const n = static_cast<std::size_t>(*my_count), bytes = n * element_bytes(a),
                      first = element_bytes(a) * std::accumulate(a.counts.begin(), my_count, std::size_t{0});
    std::byte* const result = first_byte(Buffer{a.out, *my_count, a.type});
    std::byte* const to = a.in ? result : result + first;
    Reducer reducer(env.traffic(), a);
    fold_from(reducer, {access.operands(first), access.ins().size()}, static_cast<std::size_t>(env.rank()), to, n,
              a.parameters[0]);
    co_await access.leave_together();
    if (to == result) co_return;
    std::memmove(result, to, bytes);
    env.count(bytes, bytes);
}

constexpr Parameter xbrc_parameters[] = {
    {"piece", 16384, "bytes that are reduced at a time"},
    {"slice", 65536, "bytes of a slice where some rank's buffers cannot be reached"},
};
extern constinit const Algorithm<ReduceScatterArgs> xbrc_algorithm = {
    "xbrc",
    "every rank reduces its share of all buffers operand by operand",
    Family::baseline,
    "XPMEM-based direct reduction (Hashmi et al., IPDPS 2018)",
    requires_one_kind,
    xbrc_parameters,
    TUTTI_RUNS(xbrc)};

}   // namespace tutti::coll::algorithms::reduce_scatter
