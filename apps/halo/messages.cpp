// SPDX-License-Identifier: BSD-3-Clause
// The halo by messages: each neighbor's row is sent, and received into a row that this rank keeps for it.
#include "strip.hpp"

#include <utility>

namespace halo {

Result by_messages(Strip const& s, int steps) {
    std::vector<double> now(s.row(s.rows), inside), next = now;
    std::vector<double> up(s.row(1), above), down(s.row(1), below);   // at the ends of the plate they keep these values
    double exchange_seconds = 0;
    double const start = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        double const begin = MPI_Wtime();
        double const *first = now.data(), *last = now.data() + s.row(s.rows - 1);
        MPI_Request requests[4];
        MPI_Irecv(up.data(), s.columns, MPI_DOUBLE, s.before(), 0, s.comm, &requests[0]);
        MPI_Irecv(down.data(), s.columns, MPI_DOUBLE, s.after(), 0, s.comm, &requests[1]);
        MPI_Isend(first, s.columns, MPI_DOUBLE, s.before(), 0, s.comm, &requests[2]);
        MPI_Isend(last, s.columns, MPI_DOUBLE, s.after(), 0, s.comm, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        exchange_seconds += MPI_Wtime() - begin;

        for (int row = 0; row < s.rows; ++row)
            relax(&next[s.row(row)], row > 0 ? &now[s.row(row - 1)] : up.data(), &now[s.row(row)],
                  row + 1 < s.rows ? &now[s.row(row + 1)] : down.data(), s.columns);
        std::swap(now, next);
    }
    return {now, MPI_Wtime() - start, exchange_seconds};
}

}   // namespace halo
