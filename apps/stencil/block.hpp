// SPDX-License-Identifier: BSD-3-Clause
// The cells of one block with a layer of ghost cells around them, for every variable: density of heat per volume.
// All exchange between blocks, local or remote, goes through pack() and unpack(), so the numbers are the same bits
// wherever a neighbour lives.
#pragma once

#include "mesh.hpp"

#include <cstdint>
#include <vector>

namespace stencil {

class Block {
public:
    Block(int cells, int variables);

    void fill(const Place &place, int roots); // the state at the start, a function of the place only

    // How many numbers a face of `variables` variables is on its way to a neighbour of that size.
    static int face_numbers(int cells, int variables, Size neighbour);

    // The layer of cells at `face` as the neighbour there needs it: as it is, averaged over 2 x 2 cells for a coarser
    // neighbour, or the quarter that a finer neighbour touches. `to` is the neighbour's size as seen from here.
    double *pack(int face, Size to, int quadrant, int first, int last, double *out) const;
    // The other side of it; `from` is the size of the neighbour that sent it.
    const double *unpack(int face, Size from, int quadrant, int first, int last, const double *in);
    void set_neighbour(int face, bool wall, Size size); // sets how well heat flows through the face

    // One explicit step of variables first..last-1; `number` is dt * conductivity / h^2.
    void update(double number, int first, int last, std::vector<double> &scratch);

    std::vector<Block> split() const;                            // eight children, same densities
    static Block merged(const std::vector<const Block *> &eight); // averages of 2 x 2 x 2 cells

    double sum(int variable) const;
    // Each cell's value in multiples of 2^-40 times a number of its own, summed modulo 2^64: whole numbers, so the sum
    // does not depend on the order of summation, and no two cells can be mistaken for each other.
    std::uint64_t fingerprint(int variable, const Place &place) const;
    double largest(int variable) const;

    std::vector<double> &cells_of_all_variables() { return data_; }
    const std::vector<double> &cells_of_all_variables() const { return data_; }

private:
    std::size_t at(int variable, int i, int j, int k) const
    {
        return ((std::size_t(variable) * width_ + i) * width_ + j) * width_ + k;
    }
    std::size_t at(int variable, int axis, int depth, int a, int b) const;

    int cells_, variables_, width_;
    double flow_[6];
    std::vector<double> data_;
};

} // namespace stencil
