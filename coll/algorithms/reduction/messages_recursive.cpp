// SPDX-License-Identifier: BSD-3-Clause
// Reductions by recursive halving and doubling with messages: allreduce (rabenseifner, recursive_doubling), reduce
// (rabenseifner), reduce_scatter (recursive_halving). If p is no power of two, one rank of each of the first pairs of
// neighbours first passes its operand to the other (Folding, coll/blocks/halving.hpp). In the form `copied`, halving
// receives the data of a peer before it combines it, (p − 1)·s bytes in total: for p = 2^k and messages that are read
// in place, reduce_scatter then moves the 5·s·(p − 1) bytes and allreduce the 7·s·(p − 1) bytes that YHCCL's tables 1
// and 2 state for Rabenseifner's algorithms.
// The algorithms for allreduce and reduce are in coll/blocks/ordinary.hpp, because mpich_hierarchical consists of
// them as well.
//
// allreduce/rabenseifner: reduce_scatter by recursive vector halving with doubling distance, then an allgather along
// the same pairs in reverse order. 2 log2(p) steps (+ 2); each rank sends 2 s (p − 1)/p and combines s (p − 1)/p. In
// rank order, so operators need not commute. (The paper also halves the vectors of those first pairs; this is the plain
// form of the second paper.)
// Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/halving.hpp"
#include "coll/blocks/ordinary.hpp"
#include "coll/blocks/reducer.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms {
namespace {

constexpr Parameter combining_parameters[] = {combining_parameter};
Combining combining_of(CommonArgs const& a) { return static_cast<Combining>(a.parameters[0]); }

}   // namespace
}   // namespace tutti::coll::algorithms

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task rabenseifner(Env& env, ReduceArgs const& a) {
    return rabenseifner_allreduce(env, a, combining_of(a));
}

extern constinit const Algorithm<ReduceArgs> rabenseifner_algorithm = {
    "rabenseifner",
    "reduce_scatter by recursive halving, allgather by recursive doubling",
    Family::baseline,
    "Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_reassociation,
    combining_parameters,
    TUTTI_SHM_AND_NET(rabenseifner),
    {"q = power(p, 2); 2*form*(p - 1)*s + (p - q)*(5*s + 2*staged(s)) + 5*(q - 1)*s + "
     "2*q*doubling(d, q, staged(s/d/2))",
     "2*log2(p)*latency + 2*(p - 1)/p*s*beta"}};

// allreduce/recursive_doubling: in step i the ranks 2^i apart exchange everything they have and combine it. Of the
// first pairs of neighbours, the rank that passed its operand gets the result. log2(p) steps (+ 2); each rank sends and
// combines log2(p)·s. In rank order, so operators need not commute.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005.

template <class Env>
Task recursive_doubling(Env& env, ReduceArgs const& a) {
    return recursive_doubling_allreduce(env, a);
}

extern constinit const Algorithm<ReduceArgs> recursive_doubling_algorithm = {
    "recursive_doubling",
    "ranks at distances 1, 2, 4, … exchange and combine all that they hold",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(recursive_doubling),
    {"q = power(p, 2); (p - q)*(5*s + 2*staged(s)) + q*log(q, 2)*(3*s + staged(s))", "log2(p)*t(s)"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/rabenseifner: reduce_scatter by recursive vector halving with doubling distance, then a binomial gather to the
// root along the same pairs in reverse order, all in rank order. The rank of a first pair that passes its operand is
// never the root. 2 log2(p) steps (+ 1); each rank combines s (p − 1)/p bytes, and the root receives as many.
// Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task rabenseifner(Env& env, ReduceArgs const& a) {
    return rabenseifner_reduce(env, a, combining_of(a));
}

extern constinit const Algorithm<ReduceArgs> rabenseifner_algorithm = {
    "rabenseifner",
    "reduce_scatter by recursive halving, binomial gather to the root",
    Family::baseline,
    "Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_reassociation,
    combining_parameters,
    TUTTI_SHM_AND_NET(rabenseifner),
    {"q = power(p, 2); r = p - q; v = root < 2*r ? floor(root/2) : root - r; "
     "2*form*(p - 1)*s + r*(3*s + staged(s)) + 3*(q - 1)*s + "
     "doubling(d, q, n = s/d/2; k = mod(s/e, d); odd = mod(floor(s/e/d), 2) < 1 ? k : d - k; q*staged(n) + "
     "(1 + staged(n)/n/2)*(s + (mod(floor(v/d), 2) < 1 ? odd : 0 - odd)*e))",
     "2*log2(p)*latency + 2*(p - 1)/p*s*beta"}};

}   // namespace tutti::coll::algorithms::reduce

// reduce_scatter(_block)/recursive_halving: first the ranks p/2 apart exchange the halves of the vector that belong to
// the ranks on the other side, and combine them; then those p/4 apart, and so on. Of the first pairs of neighbours, the
// rank that passed its vector gets its share at the end. log2(p) steps (+ 2); each rank sends and combines s (p − 1)/p.
// Distant ranks are combined first, so operators must commute.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005.

namespace tutti::coll::algorithms::reduce_scatter {
namespace {

/// `to`: where the last step builds this rank's share; null: in its partial result.
template <class Env>
Task halve_ranks(Env& env, Messages<Env>& m, Folding const& folding, Shares const& shares, PartialResult<Env>& partial,
                 std::byte* to) {
    int const position = folding.position(env.rank());
    auto const cut = [&](int at) { return shares.start(folding.first_at(at)); };
    int first = 0, end = folding.participants();
    for (int distance = end / 2; distance > 0; distance /= 2) {
        int const peer = folding.rank_at(position ^ distance), middle = first + distance;
        bool const lower = (position & distance) == 0;
        Range const low{cut(first), cut(middle)}, high{cut(middle), cut(end)};
        Range const kept = lower ? low : high, sent = lower ? high : low;
        co_await exchange_and_combine(env, m, partial, peer, sent, kept, !lower, distance == 1 ? to : nullptr);
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
    PartialResult<Env> partial(env, a, nullptr, combining_of(a));
    Messages<Env> m(env, partial.element());
    int const rank = env.rank(), partner = folding.partner(rank);
    co_await fold(env, m, a, folding, partial);
    if (folding.participates(rank)) {
        // The last step reads the operand, which must not be overwritten, and builds one share unless there is a pair.
        Buffer const share = shares.result(rank);
        bool const builds = folding.steps() > 0 && partner < 0 && a.in != in_place && share.type->dense(share.count);
        co_await halve_ranks(env, m, folding, shares, partial, builds ? first_byte(share) : nullptr);
        if (partner >= 0) co_await m.send(partner, partial.part(shares.start(partner), shares.end(partner)));
        if (!builds) shares.deliver(env, partial.current() + shares.start(rank));
    } else {
        co_await m.receive(partner, shares.bytes(rank), m.into(shares.result(rank), 0));
    }
    co_await m.close();
}

extern constinit const Algorithm<ReduceScatterArgs> recursive_halving_algorithm = {
    "recursive_halving",
    "ranks at distances p/2, p/4, … exchange halves of the vector and combine their own",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_commutative_operator | requires_reassociation | requires_bounded_gather,
    combining_parameters,
    TUTTI_SHM_AND_NET(recursive_halving),
    {"q = power(p, 2); r = p - q; 2*form*(p - 1)*s + r*(3*s + 4*s/p + staged(s) + staged(s/p)) + 3*(q - 1)*s + "
     "doubling(d, q, d*sum(g, q/d, staged((d + min((g + 1)*d, r) - min(g*d, r))*s/p)))"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
