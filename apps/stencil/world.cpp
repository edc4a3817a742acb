// SPDX-License-Identifier: BSD-3-Clause
// A rank's part of the cube in time: the exchange of ghosts, the step of the blocks, and the changes of the mesh.
#include "world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace stencil {

// Ghost exchange and the time step. For each stage and group of variables, each rank sends one message to each rank
// that owns a neighbor of one of its blocks. Both ends list the faces in the same sorted order, so messages need no
// header.

World::World(Options const& options, MPI_Comm comm)
    : options_(options), comm_(comm), mesh_(options.roots, options.levels) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    divide_evenly();
    for (int leaf = pieces_[rank_]; leaf < pieces_[rank_ + 1]; ++leaf) {
        Block block(options.cells, options.variables);
        block.fill(mesh_.leaves()[leaf], options.roots);
        blocks_.emplace(leaf, std::move(block));
    }
    link_neighbours();
}

int World::owner(int leaf) const {
    return int(std::upper_bound(pieces_.begin(), pieces_.end(), leaf) - pieces_.begin()) - 1;
}

void World::divide_evenly() {
    pieces_.resize(size_ + 1);
    for (int rank = 0; rank <= size_; ++rank) pieces_[rank] = int(long(mesh_.leaves().size()) * rank / size_);
}

/// Every rank computes the pieces of all ranks itself; this checks that all have the same result.
void World::check_pieces() const {
    int mine = int(blocks_.size()), before = 0, leaves = int(mesh_.leaves().size()), least[2] = {leaves, -leaves};
    MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, comm_);
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, comm_);
    if ((rank_ && before != pieces_[rank_]) || least[0] != -least[1]) {
        std::fprintf(stderr, "rank %d: its first leaf is %d by the sum of the others' and %d by its own count\n", rank_,
                     before, pieces_[rank_]);
        MPI_Abort(comm_, 3);
    }
}

void World::link_neighbours() {
    peers_.clear();
    local_.clear();
    for (auto& [leaf, block] : blocks_)
        for (int face = 0; face < 6; ++face) {
            auto neighbours = mesh_.neighbours(leaf, face);
            block.set_neighbour(face, neighbours.empty(), neighbours.empty() ? Size::same : neighbours[0].size);
            for (auto& next : neighbours) {
                Link in{leaf, next.leaf, face, next.size, next.quadrant};
                if (owner(next.leaf) == rank_) {
                    local_.push_back(in);
                    continue;
                }
                Peer& peer = peers_[owner(next.leaf)];
                peer.in.push_back(in);
                peer.out.push_back({next.leaf, leaf, face ^ 1, mirrored(next.size), next.quadrant});
            }
        }
    for (auto& [rank, peer] : peers_) {
        std::sort(peer.in.begin(), peer.in.end());
        std::sort(peer.out.begin(), peer.out.end());
    }
}

double* World::pack_link(Link const& link, int first, int last, double* out) const {
    return blocks_.at(link.from).pack(link.face ^ 1, mirrored(link.size), link.quadrant, first, last, out);
}

double const* World::unpack_link(Link const& link, int first, int last, double const* in) {
    return blocks_.at(link.to).unpack(link.face, link.size, link.quadrant, first, last, in);
}

void World::exchange_ghosts(int first, int last) {
    auto numbers = [&](std::vector<Link> const& links) {
        std::size_t sum = 0;
        for (auto& link : links) sum += Block::face_numbers(options_.cells, last - first, link.size);
        return sum;
    };
    std::vector<MPI_Request> receives, sends;
    std::vector<Peer*> from;
    for (auto& [rank, peer] : peers_) {
        peer.receive.resize(numbers(peer.in));
        receives.emplace_back();
        from.push_back(&peer);
        MPI_Irecv(peer.receive.data(), int(peer.receive.size()), MPI_DOUBLE, rank, first, comm_, &receives.back());
    }
    for (auto& [rank, peer] : peers_) {
        peer.send.resize(numbers(peer.out));
        double* out = peer.send.data();
        for (auto& link : peer.out) out = pack_link(link, first, last, out);
        sends.emplace_back();
        MPI_Isend(peer.send.data(), int(peer.send.size()), MPI_DOUBLE, rank, first, comm_, &sends.back());
    }
    std::vector<double> face(Block::face_numbers(options_.cells, last - first, Size::same));
    for (auto& link : local_) {
        pack_link(link, first, last, face.data());
        unpack_link(link, first, last, face.data());
    }
    for (std::size_t done = 0; done < receives.size(); ++done) {
        int which;
        MPI_Waitany(int(receives.size()), receives.data(), &which, MPI_STATUS_IGNORE);
        double const* in = from[which]->receive.data();
        for (auto& link : from[which]->in) in = unpack_link(link, first, last, in);
    }
    MPI_Waitall(int(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

void World::advance() {
    // The largest step that is stable on the finest possible level, with a margin for faces between blocks of
    // different size.
    double finest = 1.0 / (double(options_.roots) * (1 << options_.levels) * options_.cells);
    double step = 0.1 * finest * finest;
    int const together = options_.together ? options_.together : options_.variables;
    for (int first = 0; first < options_.variables; first += together) {
        int last = std::min(first + together, options_.variables);
        exchange_ghosts(first, last);
        for (auto& [leaf, block] : blocks_) {
            double h = finest * (1 << (options_.levels - mesh_.leaves()[leaf].level));
            block.update(step / (h * h), first, last, scratch_);
        }
    }
}

std::vector<double> World::heat() const {
    std::vector<double> sums(options_.variables);
    for (auto& [leaf, block] : blocks_) {
        double h = 1.0 / (double(options_.roots) * (1 << mesh_.leaves()[leaf].level) * options_.cells);
        for (int v = 0; v < options_.variables; ++v) sums[v] += block.sum(v) * h * h * h;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), options_.variables, MPI_DOUBLE, MPI_SUM, comm_);
    return sums;
}

std::vector<std::uint64_t> World::checksums() const {
    std::vector<std::uint64_t> sums(options_.variables);
    for (auto& [leaf, block] : blocks_)
        for (int v = 0; v < options_.variables; ++v) sums[v] += block.fingerprint(v, mesh_.leaves()[leaf]);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), options_.variables, MPI_UINT64_T, MPI_SUM, comm_);
    return sums;
}

double World::largest() const {
    double most = 0;
    for (auto& [leaf, block] : blocks_)
        for (int v = 0; v < options_.variables; ++v) most = std::max(most, block.largest(v));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return most;
}

// Changes the mesh. Each rank requests levels for its leaves; all ranks compute the same new mesh; eight siblings
// that are merged are moved to the rank of the first; finally blocks move to the rank that an equal division of the
// Morton order assigns.

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
