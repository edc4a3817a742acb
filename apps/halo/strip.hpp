// SPDX-License-Identifier: BSD-3-Clause
// Heat in a plate, by Jacobi's method: each point becomes the mean of its four neighbours. The plate's rows are dealt
// out in order, so a rank needs one row of the rank before it and one of the rank after it: the halo. Two files do the
// same with the same numbers, so that they can be read side by side: messages.cpp and shared.cpp.
#pragma once

#include <mpi.h>
#include <vector>

namespace halo {

struct Strip {
    int rows, columns; // of each rank
    int rank, ranks;
    MPI_Comm comm;
    int before() const { return rank > 0 ? rank - 1 : MPI_PROC_NULL; }
    int after() const { return rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL; }
    std::size_t row(int number) const { return std::size_t(number) * std::size_t(columns); }
};

// The temperature at the beginning, and for ever beyond the first and the last row.
constexpr double inside = 0, above = 100, below = 0;

// One row's new values. Its first and last point stay as they are.
inline void relax(double *to, const double *up, const double *row, const double *down, int columns)
{
    to[0] = row[0];
    for (int i = 1; i + 1 < columns; ++i)
        to[i] = 0.25 * (up[i] + down[i] + row[i - 1] + row[i + 1]);
    to[columns - 1] = row[columns - 1];
}

struct Result {
    std::vector<double> rows;    // this rank's, after all steps
    double seconds, exchanging; // all of it, and what went into the halo
};

Result by_messages(const Strip &strip, int steps);
Result by_shared_window(const Strip &strip, int steps);

} // namespace halo
