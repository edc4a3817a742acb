// SPDX-License-Identifier: BSD-3-Clause
// Broadcast of long messages: p blocks are scattered along a binomial tree, then gathered by all, round a ring or by
// recursive doubling. ⌈log2 p⌉ + p − 1 messages in a row with the ring, about 2 log2 p with doubling; each rank sends
// and receives about 2s·(p − 1)/p bytes at most, instead of s·log2 p.
// Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, "Interprocessor collective communication library", SHPCC 1994;
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Broadcast" (long messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/binomial.hpp"
#include "coll/blocks/messages/block_row.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task scatter_allgather(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPlace const at(env, a.root);
    std::size_t const bytes = a.data.bytes(), ranks = static_cast<std::size_t>(env.size());
    std::size_t const block = ((bytes + ranks - 1) / ranks + cache_line - 1) / cache_line * cache_line;
    BlockRow row{a.data, {}, bytes * ranks};
    for (std::size_t i = 0; i <= ranks; ++i) row.at.push_back(std::min(bytes, i * block));

    if (at.place > 0) {
        std::size_t const under = row.bytes(at.place, at.end());
        co_await m.receive(at.parent_rank(), under, m.into(a.data, row.start(at.place), row.working_set));
        truncation.compare(at.parent_rank(), m.received(at.parent_rank()), under);
    }
    co_await start_children(env, m, at, [&](int child) { return row.part(child, at.end_of(child)); });
    co_await finish_children(env, m, at);

    if (a.parameters[0] == 0) {
        co_await ring_blocks(env, m, row, a.root, truncation);
    } else {
        Doubling<Env> doubling(env, m, row, a.root, truncation);
        co_await doubling.run();
    }
    co_await m.close();
    truncation.check(env);
}

constexpr Parameter scatter_allgather_parameters[] = {
    {"allgather", 0, "how the blocks get to everybody: round a ring, or by recursive doubling", ParameterKind::word,
     "ring|doubling"}};
extern constinit const Algorithm<BcastArgs> scatter_allgather_algorithm = {
    "scatter_allgather",
    "blocks scattered along a binomial tree, then gathered by all",
    Family::baseline,
    "van de Geijn and others, SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 2005, Broadcast",
    requires_nothing,
    scatter_allgather_parameters,
    TUTTI_RUNS_ANYWHERE(scatter_allgather)};

}   // namespace tutti::coll::algorithms::bcast
