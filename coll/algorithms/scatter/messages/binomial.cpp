// SPDX-License-Identifier: BSD-3-Clause
// Scatter along a binomial tree: each rank gets the parts of its subtree as one message and hands them on.
// ⌈log2 p⌉ messages in a row. Bytes: a part is copied once for each step of its way, ½·n·p·log2 p in all, and once more
// at a root that is not rank 0 or whose parts do not lie in a row.
#include <memory>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/binomial.hpp"
#include "coll/blocks/messages/block_row.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task binomial(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPlace const at(env, a.root);
    int const size = env.size();
    std::size_t const each = a.largest, under = each * static_cast<std::size_t>(at.end() - at.place);
    bool const root = at.place == 0;
    PooledBytes packed;
    Buffer parts = a.mine;   // of the subtree, in the order of places
    if (root ? a.root != 0 || !in_row(a.parts, size, parts) : !at.children.empty()) {
        packed = PooledBytes(env.frames(), under);
        parts = packed_buffer(packed.get(), under);
    }
    for (int place = 1; root && packed && place < size; ++place)
        env.load(packed.get() + each * static_cast<std::size_t>(place), a.parts[at.rank_at(place)], 0, each);

    if (!root && each > 0) {
        std::size_t const working_set = 2 * each * static_cast<std::size_t>(size);
        co_await m.receive(at.parent_rank(), under, m.into(parts, 0, working_set));
        truncation.compare(at.parent_rank(), m.received(at.parent_rank()), under);
    }
    if (each > 0)
        co_await start_children(env, m, at, [&](int child) -> MessagePart {
            return {parts, each * static_cast<std::size_t>(child - at.place),
                    each * static_cast<std::size_t>(at.end_of(child) - child)};
        });
    if (root && !a.in_place_at_root) deliver_own(env, a.mine, a.parts[a.root], 2 * under, truncation);
    if (!root && packed) env.store(a.mine, 0, packed.get(), each);
    co_await finish_children(env, m, at);
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<RootedArgs> binomial_algorithm = {
    "binomial",
    "every rank hands on the parts of its children's subtrees",
    Family::baseline,
    "folklore; the first half of van de Geijn's broadcast",
    requires_equal_parts | requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(binomial)};

}   // namespace tutti::coll::algorithms::scatter
