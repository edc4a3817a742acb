// SPDX-License-Identifier: BSD-3-Clause
// Ghost exchange and the time step. For each stage and group of variables, each rank sends one message to each rank
// that owns a neighbor of one of its blocks. Both ends list the faces in the same sorted order, so messages need no
// header.
#include "world.hpp"

#include <algorithm>
#include <cstdio>

namespace stencil {

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
    for (int first = 0; first < options_.variables; first += options_.together) {
        int last = std::min(first + options_.together, options_.variables);
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

}   // namespace stencil
