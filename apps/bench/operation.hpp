// SPDX-License-Identifier: BSD-3-Clause
// What is measured: one record per MPI call. A new one is a record more in operations.cpp; everything else (options,
// help, table, checks) follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>

namespace bench {

// One measured call: `count` numbers per rank (and per peer where the operation has one block for each).
struct Call {
    int rank, ranks, root, count;
    const double *send;
    double *receive;
    const int *counts, *places;        // all `count`, and their running sum
    const int *byte_places;            // the same in bytes, for alltoallw
    const MPI_Datatype *types;
    MPI_Comm comm;
};

// What number `index` of rank `from`'s send buffer is in this iteration: small whole numbers, so sums are exact.
inline double value(int from, std::size_t index, int iteration)
{
    return double((from * 7 + index * 3 + std::size_t(iteration) * 5) % 1021);
}

enum class Blocks { none, one, one_per_rank }; // how many blocks of `count` numbers a buffer holds

struct Operation {
    const char *name, *sentence;
    Blocks send, receive;
    bool rooted;
    double share; // of the time measured that counts: half for a round trip
    void (*run)(const Call &call);
    // What number `index` of the receive buffer must be; `true` where this rank receives at all.
    bool (*receives)(const Call &call);
    double (*expected)(const Call &call, std::size_t index, int iteration);
};

const std::vector<Operation> &operations();

} // namespace bench
