// SPDX-License-Identifier: BSD-3-Clause
// Broadcast over the levels of the machine, pipelined: the members of each team copy pieces from their leader's buffer
// while it gets the next ones from its own. Small messages go along a binomial tree, copied in and out.
// L + s/piece steps. Bytes: (p − 1)·s copied once, one copy into each team from outside of it.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and VI.B (sizes of pieces). The paper has
// two levels and one size of pieces for both; here they are any number, each with its own.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/messages/binomial.hpp"
#include "coll/blocks/trees/piece_tree.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task knem_pipelined(Env& env, BcastArgs const& a) {
    if (a.data.bytes() < a.parameters[1]) {
        co_await binomial_bcast(env, a);
        co_return;
    }
    std::size_t const parameter = a.data.bytes() < a.parameters[4] ? 2 : 3;
    typename PieceTree<Env>::Pieces pieces;
    for (int level = 0; level < max_levels; ++level)
        pieces[static_cast<std::size_t>(level)] = a.parameters.at(parameter, level);
    PieceTree<Env> tree(env, env.hierarchy(), a, pieces);
    co_await tree.run();
}

constexpr Parameter knem_pipelined_parameters[] = {
    hierarchy_parameter,
    knem_least_parameter,
    {"piece", 16384, "bytes that a team copies at a time", ParameterKind::per_level},
    {"large_piece", 524288, "the same in large messages", ParameterKind::per_level},
    {"large", 2097152, "bytes from which a message is large"}};
extern constinit const Algorithm<BcastArgs> knem_pipelined_algorithm = {
    "knem_pipelined",          "every team copies pieces from its leader's buffer, level after level",
    Family::knem_coll,         "KNEM-Coll, sections IV and VI.B",
    requires_nothing,          knem_pipelined_parameters,
    TUTTI_RUNS(knem_pipelined)};

}   // namespace tutti::coll::algorithms::bcast
