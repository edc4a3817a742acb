// SPDX-License-Identifier: BSD-3-Clause
// Changes the mesh. Each rank requests levels for its leaves; all ranks compute the same new mesh; eight siblings
// that are merged are moved to the rank of the first; finally blocks move to the rank that an equal division of the
// Morton order assigns.
#include "world.hpp"

#include <algorithm>
#include <cmath>

namespace stencil {
namespace {

/// Returns whether the sphere's surface passes through the block.
bool surface_meets(BlockPosition const& position, int roots, Centre const& centre, double radius) {
    double size = 1.0 / (double(roots) * (1 << position.level)), nearest = 0, farthest = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double low = position.at[axis] * size - centre[axis], high = low + size;
        double near = low > 0 ? low : high < 0 ? -high : 0, far = std::max(std::abs(low), std::abs(high));
        nearest += near * near;
        farthest += far * far;
    }
    return nearest <= radius * radius && farthest >= radius * radius;
}

}   // namespace

std::vector<int> World::refinement_requests(Centre const& centre) const {
    std::vector<int> mine, all(mesh_.leaves().size()), counts(size_);
    for (auto& [leaf, block] : blocks_)
        mine.push_back(surface_meets(mesh_.leaves()[leaf], options_.roots, centre, options_.radius) ? 1 : -1);
    for (int rank = 0; rank < size_; ++rank) counts[rank] = pieces_[rank + 1] - pieces_[rank];
    MPI_Allgatherv(mine.data(), int(mine.size()), MPI_INT, all.data(), counts.data(), pieces_.data(), MPI_INT, comm_);
    return all;
}

bool World::remesh(Centre const& centre) {
    std::vector<int> new_levels = mesh_.resolve_levels(refinement_requests(centre));
    Mesh next = mesh_.changed(new_levels);
    if (next.leaves() == mesh_.leaves()) return false;
    gather_siblings(new_levels);
    // The rank that holds each new leaf before it is moved to its owner.
    std::vector<int> holder(next.leaves().size());
    for (std::size_t leaf = 0; leaf < new_levels.size(); ++leaf) {
        BlockPosition const& position = mesh_.leaves()[leaf];
        int here = owner(int(leaf));
        if (new_levels[leaf] == position.level) holder[next.find(position)] = here;
        else if (new_levels[leaf] < position.level && position.octant() == 0)
            holder[next.find(position.parent())] = here;
        else if (new_levels[leaf] > position.level)
            for (int octant = 0; octant < 8; ++octant) holder[next.find(position.child(octant))] = here;
    }
    blocks_ = reshape(next, new_levels);
    mesh_ = next;
    balance(holder);
    link_neighbours();
    return true;
}

void World::gather_siblings(std::vector<int> const& new_levels) {
    std::vector<Move> moves;
    for (int leaf = 0; leaf < int(new_levels.size()); ++leaf) {
        BlockPosition const& position = mesh_.leaves()[leaf];
        if (new_levels[leaf] >= position.level) continue;
        int first = owner(mesh_.find(position.parent().child(0)));
        if (owner(leaf) != first) moves.push_back({leaf, owner(leaf), first});
    }
    move_blocks(blocks_, moves);
}

World::Blocks World::reshape(Mesh const& next, std::vector<int> const& new_levels) {
    Blocks result;
    for (auto& [leaf, block] : blocks_) {
        BlockPosition const& position = mesh_.leaves()[leaf];
        if (new_levels[leaf] == position.level) {
            result.emplace(next.find(position), std::move(block));
        } else if (new_levels[leaf] > position.level) {
            auto children = block.split();
            for (int octant = 0; octant < 8; ++octant)
                result.emplace(next.find(position.child(octant)), std::move(children[octant]));
        } else if (position.octant() == 0) {
            std::vector<Block const*> eight;
            for (int octant = 0; octant < 8; ++octant)
                eight.push_back(&blocks_.at(mesh_.find(position.parent().child(octant))));
            result.emplace(next.find(position.parent()), Block::merged(eight));
        }
    }
    return result;
}

void World::balance(std::vector<int> const& holder) {
    divide_evenly();
    std::vector<Move> moves;
    for (int leaf = 0; leaf < int(holder.size()); ++leaf)
        if (holder[leaf] != owner(leaf)) moves.push_back({leaf, holder[leaf], owner(leaf)});
    move_blocks(blocks_, moves);
    check_pieces();
}

/// Blocks arrive in the order of their leaves, one message per block; both ends know the list.
void World::move_blocks(Blocks& blocks, std::vector<Move> const& moves) {
    std::vector<int> leaving(size_), arriving(size_), expected(size_);
    for (auto& move : moves) {
        leaving[move.to] += move.from == rank_;
        expected[move.from] += move.to == rank_;
    }
    MPI_Alltoall(leaving.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, comm_);
    if (arriving != expected) MPI_Abort(comm_, 4);
    int const tag = 1 << 14;   // above the tags of ghost messages, which are numbers of variables
    std::vector<MPI_Request> requests;
    for (auto& move : moves) {
        if (move.to != rank_ && move.from != rank_) continue;
        if (move.to == rank_) blocks.emplace(move.leaf, Block(options_.cells, options_.variables));
        auto& data = blocks.at(move.leaf).cells_of_all_variables();
        requests.emplace_back();
        if (move.to == rank_)
            MPI_Irecv(data.data(), int(data.size()), MPI_DOUBLE, move.from, tag, comm_, &requests.back());
        else MPI_Isend(data.data(), int(data.size()), MPI_DOUBLE, move.to, tag, comm_, &requests.back());
    }
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (auto& move : moves)
        if (move.from == rank_) {
            blocks.erase(move.leaf);
            ++moved_;
        }
}

}   // namespace stencil
