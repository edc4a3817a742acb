// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on one block: faces, the seven-point step, splitting, merging, sums.
#include "block.hpp"

#include <algorithm>
#include <cmath>

namespace stencil {

Block::Block(int cells, int variables) : cells_(cells), variables_(variables), width_(cells + 2), flow_{} {
    data_.resize(std::size_t(variables) * width_ * width_ * width_);
}

std::size_t Block::at(int variable, int axis, int depth, int a, int b) const {
    return axis == 0 ? at(variable, depth, a, b) : axis == 1 ? at(variable, a, depth, b) : at(variable, a, b, depth);
}

void Block::fill(BlockPosition const& position, int roots) {
    double h = 1.0 / (double(roots) * (1 << position.level) * cells_);
    for (int v = 0; v < variables_; ++v)
        for (int i = 1; i <= cells_; ++i)
            for (int j = 1; j <= cells_; ++j)
                for (int k = 1; k <= cells_; ++k) {
                    double x = (position.at[0] * cells_ + i - 0.5) * h;
                    double y = (position.at[1] * cells_ + j - 0.5) * h;
                    double z = (position.at[2] * cells_ + k - 0.5) * h;
                    // Only polynomials, whose bits do not depend on a mathematics library.
                    data_[at(v, i, j, k)] = 1.0 + v * x * (1.0 - x) + y * y * (1.0 - z) + (v % 3) * z * x;
                }
}

int Block::face_numbers(int cells, int variables, Size neighbour) {
    return neighbour == Size::same ? variables * cells * cells : variables * (cells / 2) * (cells / 2);
}

double* Block::pack(int face, Size to, int quadrant, int first, int last, double* out) const {
    int axis = face / 2, depth = face % 2 ? cells_ : 1, half = cells_ / 2;
    int a0 = to == Size::finer ? (quadrant & 1) * half : 0, b0 = to == Size::finer ? (quadrant >> 1) * half : 0;
    int n = to == Size::same ? cells_ : half, stride = to == Size::coarser ? 2 : 1;
    for (int v = first; v < last; ++v)
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) {
                double const* cell = &data_[at(v, axis, depth, 1 + a0 + a * stride, 1 + b0 + b * stride)];
                if (to == Size::coarser) {
                    std::size_t right = at(v, axis, depth, 1, 2) - at(v, axis, depth, 1, 1);
                    std::size_t down = at(v, axis, depth, 2, 1) - at(v, axis, depth, 1, 1);
                    *out++ = 0.25 * ((cell[0] + cell[right]) + (cell[down] + cell[down + right]));
                } else {
                    *out++ = *cell;
                }
            }
    return out;
}

double const* Block::unpack(int face, Size from, int quadrant, int first, int last, double const* in) {
    int axis = face / 2, depth = face % 2 ? cells_ + 1 : 0, half = cells_ / 2;
    int a0 = from == Size::finer ? (quadrant & 1) * half : 0, b0 = from == Size::finer ? (quadrant >> 1) * half : 0;
    int n = from == Size::same ? cells_ : half;
    for (int v = first; v < last; ++v)
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) {
                double value = *in++;
                if (from == Size::coarser) {
                    for (int copy = 0; copy < 4; ++copy)
                        data_[at(v, axis, depth, 1 + 2 * a + (copy & 1), 1 + 2 * b + (copy >> 1))] = value;
                } else {
                    data_[at(v, axis, depth, 1 + a0 + a, 1 + b0 + b)] = value;
                }
            }
    return in;
}

/// Heat flows along the distance between the centres of two cells: one cell width between equal blocks, 1.5 widths of
/// the finer cell where sizes change. Both sides of a face use the same distance, so one gains what the other loses.
void Block::set_neighbour(int face, bool wall, Size size) {
    flow_[face] = wall ? 0.0 : size == Size::same ? 1.0 : size == Size::coarser ? 1.0 / 1.5 : 2.0 / 1.5;
}

void Block::update(double number, int first, int last, std::vector<double>& scratch) {
    std::size_t plane = std::size_t(width_) * width_, row = width_, size = plane * width_;
    scratch.resize(size);
    for (int v = first; v < last; ++v) {
        double* u = &data_[at(v, 0, 0, 0)];
        for (int i = 1; i <= cells_; ++i) {
            double x0 = i == 1 ? flow_[0] : 1.0, x1 = i == cells_ ? flow_[1] : 1.0;
            for (int j = 1; j <= cells_; ++j) {
                double y0 = j == 1 ? flow_[2] : 1.0, y1 = j == cells_ ? flow_[3] : 1.0;
                double const* c = u + i * plane + j * row;
                double* next = &scratch[i * plane + j * row];
                for (int k = 1; k <= cells_; ++k) {
                    double z0 = k == 1 ? flow_[4] : 1.0, z1 = k == cells_ ? flow_[5] : 1.0;
                    double across = x0 * (c[k - plane] - c[k]) + x1 * (c[k + plane] - c[k]);
                    double along = y0 * (c[k - row] - c[k]) + y1 * (c[k + row] - c[k]);
                    next[k] = c[k] + number * (across + along + z0 * (c[k - 1] - c[k]) + z1 * (c[k + 1] - c[k]));
                }
            }
        }
        for (int i = 1; i <= cells_; ++i)
            for (int j = 1; j <= cells_; ++j)
                std::copy_n(&scratch[i * plane + j * row + 1], cells_, &u[i * plane + j * row + 1]);
    }
}

std::vector<Block> Block::split() const {
    std::vector<Block> children(8, Block(cells_, variables_));
    int half = cells_ / 2;
    for (int octant = 0; octant < 8; ++octant) {
        int oi = (octant & 1) * half, oj = (octant >> 1 & 1) * half, ok = (octant >> 2) * half;
        for (int v = 0; v < variables_; ++v)
            for (int i = 0; i < cells_; ++i)
                for (int j = 0; j < cells_; ++j)
                    for (int k = 0; k < cells_; ++k)
                        children[octant].data_[at(v, i + 1, j + 1, k + 1)] =
                            data_[at(v, oi + i / 2 + 1, oj + j / 2 + 1, ok + k / 2 + 1)];
    }
    return children;
}

Block Block::merged(std::vector<const Block*> const& eight) {
    Block parent(eight[0]->cells_, eight[0]->variables_);
    int half = parent.cells_ / 2;
    for (int octant = 0; octant < 8; ++octant) {
        int oi = (octant & 1) * half, oj = (octant >> 1 & 1) * half, ok = (octant >> 2) * half;
        std::vector<double> const& from = eight[octant]->data_;
        for (int v = 0; v < parent.variables_; ++v)
            for (int i = 0; i < half; ++i)
                for (int j = 0; j < half; ++j)
                    for (int k = 0; k < half; ++k) {
                        double sum = 0;
                        for (int c = 0; c < 8; ++c) {
                            int ci = 2 * i + 1 + (c & 1), cj = 2 * j + 1 + (c >> 1 & 1), ck = 2 * k + 1 + (c >> 2);
                            sum += from[parent.at(v, ci, cj, ck)];
                        }
                        parent.data_[parent.at(v, oi + i + 1, oj + j + 1, ok + k + 1)] = 0.125 * sum;
                    }
    }
    return parent;
}

double Block::sum(int variable) const {
    double total = 0;
    for (int i = 1; i <= cells_; ++i)
        for (int j = 1; j <= cells_; ++j)
            for (int k = 1; k <= cells_; ++k) total += data_[at(variable, i, j, k)];
    return total;
}

std::uint64_t Block::fingerprint(int variable, BlockPosition const& position) const {
    std::uint64_t total = 0, mark = position.key() * 0x9e3779b97f4a7c15u | 1;
    for (int i = 1; i <= cells_; ++i)
        for (int j = 1; j <= cells_; ++j)
            for (int k = 1; k <= cells_; ++k)
                total += std::uint64_t(std::llround(std::ldexp(data_[at(variable, i, j, k)], 40))) * (mark += 2);
    return total;
}

double Block::largest(int variable) const {
    double most = 0;
    for (int i = 1; i <= cells_; ++i)
        for (int j = 1; j <= cells_; ++j)
            for (int k = 1; k <= cells_; ++k) most = std::max(most, data_[at(variable, i, j, k)]);
    return most;
}

}   // namespace stencil
