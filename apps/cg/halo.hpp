// SPDX-License-Identifier: BSD-3-Clause
// The values next to a rank's own: one on the left and one on the right, each a message of 8 bytes. Beyond the ends
// of the interval the neighbor is MPI_PROC_NULL, and the value there stays zero, which is the boundary condition.
#pragma once

#include "problem.hpp"

namespace cg {

class Halo {
public:
    explicit Halo(Problem const& problem)
        : comm_(problem.comm), left_(problem.rank > 0 ? problem.rank - 1 : MPI_PROC_NULL),
          right_(problem.rank + 1 < problem.ranks ? problem.rank + 1 : MPI_PROC_NULL) {}

    /// Until finish(), the vector may be read, but neither written nor read beyond this rank's values.
    void start(Vector& v) {
        double *first = v.data() + 1, *last = v.data() + v.size() - 2;
        MPI_Irecv(first - 1, 1, MPI_DOUBLE, left_, to_right, comm_, &requests_[0]);
        MPI_Irecv(last + 1, 1, MPI_DOUBLE, right_, to_left, comm_, &requests_[1]);
        MPI_Isend(first, 1, MPI_DOUBLE, left_, to_left, comm_, &requests_[2]);
        MPI_Isend(last, 1, MPI_DOUBLE, right_, to_right, comm_, &requests_[3]);
    }

    void finish() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }

private:
    enum Tag { to_left, to_right };

    MPI_Comm comm_;
    int left_, right_;
    MPI_Request requests_[4];
};

}   // namespace cg
