// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's broadcasts: knem_linear and knem_pipelined, both a PieceTree (coll/blocks/knem.hpp, which also has the
// parameters).
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and V.B.
//
// knem_linear: the root exposes its buffer once, and all other ranks copy it as a whole, concurrently; the root returns
// when all have acknowledged. Small messages are sent as `small` says. Two steps. Bytes: (p − 1)·s copied once, by the
// receivers' cores.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B; small messages: V.A and II.
#include "coll/blocks/knem.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::bcast {

extern Algorithm<BcastArgs> const binomial_algorithm, knomial_algorithm, binary_algorithm, split_binary_algorithm,
    chain_algorithm, linear_algorithm;

namespace {

constexpr Parameter small_parameter = knem_small_parameter("binomial|knomial|binary|split_binary|chain|linear");
constexpr Algorithm<BcastArgs> const* small_algorithms[] = {&binomial_algorithm, &knomial_algorithm,
                                                            &binary_algorithm,   &split_binary_algorithm,
                                                            &chain_algorithm,    &linear_algorithm};
/// Of both algorithms.
constexpr char knem_bytes[] =
    "s < least ? (small < 1 ? bcast_binomial(p, root) : small < 2 ? bcast_knomial(p, root) : "
    "small < 3 ? bcast_binary(p, root) : small < 4 ? bcast_split_binary(p, root) : "
    "small < 5 ? bcast_chain(p, root) : bcast_linear(p, root)) : 2*(p - 1)*s";

}   // namespace

template <class Env>
Task knem_linear(Env& env, BcastArgs const& a) {
    if (a.data.bytes() < a.parameters[LinearParameter::least]) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[LinearParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[LinearParameter::through]);
    PieceTree<Env> tree(env, env.one_team(), a.data, a.root, whole_pieces(a.data.bytes()));
    co_await tree.run();
}

constexpr Parameter knem_linear_parameters[] = {knem_least_parameter, small_parameter, knem_through_parameter};
extern constinit const Algorithm<BcastArgs> knem_linear_algorithm = {"knem_linear",
                                                                     "all ranks copy the root's buffer concurrently",
                                                                     Family::knem_coll,
                                                                     "KNEM-Coll, section V.B",
                                                                     requires_kernel_copies,
                                                                     knem_linear_parameters,
                                                                     TUTTI_SHM_ONLY(knem_linear),
                                                                     {knem_bytes}};

// knem_pipelined: broadcast over the levels of the machine. The members of each team copy pieces from their leader's
// buffer while the leader gets the next ones from its own leader. Small messages are sent as `small` says. L + s/piece
// steps. Bytes: (p − 1)·s copied once, one copy into each team from outside of it.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and VI.B (sizes of pieces). The paper has
// two levels and one piece size for both; here there is any number of levels, each with its own piece size.

template <class Env>
Task knem_pipelined(Env& env, BcastArgs const& a) {
    if (a.data.bytes() < a.parameters[LevelsParameter::least]) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[LevelsParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[LevelsParameter::through]);
    PieceTree<Env> tree(env, env.hierarchy(), a.data, a.root, pieces_of(a.parameters, a.data.bytes()));
    co_await tree.run();
}

constexpr Parameter knem_pipelined_parameters[] = {
    hierarchy_parameter,  knem_least_parameter, knem_piece_parameter,  knem_large_piece_parameter,
    knem_large_parameter, small_parameter,      knem_through_parameter};
extern constinit const Algorithm<BcastArgs> knem_pipelined_algorithm = {
    "knem_pipelined",
    "every team copies pieces from its leader's buffer, level after level",
    Family::knem_coll,
    "KNEM-Coll, sections IV and VI.B",
    requires_kernel_copies,
    knem_pipelined_parameters,
    TUTTI_SHM_ONLY(knem_pipelined),
    {knem_bytes}};

}   // namespace tutti::coll::algorithms::bcast
