// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of KNEM-Coll share: their parameters, and PieceTree, its broadcast. KNEM-Coll (Ma, Bosilca,
// Bouteiller, Goglin, Squyres, Dongarra) registers a buffer once, passes its description (the cookie) out of band, here
// through the slots, and lets many ranks copy parts of it concurrently, in either direction (section III.B). The kernel
// copies between vectorial buffers: lists of segments on both sides (Environment::fetch_segments).
//
// What is exposed is copied through CMA if `through` is `kernel`, and in the order of preference of
// runtime/memory/single_copy.hpp otherwise. The algorithms require that the system copies between ranks (CMA), so that
// every buffer can be copied; only if it refuses that in mid-run, data passes through staging memory, which is counted
// as staged.
#pragma once

#include <array>

#include "coll/blocks/movement.hpp"
#include "coll/blocks/pulled.hpp"

namespace tutti::coll {

// Below `least`, the paper uses the regular component of Open MPI (section V.A), here the baseline that `small` names,
// with the defaults of its parameters. Its messages are copied in and out below 4 KiB, and read where they lie from
// there on, if peers can load them (coll/blocks/messages.hpp). In the v forms, where no rank knows all sizes, single
// parts below `least` are copied in and out.

inline constexpr Parameter knem_least_parameter = {
    "least", 16384, "smallest size, in bytes, for single copy; for smaller data, see small"};
/// `names`: of the baselines, separated by |; the index among them is the value.
constexpr Parameter knem_small_parameter(char const* names) {
    return {"small", 0, "the baseline for smaller data", ParameterKind::keyword, names};
}
inline constexpr Parameter knem_through_parameter = {
    "through", 0, "how data of at least that size is copied: by any method, or by the kernel (CMA) only",
    ParameterKind::keyword, "any|kernel"};

/// The order of the parameters: of movements of parts, of broadcasts over several levels, and of the linear broadcast.
struct PartsParameter {
    enum : std::size_t { least, piece, small, through };
};
struct LevelsParameter {
    enum : std::size_t { hierarchy, least, piece, large_piece, large, small, through, broadcast };
};
struct LinearParameter {
    enum : std::size_t { least, small, through };
};

/// Applies the value of `through` to this phase.
template <class Env>
void copy_through(Env& env, std::size_t value) {
    if (value == 1) env.copy_by_kernel_only();
}

/// The limits of movements of parts.
inline Limits knem_limits(CommonArgs const& a) {
    std::size_t const least = a.parameters[PartsParameter::least];
    return {.direct = least, .piece = a.parameters[PartsParameter::piece], .cma = least, .always_exposes = true};
}

/// The pieces of the broadcast over several levels (section VI.B).
inline constexpr Parameter knem_piece_parameter = {"piece", 16384, "bytes that a team copies at a time",
                                                   ParameterKind::per_level};
inline constexpr Parameter knem_large_piece_parameter = {
    "large_piece", 524288, "bytes that a team copies at a time in large messages", ParameterKind::per_level};
inline constexpr Parameter knem_large_parameter = {"large", 2097152, "size of the smallest large message, in bytes"};

/// Bytes that a team copies at a time, by its level.
using Pieces = std::array<std::size_t, max_levels>;

inline Pieces whole_pieces(std::size_t bytes) {
    Pieces pieces;
    pieces.fill(bytes);
    return pieces;
}
/// The pieces of a broadcast of `bytes` bytes over several levels.
inline Pieces pieces_of(Parameters const& parameters, std::size_t bytes) {
    using Of = LevelsParameter;
    std::size_t const which = bytes < parameters[Of::large] ? Of::piece : Of::large_piece;
    Pieces pieces;
    for (int level = 0; level < max_levels; ++level)
        pieces[static_cast<std::size_t>(level)] = parameters.at(which, level);
    return pieces;
}

/// The broadcast over any number of levels: every leader exposes its buffer once, before any data moves; the members of
/// its team copy piece after piece from there, concurrently, as soon as the leader has announced a piece, and
/// acknowledge when they have all pieces. With one team and one piece it is the linear broadcast. If the system refuses
/// a copy, the data is sent in slices (coll/blocks/pulled.hpp). Counters of an exposed buffer: ready[l]: pieces of
/// level l that are there.
template <class Env>
class PieceTree {
public:
    PieceTree(Env& env, topo::Hierarchy const& tree, Buffer const& data, int root, Pieces const& pieces)
        : env_(env), data_(env, data, position_in_hierarchy(env.frames(), tree, env.rank(), root), ~std::size_t{0},
                           PulledSlices<Env>::Gaps::segments),
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
