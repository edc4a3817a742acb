// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: the root shows its buffer once, everybody else copies it from there, all at the same time and as a whole;
// the root returns when all have said so. Small messages go along a binomial tree, copied in and out.
// Two steps. Bytes: (p − 1)·s copied once, by the receivers' cores.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B; small messages: V.A and II.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/messages/binomial.hpp"
#include "coll/blocks/trees/piece_tree.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task knem_linear(Env& env, BcastArgs const& a) {
    if (a.data.bytes() < a.parameters[0]) {
        co_await binomial_bcast(env, a);
        co_return;
    }
    typename PieceTree<Env>::Pieces whole;
    whole.fill(a.data.bytes());
    PieceTree<Env> tree(env, env.one_team(), a, whole);
    co_await tree.run();
}

constexpr Parameter knem_linear_parameters[] = {knem_least_parameter};
extern constinit const Algorithm<BcastArgs> knem_linear_algorithm = {
    "knem_linear",          "everybody copies the root's buffer at the same time",
    Family::knem_coll,      "KNEM-Coll, section V.B",
    requires_nothing,       knem_linear_parameters,
    TUTTI_RUNS(knem_linear)};

}   // namespace tutti::coll::algorithms::bcast
