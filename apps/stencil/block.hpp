// SPDX-License-Identifier: BSD-3-Clause
// The cells of one block with a layer of ghost cells around them, for each variable: density of heat per volume. All
// exchange between blocks, local or remote, uses pack() and unpack(), so the numbers have the same bits wherever a
// neighbor is.
#pragma once

#include "mesh.hpp"

#include <cstdint>
#include <vector>

namespace stencil {

class Block {
public:
    Block(int cells, int variables);

    void fill(BlockPosition const& position, int roots);   ///< the initial state, a function of the position only

    /// Returns the size of a message, in numbers, with a face of `variables` variables for a neighbor of that size.
    static int face_numbers(int cells, int variables, Size neighbour);

    /// Packs the layer of cells at `face` in the form that the neighbor needs: unchanged, averaged over 2 x 2 cells
    /// for a coarser neighbor, or the quarter that a finer neighbor touches. `to` is the neighbor's size as seen from
    /// this block. Returns the end of the packed numbers.
    double* pack(int face, Size to, int quadrant, int first, int last, double* out) const;
    /// Unpacks the neighbor's numbers into the ghost cells at `face`; `from` is the neighbor's size as seen from this
    /// block. Returns the end of the numbers read.
    double const* unpack(int face, Size from, int quadrant, int first, int last, double const* in);
    void set_neighbour(int face, bool wall, Size size);   ///< sets the conductance of the face

    /// Executes one explicit step of variables first..last-1; `number` is dt * conductivity / h^2.
    void update(double number, int first, int last, std::vector<double>& scratch);

    std::vector<Block> split() const;                              ///< eight children with the same densities
    static Block merged(std::vector<const Block*> const& eight);   ///< averages of 2 x 2 x 2 cells

    double sum(int variable) const;
    /// Returns the sum, modulo 2^64, of each cell's value in multiples of 2^-40 times a weight of that cell. The terms
    /// are whole numbers, so the sum does not depend on the order of summation, and exchanged cells change it.
    std::uint64_t fingerprint(int variable, BlockPosition const& position) const;
    double largest(int variable) const;

    std::vector<double>& cells_of_all_variables() { return data_; }
    std::vector<double> const& cells_of_all_variables() const { return data_; }

private:
    std::size_t at(int variable, int i, int j, int k) const {
        return ((std::size_t(variable) * width_ + i) * width_ + j) * width_ + k;
    }
    std::size_t at(int variable, int axis, int depth, int a, int b) const;

    int cells_, variables_, width_;
    double flow_[6];
    std::vector<double> data_;
};

}   // namespace stencil
