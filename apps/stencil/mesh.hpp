// SPDX-License-Identifier: BSD-3-Clause
// The octree's leaves as plain data, the same on every rank, in Morton order; their neighbors; and changes of the
// mesh. Nothing here communicates: ranks that apply the same changes have the same mesh.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stencil {

/// The position of a block: its level and its coordinates among the blocks of that level.
struct BlockPosition {
    int level = 0;
    std::array<int, 3> at{};

    std::uint64_t key() const {
        std::uint64_t x = at[0], y = at[1], z = at[2];
        return std::uint64_t(level) << 60 | x << 40 | y << 20 | z;
    }
    BlockPosition parent() const { return {level - 1, {at[0] / 2, at[1] / 2, at[2] / 2}}; }
    BlockPosition child(int octant) const {
        return {level + 1, {at[0] * 2 + (octant & 1), at[1] * 2 + (octant >> 1 & 1), at[2] * 2 + (octant >> 2)}};
    }
    int octant() const { return (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2; }
    bool operator==(BlockPosition const&) const = default;
};

/// The size of a neighbor as seen from a block. Faces have numbers: 2 * axis + side (side 1 is the far one).
enum class Size { same, coarser, finer };

/// Returns the same relation as seen from the neighbor.
constexpr Size mirrored(Size size) {
    return size == Size::finer ? Size::coarser : size == Size::coarser ? Size::finer : Size::same;
}

/// A neighbor across a face. If sizes differ, `quadrant` is the quarter of the larger block's face that they share.
struct Neighbour {
    int leaf;
    Size size;
    int quadrant;
};

class Mesh {
public:
    Mesh(int roots, int levels);

    int roots() const { return roots_; }
    int levels() const { return levels_; }
    std::vector<BlockPosition> const& leaves() const { return leaves_; }
    int find(BlockPosition const& position) const;                 ///< index of a leaf, or -1
    std::vector<Neighbour> neighbours(int leaf, int face) const;   ///< empty at the cube's wall

    /// Turns a request per leaf (+1 finer, 0, -1 coarser) into the new level of each leaf, such that neighbors across
    /// a face differ by at most one level, and eight siblings become coarser together or not at all.
    std::vector<int> resolve_levels(std::vector<int> const& refinement_requests) const;

    /// Returns the mesh after the leaves have changed to the levels from resolve_levels().
    Mesh changed(std::vector<int> const& new_levels) const;

private:
    void index();
    bool raise_for_neighbours(std::vector<int>& target) const;
    bool keep_incomplete_siblings(std::vector<int>& target) const;

    int roots_, levels_;
    std::vector<BlockPosition> leaves_;
    std::unordered_map<std::uint64_t, int> by_key_;
};

}   // namespace stencil
