// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) by recursive halving: first the ranks p/2 apart exchange the halves of the vector that the
// half of the ranks on the other side wants, and combine them; then those p/4 apart, and so on. With p ranks, p no
// power of two, one of each of the first pairs of neighbours hands its vector over first and gets its share at the end.
// log2(p) steps (+ 2); each rank sends and combines s (p − 1)/p. TcpTransport ranks are combined first: operators
// commute. Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/halving.hpp"
#include "coll/blocks/reduce/shares.hpp"

namespace tutti::coll::algorithms::reduce_scatter {
namespace {

template <class Env>
Task halve_ranks(Env& env, Messages<Env>& m, Folding const& folding, Shares const& shares, Partial<Env>& partial) {
    int const position = folding.position(env.rank());
    auto const cut = [&](int at) { return shares.start(folding.first_at(at)); };
    int first = 0, end = folding.participants();
    for (int distance = end / 2; distance > 0; distance /= 2) {
        int const peer = folding.rank_at(position ^ distance), middle = first + distance;
        bool const lower = (position & distance) == 0;
        Range const low{cut(first), cut(middle)}, high{cut(middle), cut(end)};
        Range const kept = lower ? low : high, given = lower ? high : low;
        co_await m.exchange(peer, partial.part(given.first, given.end), peer, kept.bytes(),
                            partial.adding(kept.first, !lower));
        partial.combined();
        if (lower) end = middle;
        else first = middle;
    }
}

}   // namespace

template <class Env>
Task recursive_halving(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    Folding const folding(env.size());
    Shares const shares(a, env.frames());
    Partial<Env> partial(env, a);
    Messages<Env> m(env, partial.element());
    int const rank = env.rank(), partner = folding.partner(rank);
    co_await fold(env, m, a, folding, partial);
    if (folding.takes_part(rank)) {
        co_await halve_ranks(env, m, folding, shares, partial);
        if (partner >= 0) co_await m.send(partner, partial.part(shares.start(partner), shares.end(partner)));
        shares.deliver(env, partial.now() + shares.start(rank));
    } else {
        co_await m.receive(partner, shares.bytes(rank), m.into(shares.result(rank), 0));
    }
    co_await m.close();
}

extern constinit const Algorithm<ReduceScatterArgs> recursive_halving_algorithm = {
    "recursive_halving",
    "ranks p/2, p/4, … apart combine the half that each side wants",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_commuting_operator | requires_grouping | requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(recursive_halving)};

}   // namespace tutti::coll::algorithms::reduce_scatter
