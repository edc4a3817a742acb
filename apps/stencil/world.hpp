// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the cube: the whole mesh as metadata, and the cells of the blocks that this rank owns. Owners are
// contiguous pieces of the Morton order, so the owner of a leaf follows from its index and the piece boundaries.
#pragma once

#include "block.hpp"
#include "mesh.hpp"
#include "options.hpp"

#include <array>
#include <map>
#include <mpi.h>
#include <vector>

namespace stencil {

using Centre = std::array<double, 3>;

class World {
public:
    World(const Options &options, MPI_Comm comm);

    const Mesh &mesh() const { return mesh_; }
    const std::vector<int> &pieces() const { return pieces_; } // first leaf of each rank, and the number of leaves
    long moved() const { return moved_; } // blocks that this rank sent to another one

    void advance();                        // one stage: ghosts, then one step of every block
    bool remesh(const Centre &centre);     // one level of refinement and coarsening, and balance; false: no change

    // The sums over all blocks; see Block. Collective, the same on every rank.
    std::vector<double> heat() const;
    std::vector<std::uint64_t> checksums() const;
    double largest() const;

private:
    // A face of a leaf here that is filled from (or fills) a leaf elsewhere.
    struct Link {
        int to, from;     // leaves: the one whose ghosts are filled, and its neighbour
        int face;         // of `to`
        Size size;        // of `from` as seen from `to`
        int quadrant;
        auto operator<=>(const Link &) const = default;
    };
    struct Peer {
        std::vector<Link> out, in;
        std::vector<double> send, receive;
    };
    struct Move {
        int leaf, from, to;
    };
    using Blocks = std::map<int, Block>; // by leaf

    int owner(int leaf) const;
    void even_pieces();
    void check_pieces() const;
    void link_neighbours();
    void exchange_ghosts(int first, int last);
    double *pack_link(const Link &link, int first, int last, double *out) const;
    const double *unpack_link(const Link &link, int first, int last, const double *in);

    std::vector<int> wishes(const Centre &centre) const;
    void gather_siblings(const std::vector<int> &new_levels);
    Blocks reshape(const Mesh &next, const std::vector<int> &new_levels);
    void balance(const std::vector<int> &holder);
    void move_blocks(Blocks &blocks, const std::vector<Move> &moves);

    const Options &options_;
    MPI_Comm comm_;
    int rank_, size_;
    Mesh mesh_;
    std::vector<int> pieces_;
    Blocks blocks_;
    std::map<int, Peer> peers_;
    std::vector<Link> local_;
    std::vector<double> scratch_;
    long moved_ = 0;
};

} // namespace stencil
