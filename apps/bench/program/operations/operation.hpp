// SPDX-License-Identifier: BSD-3-Clause
// What is measured: one record per MPI call. A new one is a record more in operations.cpp, neighborhood.cpp,
// nonblocking.cpp, persistent.cpp, communicators.cpp or one_sided.cpp; everything else (options, help, table, checks)
// follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <vector>

namespace bench {

// A grid of two dimensions that is closed in both, and this rank's neighbours in MPI's order: the one before and the
// one after in the first dimension, then in the second.
struct Grid {
    static constexpr int neighbors = 4;
    int extent[2], around[neighbors];
};

// How a window comes to be, and how origin and target synchronise (MPI 3.1, 11.2 and 11.5).
enum class Flavor { create, allocate, shared, dynamic };
enum class Sync { flush, lock, fence, pscw }; // flush: in one epoch of MPI_Win_lock_all

// Of a one-sided operation: rank 0 is the origin, and rank 1 (where there is none, rank 0) the target.
struct OneSided {
    MPI_Win win = MPI_WIN_NULL;
    double *own = nullptr;   // this rank's window
    double *there = nullptr; // the target's, where the operation loads and stores in it
    MPI_Aint place = 0;      // of the target's first number: 0, or of a dynamic window its address
    int target = 0;
    int operations = 1;      // between two synchronisations, each in a block of its own
    Sync sync = Sync::flush;
    bool locked = false;     // all targets, for as long as the window lives
    MPI_Group partner = MPI_GROUP_NULL;   // of the origin the target, and the other way round
    MPI_Group neighbors = MPI_GROUP_NULL; // the ranks before and after this one
};

// One measured call: `count` numbers per rank (and per peer where the operation has one block for each).
struct Call {
    int rank, ranks, root, count;
    const double *send;
    double *receive;
    const int *counts, *places;        // all `count`, and their running sum
    const int *byte_places;            // the same in bytes, for alltoallw
    const MPI_Datatype *types;
    MPI_Comm comm;                     // where the operation has neighbours, that of the grid
    Grid grid;
    OneSided one_sided{};
    int calls = 1;                     // how many the buffers have seen when they are looked at
};

// What number `index` of rank `from`'s send buffer is in this iteration: small whole numbers, so sums are exact.
inline double value(int from, std::size_t index, int iteration)
{
    return double((from * 7 + index * 3 + std::size_t(iteration) * 5) % 1021);
}

// What a one-sided operation does: a call of MPI's on the target's window, loads or stores there; or it only
// synchronises.
enum class Access { none, call, load_store, synchronization };

enum class Blocks { none, one, one_per_rank, one_per_neighbor }; // how many blocks of `count` numbers a buffer holds

struct Operation {
    using Begin = void (*)(const Call &call, MPI_Request *request);

    std::string name, sentence;
    Blocks send, receive;
    bool rooted;
    double share; // of the time measured that counts: half for a round trip
    void (*run)(const Call &call);
    // What number `index` of the receive buffer must be; `true` where this rank receives at all.
    bool (*receives)(const Call &call);
    double (*expected)(const Call &call, std::size_t index, int iteration);
    // Instead of `run`: the nonblocking call, or the one that makes a persistent request.
    Begin start = nullptr, prepare = nullptr;
    std::string blocking = name; // the blocking operation that does the same
    // Of an operation that delivers a communicator instead of numbers: makes one more, which nobody times, and uses it.
    // Collective; the return is what was wrong with it, the same on every rank, or empty.
    std::string (*examine)(const Call &call) = nullptr;

    // Of one-sided operations: what they do; what number `index` of the target's window must be afterwards, or null
    // where the window has what is got; whether the numbers are integers of 64 bits; the only size there is, or 0.
    Access access = Access::none;
    double (*expected_in_window)(const Call &call, std::size_t index, int iteration) = nullptr;
    bool integers = false;
    std::size_t only_size = 0;

    bool has_call() const { return run || start || prepare; } // else this MPI lacks it
    bool has_window() const { return access != Access::none; }
    bool accesses() const { return access == Access::call || access == Access::load_store; }
    bool has_neighbors() const { return receive == Blocks::one_per_neighbor; }
    std::string collective() const; // whose algorithms do it: gather of igatherv
};

struct Group {
    std::string name, sentence;
    std::vector<Operation> operations;
};
const std::vector<Group> &groups();
const Operation *find_operation(const std::string &name); // null where there is none

inline bool always(const Call &) { return true; } // for `receives`

// The groups' parts, each in its file; where they are given some, other forms of these.
std::vector<Operation> neighborhood_operations();
std::vector<Operation> communicator_operations();
std::vector<Operation> one_sided_operations();
std::vector<Operation> nonblocking_operations(const std::vector<Operation> &blocking);
std::vector<Operation> persistent_operations(const std::vector<Operation> &nonblocking);

} // namespace bench
