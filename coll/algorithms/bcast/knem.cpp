// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's broadcasts: knem_linear and knem_pipelined. PieceTree is the broadcast over any number of levels: every
// leader exposes its buffer once, before any data moves; the members of its team copy piece after piece from there,
// concurrently, as soon as the leader has announced a piece, and acknowledge when they have all pieces. With one team
// and one piece it is the linear broadcast. A buffer that cannot be exposed is sent in slices (coll/blocks/pulled.hpp).
// Counters of an exposed buffer: ready[l] pieces of level l that are there.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and V.B.
#include <array>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/pulled.hpp"

namespace tutti::coll {

template <class Env>
class PieceTree {
public:
    /// Bytes that a team copies at a time, by its level.
    using Pieces = std::array<std::size_t, max_levels>;

    PieceTree(Env& env, topo::Hierarchy const& tree, BcastArgs const& a, Pieces const& pieces)
        : env_(env), data_(env, a.data, position_in_hierarchy(env.frames(), tree, env.rank(), a.root), ~std::size_t{0}),
          pieces_(pieces) {
        for (auto& piece : pieces_) piece = std::clamp<std::size_t>(piece, 1, std::max<std::size_t>(1, data_.bytes));
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        if (data_.bytes == 0) co_return;
        if (!data_.position.children.empty()) {
            data_.expose();
            env_.publish();
        }
        if (data_.position.parent < 0) {
            data_.received = data_.bytes;
        } else {
            co_await env_.until(data_.position.parent);
            data_.read_parent();
        }
        co_await announce_pieces();
        while (data_.received < data_.bytes) {
            co_await receive();
            co_await announce_pieces();
        }
        co_await data_.finish();
    }

private:
    Task receive() {
        int const level = data_.position.level, parent = data_.position.parent;
        std::size_t const piece = pieces_[static_cast<std::size_t>(level)], number = data_.received / piece;
        if (!by_slices_ && env_.exposure(parent).access != AccessPath::staged) {
            co_await env_.until_ready(parent, level, number + 1);
            std::size_t const end = std::min(data_.bytes, (number + 1) * piece);
            if (data_.source) data_.load(end);
            else by_slices_ = !data_.fetch(end);
        } else {
            co_await data_.receive_slice();
        }
    }

    /// Announces to the members the pieces that are there.
    Task announce_pieces() {
        if (data_.position.children.empty()) co_return;
        if (data_.access == AccessPath::staged) co_await data_.stage_slices();
        for (int level = 0; data_.access != AccessPath::staged && level < data_.position.led_levels(); ++level) {
            auto const l = static_cast<std::size_t>(level);
            std::size_t const piece = pieces_[l], whole = (data_.bytes + piece - 1) / piece;
            std::uint64_t const announced_count = data_.received == data_.bytes ? whole : data_.received / piece;
            if (announced_count > announced_[l]) env_.ready(level, announced_count);
            announced_[l] = announced_count;
        }
    }

    Env& env_;
    PulledSlices<Env> data_;
    Pieces pieces_;
    bool by_slices_ = false;                              ///< single copy has failed
    std::array<std::uint64_t, max_levels> announced_{};   ///< pieces announced
};

}   // namespace tutti::coll

// knem_linear: the root exposes its buffer once, and all other ranks copy it as a whole, concurrently; the root returns
// when all have acknowledged. Small messages use a binomial tree, copied in and out. Two steps. Bytes: (p − 1)·s copied
// once, by the receivers' cores.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B; small messages: V.A and II.

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
extern constinit const Algorithm<BcastArgs> knem_linear_algorithm = {"knem_linear",
                                                                     "all ranks copy the root's buffer concurrently",
                                                                     Family::knem_coll,
                                                                     "KNEM-Coll, section V.B",
                                                                     requires_copyable_buffers,
                                                                     knem_linear_parameters,
                                                                     TUTTI_SHM_ONLY(knem_linear),
                                                                     {"(p - 1)*(2*s + (s < least ? staged(s) : 0))"}};

// knem_pipelined: broadcast over the levels of the machine. The members of each team copy pieces from their leader's
// buffer while the leader gets the next ones from its own leader. Small messages use a binomial tree, copied in and
// out. L + s/piece steps. Bytes: (p − 1)·s copied once, one copy into each team from outside of it.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections IV and VI.B (sizes of pieces). The paper has
// two levels and one piece size for both; here there is any number of levels, each with its own piece size.

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
    {"large_piece", 524288, "bytes that a team copies at a time in large messages", ParameterKind::per_level},
    {"large", 2097152, "size of the smallest large message, in bytes"}};
extern constinit const Algorithm<BcastArgs> knem_pipelined_algorithm = {
    "knem_pipelined",
    "every team copies pieces from its leader's buffer, level after level",
    Family::knem_coll,
    "KNEM-Coll, sections IV and VI.B",
    requires_copyable_buffers,
    knem_pipelined_parameters,
    TUTTI_SHM_ONLY(knem_pipelined),
    {"(p - 1)*(2*s + (s < least ? staged(s) : 0))"}};

}   // namespace tutti::coll::algorithms::bcast
