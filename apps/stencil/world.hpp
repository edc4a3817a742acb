// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the cube: the whole mesh as metadata, and the cells of the blocks that this rank owns. Each rank
// owns a contiguous piece of the Morton order, so the owner of a leaf follows from its index and the boundaries of
// the pieces.
#pragma once

#include "block.hpp"
#include "mesh.hpp"

#include <mpi.h>
#include <array>
#include <map>
#include <vector>

namespace stencil {

/// The parameters of a run, which its command line sets.
struct Options {
    int cells = 8;          ///< cells per block and direction, even
    int roots = 2;          ///< coarsest blocks per direction
    int levels = 3;         ///< refinement levels above the coarsest
    int variables = 4;      ///< variables per cell
    int together = 0;       ///< variables per message, 0 = all
    int steps = 20;         ///< time steps
    int stages = 4;         ///< ghost exchange and update, per time step
    int refine_every = 2;   ///< time steps between refinements
    int check_every = 1;    ///< time steps between checksums
    double radius = 0.2;    ///< of the moving sphere
    double speed = 0.03;    ///< of the sphere, per time step
    bool verify = false;    ///< compare with a serial run on rank 0
    bool quiet = false;     ///< only the last lines
};

using Centre = std::array<double, 3>;

class World {
public:
    World(Options const& options, MPI_Comm comm);

    Mesh const& mesh() const { return mesh_; }
    std::vector<int> const& pieces() const { return pieces_; }   ///< first leaf of each rank, and the number of leaves
    long moved() const { return moved_; }                        ///< blocks that this rank sent to another one

    void advance();   ///< one stage: exchanges ghosts, then executes one step of every block
    /// Refines and coarsens by one level, and balances the load. Returns false if nothing changed.
    bool remesh(Centre const& centre);

    /// The sums over all blocks; see Block. Collective; the same on every rank.
    std::vector<double> heat() const;
    std::vector<std::uint64_t> checksums() const;
    double largest() const;

private:
    /// A face of a leaf on one rank that is filled from a leaf on another rank.
    struct Link {
        int to, from;   ///< leaves: the one whose ghosts are filled, and its neighbor
        int face;       ///< of `to`
        Size size;      ///< of `from` as seen from `to`
        int quadrant;
        auto operator<=>(Link const&) const = default;
    };
    struct Peer {
        std::vector<Link> out, in;
        std::vector<double> send, receive;
    };
    struct Move {
        int leaf, from, to;
    };
    using Blocks = std::map<int, Block>;   ///< by leaf

    int owner(int leaf) const;
    void divide_evenly();
    void check_pieces() const;
    void link_neighbours();
    void exchange_ghosts(int first, int last);
    double* pack_link(Link const& link, int first, int last, double* out) const;
    double const* unpack_link(Link const& link, int first, int last, double const* in);

    std::vector<int> refinement_requests(Centre const& centre) const;
    void gather_siblings(std::vector<int> const& new_levels);
    Blocks reshape(Mesh const& next, std::vector<int> const& new_levels);
    void balance(std::vector<int> const& holder);
    void move_blocks(Blocks& blocks, std::vector<Move> const& moves);

    Options const& options_;
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

}   // namespace stencil
