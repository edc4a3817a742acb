// SPDX-License-Identifier: BSD-3-Clause
// The measured operations: one record per MPI call. To add one, add a record to operations.cpp, requests.cpp or
// one_sided.cpp; everything else (options, help, table, checks) follows from it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// A two-dimensional grid, periodic in both dimensions, and this rank's neighbors in MPI's order: the previous and the
/// next one in the first dimension, then in the second.
struct Grid {
    static constexpr int neighbors = 4;
    int extent[2], around[neighbors];
};

/// How a window is created, and how origin and target synchronize (MPI 3.1, 11.2 and 11.5).
enum class Flavor { create, allocate, shared, dynamic };
enum class Sync { flush, lock, fence, pscw };   ///< flush: in one epoch of MPI_Win_lock_all

/// The arguments of a one-sided operation: rank 0 is the origin, and rank 1 (rank 0 if there is only one) the target.
struct OneSided {
    MPI_Win win = MPI_WIN_NULL;
    double* own_memory = nullptr;      ///< this rank's window
    double* target_memory = nullptr;   ///< the target's window, if the operation loads and stores in it
    MPI_Aint displacement = 0;   ///< displacement of the target's first number: 0, or its address in a dynamic window
    int target = 0;
    int operations = 1;   ///< number of operations between two synchronizations, each on its own block
    Sync sync = Sync::flush;
    bool locked = false;                    ///< all targets are locked for the lifetime of the window
    MPI_Group partner = MPI_GROUP_NULL;     ///< the target on the origin, and vice versa
    MPI_Group neighbors = MPI_GROUP_NULL;   ///< the ranks before and after this one
};

/// One measured call: `count` numbers per rank (and per peer if the operation has one block for each).
struct Call {
    int rank, ranks, root, count;
    double const* send;
    double* receive;
    int const *counts, *displacements;   ///< all equal to `count`, and their prefix sums
    int const* byte_displacements;       ///< the same in bytes, for alltoallw
    MPI_Datatype const* types;
    MPI_Comm comm;   ///< for operations with neighbors, that of the grid
    Grid grid;
    OneSided one_sided{};
    int calls = 1;   ///< number of calls that the buffers have seen when they are checked
};

/// Returns the value of element `index` of rank `from`'s send buffer in this iteration: a small whole number, so that
/// sums are exact.
inline double value(int from, std::size_t index, int iteration) {
    return double((from * 7 + index * 3 + std::size_t(iteration) * 5) % 1021);
}

/// The kind of a one-sided operation: an MPI call on the target's window, loads or stores there, or synchronization
/// only.
enum class Access { none, call, load_store, synchronization };

enum class Blocks { none, one, one_per_rank, one_per_neighbor };   ///< number of blocks of `count` numbers in a buffer

/// A measured operation. Exactly one of `run`, `start` and `prepare` is set; none if this MPI lacks the operation.
struct Operation {
    using Begin = void (*)(Call const& call, MPI_Request* request);

    std::string name, description;
    Blocks send, receive;
    bool rooted;
    double share;   ///< fraction of the measured time that counts: half for a round trip
    void (*run)(Call const& call);
    /// `receives`: true if this rank receives at all. `expected`: the value of element `index` of the receive buffer.
    bool (*receives)(Call const& call);
    double (*expected)(Call const& call, std::size_t index, int iteration);
    /// Instead of `run`: the nonblocking call, or the one that creates a persistent request.
    Begin start = nullptr, prepare = nullptr;
    std::string blocking = name;   ///< the blocking operation that has the same effect
    /// Only if the operation delivers a communicator instead of numbers: creates one more, untimed, and uses it.
    /// Collective; returns a description of the error, the same on every rank, or an empty string.
    std::string (*check_result)(Call const& call) = nullptr;

    /// For one-sided operations: their kind; the value of element `index` of the target's window afterwards, or null
    /// if the window is only read; whether the numbers are 64-bit integers; the only supported size, or 0.
    Access access = Access::none;
    double (*expected_in_window)(Call const& call, std::size_t index, int iteration) = nullptr;
    bool integers = false;
    std::size_t only_size = 0;

    int least_ranks = 1;   ///< ranks that it needs

    bool has_call() const { return run || start || prepare; }   ///< false: this MPI lacks the operation
    bool has_window() const { return access != Access::none; }
    bool accesses() const { return access == Access::call || access == Access::load_store; }
    bool has_neighbors() const { return receive == Blocks::one_per_neighbor; }
    std::string collective() const;   ///< the collective whose algorithms execute it: gather for igatherv
};

/// A group of operations that the command line can name.
struct Group {
    std::string name, description;
    std::vector<Operation> operations;
};
std::vector<Group> const& groups();
Operation const* find_operation(std::string const& name);   ///< null if no operation has this name

inline bool always(Call const&) { return true; }   ///< for `receives`

/// The operations by group; functions with a parameter derive their operations from it.
std::vector<Operation> neighborhood_operations();
std::vector<Operation> communicator_operations();
std::vector<Operation> one_sided_operations();
std::vector<Operation> nonblocking_operations(std::vector<Operation> const& blocking);
std::vector<Operation> persistent_operations(std::vector<Operation> const& nonblocking);

// A rank's buffers, in memory that the caller provides, and the arguments made from them.

/// The number of elements in an operation's buffers on one rank, with `operations` one-sided operations in each call.
struct BufferSizes {
    BufferSizes(Operation const& operation, std::size_t bytes, int operations, MPI_Comm comm);
    Operation const& operation;
    int ranks, peers, count;
    std::size_t send, receive, window;
};

/// Returns memory for a buffer of `numbers` numbers. It is a block of at least 64 KiB, as in programs that use one
/// buffer for messages of all sizes: MPI libraries can access large blocks in other ways than small ones.
std::vector<double> make_buffer(std::size_t numbers);

struct Buffers {
    /// `one_sided.own_memory` has room for sizes.window numbers.
    Buffers(BufferSizes const& sizes, double* send_memory, double* receive_memory, OneSided const& one_sided,
            MPI_Comm comm);
    Buffers(Buffers const&) = delete;   ///< `call` points into it
    Buffers& operator=(Buffers const&) = delete;

    /// Writes numbers that depend on the iteration into the send buffer, and numbers that cannot be results into the
    /// buffers that receive results.
    void alter(int iteration);

    /// Called in a loop of calls that ends as alter(number of the last call) began it: alters one number in each line,
    /// so that the other numbers in the caches are useless. Does nothing for one-sided operations, because the target
    /// does not know when it may write.
    void touch(int iteration, bool last);

    /// Returns a description of the first wrong number, or an empty string; checks all numbers, or only some of a
    /// large buffer. For an operation that delivers a communicator, collective if `all` is set, and describes the
    /// communicator's error.
    std::string wrong(int iteration, bool all) const;

    Call call{};

private:
    using Expected = double (*)(Call const& call, std::size_t index, int iteration);
    double encoded(double number) const;    ///< as stored in the buffers
    double decoded(double encoded) const;   ///< the number that is stored in this form
    std::string first_wrong(std::span<double const> numbers, Expected expected, int iteration, bool all) const;
    void synchronize() const;   ///< orders loads and stores in the window with those of other ranks

    Operation const& operation_;
    std::span<double> send_, receive_, window_;
    std::vector<int> counts_, displacements_, byte_displacements_;
    std::vector<MPI_Datatype> types_;
};

}   // namespace bench
