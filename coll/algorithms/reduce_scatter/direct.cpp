// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) by load from everybody's buffers: each rank combines its share straight from all operands in
// one pass into its result. Two exchanges, no staging; p·s bytes are loaded by all ranks together and s stored.
//
// In place a rank's result lies at the start of its operand, where others still read: it combines its share where that
// lies in its own operand, which nobody else reads, and moves it to the start when all have finished.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement and the way without it: direct_access.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/reduce/scatter_blocks.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task direct(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), {});
    co_await access.agree();
    if (!access.granted()) {
        co_await scatter_in_blocks(env, a, a.parameters[0]);
        co_return;
    }
    auto const my_count = a.counts.begin() + env.rank();
    std::size_t const n = static_cast<std::size_t>(*my_count), bytes = n * element_bytes(a),
                      first = element_bytes(a) * std::accumulate(a.counts.begin(), my_count, std::size_t{0});
    std::byte* const result = first_byte(Buffer{a.out, *my_count, a.type});
    void* const to = a.in ? result : result + first;
    // What does not stay in this rank's cache anyway is written past it.
    Reducer reducer(env.traffic(), a);
    if (env.outgrows_core(2 * bytes)) reducer.stream(access.operands(first), env.size(), &to, 1, 0, n);
    else reducer.combine(access.operands(first), env.size(), to, n);
    co_await access.leave_together();
    if (to != result) std::memmove(result, to, bytes);
}

constexpr Parameter direct_parameters[] = {
    {"block", 32768, "bytes of each rank's share in a step where some rank's buffers cannot be reached"},
};
extern constinit const Algorithm<ReduceScatterArgs> direct_algorithm = {
    "direct",          "every rank reduces its share straight from all buffers",
    Family::tutti,     "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind, direct_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::reduce_scatter
