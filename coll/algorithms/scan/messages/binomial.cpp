// SPDX-License-Identifier: BSD-3-Clause
// Scan along binomial trees: up, rank r collects the sum of its 2^k last ranks, 2^k the lowest bit of r + 1; down, it
// gets the prefix of the rank before these and hands its own to ranks nearer and nearer.
// At most 2 ⌈log2 p⌉ messages of s bytes in a row, fewer than 2 p in all, read where they lie or staged once.
// Sanders, Träff, "Parallel prefix (scan) algorithms for MPI", EuroPVM/MPI 2006, binomial tree.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/prefix/buffers.hpp"

namespace tutti::coll::algorithms::scan {

template <class Env>
Task binomial(Env& env, ReduceArgs const& a) {
    std::size_t const element = element_of(a), bytes = a.bytes();
    Messages<Env> m(env, element);
    Reducer reducer(env.traffic(), a);
    PrefixBuffers<Env> buffers(env, a, Segments(bytes, element, whole), true);
    if (bytes == 0) co_return;
    std::byte const* own = buffers.own(0);   // or the sum, once there is one
    std::byte* sum = buffers.prefix(0);
    if (env.rank() == 0 && own != sum) env.copy(sum, own, bytes, 0);
    int const rank = env.rank(), reach = (rank + 1) & -(rank + 1);
    auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {from, own + at};
        reducer.combine(operands, 2, sum + at, n / element);
    };
    for (int bit = 1; bit < reach; bit *= 2, own = sum) co_await m.receive(rank - bit, bytes, add);
    if (rank + reach < env.size()) co_await m.send(rank + reach, packed_part(own, bytes));
    if (rank >= reach) co_await m.receive(rank - reach, bytes, add);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (rank + bit < env.size()) co_await m.start(rank + bit, packed_part(sum, bytes));
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (rank + bit < env.size()) co_await m.finish(rank + bit);
    buffers.end(0);
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> binomial_algorithm = {"binomial",
                                                                   "sums go up a binomial tree, prefixes down again",
                                                                   Family::baseline,
                                                                   "Sanders, Träff, EuroPVM/MPI 2006",
                                                                   requires_grouping,
                                                                   {},
                                                                   TUTTI_RUNS_ANYWHERE(binomial)};

}   // namespace tutti::coll::algorithms::scan
