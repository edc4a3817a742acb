// SPDX-License-Identifier: BSD-3-Clause
// Gather along a binomial tree: each rank collects the parts of its subtree and hands them on as one message.
// ⌈log2 p⌉ messages in a row. Bytes: a part is copied once for each step of its way to the root, ½·n·p·log2 p in all.
#include <memory>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/binomial.hpp"
#include "coll/blocks/messages/block_row.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::gather {
namespace {

/// Deals packed parts of `each` bytes, place after place, out to the root's buffers.
template <class Env>
auto deal_out(Env& env, RootedArgs const& a, int first_place, std::size_t each) {
    return [&env, &a, first_place, each](std::byte const* from, std::size_t at, std::size_t n) {
        for (std::size_t end = at + n; at < end;) {
            std::size_t const within = at % each, length = std::min(each - within, end - at);
            int const place = first_place + static_cast<int>(at / each);
            env.store(a.parts[(place + a.root) % env.size()], within, from, length);
            from += length;
            at += length;
        }
    };
}

}   // namespace

template <class Env>
Task binomial(Env& env, RootedArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    BinomialPlace const at(env, a.root);
    std::size_t const each = a.largest, under = each * static_cast<std::size_t>(at.end() - at.place);
    bool const root = at.place == 0;
    PooledBytes packed;
    if (root && !a.in_place_at_root) deliver_own(env, a.parts[a.root], a.mine, 2 * under, truncation);
    if (!root && !at.children.empty()) {
        packed = PooledBytes(env.frames(), under);
        env.load(packed.get(), a.mine, 0, each);
    }
    for (int child : at.children) {
        if (each == 0) break;
        int const from = at.rank_at(child);
        std::size_t const bytes = each * static_cast<std::size_t>(at.end_of(child) - child);
        std::size_t const before = each * static_cast<std::size_t>(child - at.place);
        if (root) co_await m.receive(from, bytes, deal_out(env, a, child, each));
        else co_await m.receive(from, bytes, m.into(packed_buffer(packed.get(), under), before));
        truncation.compare(from, m.received(from), bytes);
    }
    if (!root && each > 0) {
        ConstBuffer const out = packed ? packed_buffer(packed.get(), under) : a.mine;
        co_await m.send(at.parent_rank(), {out, 0, under});
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<RootedArgs> binomial_algorithm = {
    "binomial",
    "every rank hands the parts of its subtree to its parent",
    Family::baseline,
    "folklore; the default of several MPI libraries for short messages",
    requires_equal_parts | requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(binomial)};

}   // namespace tutti::coll::algorithms::gather
