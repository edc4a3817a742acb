// SPDX-License-Identifier: BSD-3-Clause
// Heat in a plate, by Jacobi's method: each point becomes the mean of its four neighbors. The plate's rows are
// distributed in order, so a rank needs one row of the previous rank and one of the next rank: the halo. messages.cpp
// and shared.cpp compute the same numbers, so that they can be read side by side.
#pragma once

#include <mpi.h>
#include <vector>

namespace halo {

/// A rank's part of the plate. Outside the plate, before() and after() return MPI_PROC_NULL.
struct Strip {
    int rows, columns;   ///< of each rank
    int rank, ranks;
    MPI_Comm comm;
    int before() const { return rank > 0 ? rank - 1 : MPI_PROC_NULL; }
    int after() const { return rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL; }
    std::size_t row(int number) const { return std::size_t(number) * std::size_t(columns); }
};

/// The initial temperature, and the constant temperatures beyond the first and the last row.
constexpr double inside = 0, above = 100, below = 0;

/// Computes one row's new values. Its first and last point remain unchanged.
inline void relax(double* to, double const* up, double const* row, double const* down, int columns) {
    to[0] = row[0];
    for (int i = 1; i + 1 < columns; ++i) to[i] = 0.25 * (up[i] + down[i] + row[i - 1] + row[i + 1]);
    to[columns - 1] = row[columns - 1];
}

struct Result {
    std::vector<double> rows;           ///< of this rank, after all steps
    double seconds, exchange_seconds;   ///< total time, and the part spent in the halo exchange
};

/// Execute all steps, with the halo exchanged by messages or read from a shared window. All ranks must call them.
Result by_messages(Strip const& strip, int steps);
Result by_shared_window(Strip const& strip, int steps);

}   // namespace halo
