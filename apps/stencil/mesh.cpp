// SPDX-License-Identifier: BSD-3-Clause
// Octree leaves: Morton order, neighbors, and the 2:1 rule. The cost of a pass is linear in the number of leaves, and
// a change of the mesh needs at most one pass per level.
#include "mesh.hpp"

#include <algorithm>

namespace stencil {
namespace {

/// Interleaves the bits of the three coordinates: the order in which a depth-first walk visits the leaves.
std::uint64_t morton(BlockPosition const& position, int levels) {
    std::uint64_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
        std::uint64_t x = std::uint64_t(position.at[axis]) << (levels - position.level);
        for (int bit = 0; bit < 20; ++bit) code |= (x >> bit & 1) << (3 * bit + axis);
    }
    return code;
}

/// The two axes that span a face.
constexpr int first_axis(int axis) { return axis == 0 ? 1 : 0; }
constexpr int second_axis(int axis) { return axis == 2 ? 1 : 2; }

int quadrant_of(BlockPosition const& small, int axis) {
    return (small.at[first_axis(axis)] & 1) | (small.at[second_axis(axis)] & 1) << 1;
}

}   // namespace

Mesh::Mesh(int roots, int levels) : roots_(roots), levels_(levels) {
    for (int x = 0; x < roots; ++x)
        for (int y = 0; y < roots; ++y)
            for (int z = 0; z < roots; ++z) leaves_.push_back({0, {x, y, z}});
    index();
}

void Mesh::index() {
    std::sort(leaves_.begin(), leaves_.end(), [this](BlockPosition const& a, BlockPosition const& b) {
        return morton(a, levels_) < morton(b, levels_);
    });
    by_key_.clear();
    for (int i = 0; i < int(leaves_.size()); ++i) by_key_[leaves_[i].key()] = i;
}

int Mesh::find(BlockPosition const& position) const {
    auto found = by_key_.find(position.key());
    return found == by_key_.end() ? -1 : found->second;
}

std::vector<Neighbour> Mesh::neighbours(int leaf, int face) const {
    int axis = face / 2, side = face % 2;
    BlockPosition next = leaves_[leaf];
    next.at[axis] += side ? 1 : -1;
    if (next.at[axis] < 0 || next.at[axis] >= roots_ << next.level) return {};
    if (int same = find(next); same >= 0) return {{same, Size::same, 0}};
    if (next.level > 0)
        if (int coarse = find(next.parent()); coarse >= 0)
            return {{coarse, Size::coarser, quadrant_of(leaves_[leaf], axis)}};
    std::vector<Neighbour> fine;
    for (int octant = 0; octant < 8; ++octant) {
        BlockPosition child = next.child(octant);
        if ((child.at[axis] & 1) != side)   // the children that touch this leaf are on the near side
            fine.push_back({find(child), Size::finer, quadrant_of(child, axis)});
    }
    return fine;
}

bool Mesh::raise_for_neighbours(std::vector<int>& target) const {
    bool changed = false;
    for (int leaf = 0; leaf < int(leaves_.size()); ++leaf)
        for (int face = 0; face < 6; ++face)
            for (auto& next : neighbours(leaf, face))
                if (target[leaf] < target[next.leaf] - 1) {
                    target[leaf] = target[next.leaf] - 1;
                    changed = true;
                }
    return changed;
}

bool Mesh::keep_incomplete_siblings(std::vector<int>& target) const {
    bool changed = false;
    for (int leaf = 0; leaf < int(leaves_.size()); ++leaf) {
        if (target[leaf] >= leaves_[leaf].level) continue;
        for (int octant = 0; octant < 8; ++octant) {
            int sibling = find(leaves_[leaf].parent().child(octant));
            if (sibling < 0 || target[sibling] >= leaves_[sibling].level) {
                target[leaf] = leaves_[leaf].level;
                changed = true;
            }
        }
    }
    return changed;
}

std::vector<int> Mesh::resolve_levels(std::vector<int> const& refinement_requests) const {
    std::vector<int> target(leaves_.size());
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf)
        target[leaf] = std::clamp(leaves_[leaf].level + refinement_requests[leaf], 0, levels_);
    // Both rules only raise levels, so this terminates.
    for (bool again = true; again;) {
        again = raise_for_neighbours(target);
        again |= keep_incomplete_siblings(target);
    }
    return target;
}

Mesh Mesh::changed(std::vector<int> const& new_levels) const {
    Mesh result = *this;
    result.leaves_.clear();
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        BlockPosition const& position = leaves_[leaf];
        if (new_levels[leaf] == position.level) {
            result.leaves_.push_back(position);
        } else if (new_levels[leaf] > position.level) {
            for (int octant = 0; octant < 8; ++octant) result.leaves_.push_back(position.child(octant));
        } else if (position.octant() == 0) {
            result.leaves_.push_back(position.parent());
        }
    }
    result.index();
    return result;
}

}   // namespace stencil
