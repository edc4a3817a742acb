// SPDX-License-Identifier: BSD-3-Clause
// Sums of doubles over the ranks whose bits depend neither on the order nor on the grouping of MPI's additions, so
// that a run is the same under every MPI and every algorithm. Each double is cut at fixed positions into four parts,
// none of which needs rounding in a sum over up to 1024 ranks (pre-rounding: Demmel and Nguyen, "Parallel
// Reproducible Summation", IEEE Transactions on Computers, 2015). Each sum costs 32 bytes.
#pragma once

#include <mpi.h>

namespace cg {

/// Several sums in one message: set all, let MPI add `size` doubles from `mine` to `all`, get all.
template <int sums>
class ExactSums {
public:
    static constexpr int parts = 4, size = sums * parts;
    double mine[size], all[size];

    void set(int sum, double value) {
        for (int part = 0; part < parts; ++part) {
            // Adding and subtracting 1.5 * 2^52 units rounds to whole units.
            double const rounder = 6755399441055744.0 * units[part];
            double const piece = (value + rounder) - rounder;
            mine[sum * parts + part] = piece;
            value -= piece;
        }
    }

    double get(int sum) const {
        double value = 0;
        for (int part = parts - 1; part >= 0; --part) value += all[sum * parts + part];
        return value;
    }

private:
    /// 43 bits apart: for values below about 2^53, with an absolute accuracy of 2^-119.
    static constexpr double units[parts] = {0x1p10, 0x1p-33, 0x1p-76, 0x1p-119};
};

}   // namespace cg
