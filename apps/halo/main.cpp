// SPDX-License-Identifier: BSD-3-Clause
// tutti-halo: one computation with two forms of halo exchange, by messages and by a shared window, and the times of
// both. A plain MPI program: it builds with any MPI.
#include "../application.hpp"

#include <mpi.h>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace halo {
namespace {

// Heat in a plate, by Jacobi's method: each point becomes the mean of its four neighbors. The plate's rows are
// distributed in order, so a rank needs one row of the previous rank and one of the next rank: the halo.
// by_messages and by_shared_window compute the same numbers, so that they can be read side by side.

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

/// Executes all steps, with the halo by messages: each neighbor's row is sent, and received into a row that this rank
/// keeps for it. All ranks must call it.
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

// The halo by a shared window: a rank reads its neighbor's row in place, so nothing is sent or copied. The exchange
// reduces to a barrier of the node's ranks in each step, so that no rank reads a row before it is ready. The row of a
// neighbor on another node cannot be read and is sent as in by_messages.

/// The memory of this rank's node, in one window: each rank contributes its rows of two plates.
class SharedPlates {
public:
    explicit SharedPlates(Strip const& strip) : strip_(strip) {
        MPI_Comm_split_type(strip.comm, MPI_COMM_TYPE_SHARED, strip.rank, MPI_INFO_NULL, &node_);
        const std::size_t numbers = 2 * strip.row(strip.rows);
        MPI_Win_allocate_shared(MPI_Aint(numbers * sizeof(double)), sizeof(double), MPI_INFO_NULL, node_, &memory_,
                                &window_);
        for (std::size_t i = 0; i < numbers; ++i) memory_[i] = inside;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);   // the epoch in which MPI_Win_sync may be called
        synchronize();
    }
    ~SharedPlates() {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
        MPI_Comm_free(&node_);
    }
    SharedPlates(SharedPlates const&) = delete;
    SharedPlates& operator=(SharedPlates const&) = delete;

    /// Orders stores and loads: all ranks of the node load afterwards what any of them stored before.
    void synchronize() const {
        MPI_Win_sync(window_);   // own stores precede the barrier
        MPI_Barrier(node_);
        MPI_Win_sync(window_);   // and loads follow it
    }
    double* plate(int number) const { return memory_ + std::size_t(number) * strip_.row(strip_.rows); }
    /// Returns a rank's plates; null if the rank is on another node or MPI_PROC_NULL.
    double* plates_of(int rank) const {
        if (rank == MPI_PROC_NULL) return nullptr;
        MPI_Group all, near;
        int node_rank;
        MPI_Comm_group(strip_.comm, &all);
        MPI_Comm_group(node_, &near);
        MPI_Group_translate_ranks(all, 1, &rank, near, &node_rank);
        MPI_Group_free(&all);
        MPI_Group_free(&near);
        if (node_rank == MPI_UNDEFINED) return nullptr;
        MPI_Aint bytes;
        int unit;
        double* memory;
        MPI_Win_shared_query(window_, node_rank, &bytes, &unit, &memory);
        return memory;
    }

private:
    Strip const& strip_;
    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    double* memory_ = nullptr;
};

/// Executes all steps, with the halo read from a shared window. All ranks must call it.
Result by_shared_window(Strip const& s, int steps) {
    const SharedPlates plates(s);
    const std::size_t plate = s.row(s.rows);
    double const *const before = plates.plates_of(s.before()), *const after = plates.plates_of(s.after());
    // Neighbors on other nodes; for all others MPI_PROC_NULL, whose messages have no effect.
    int const far_before = before ? MPI_PROC_NULL : s.before(), far_after = after ? MPI_PROC_NULL : s.after();
    std::vector<double> up(s.row(1), above), down(s.row(1), below);
    double exchange_seconds = 0;
    double const start = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        double const* now = plates.plate(step % 2);
        double* next = plates.plate(1 - step % 2);
        double const begin = MPI_Wtime();
        MPI_Sendrecv(now, s.columns, MPI_DOUBLE, far_before, 0, down.data(), s.columns, MPI_DOUBLE, far_after, 0,
                     s.comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + s.row(s.rows - 1), s.columns, MPI_DOUBLE, far_after, 0, up.data(), s.columns, MPI_DOUBLE,
                     far_before, 0, s.comm, MPI_STATUS_IGNORE);
        double halo = MPI_Wtime() - begin;

        const std::size_t side = std::size_t(step % 2) * plate;
        double const* first_up = before ? before + side + s.row(s.rows - 1) : up.data();
        double const* last_down = after ? after + side : down.data();
        for (int row = 0; row < s.rows; ++row)
            relax(next + s.row(row), row > 0 ? now + s.row(row - 1) : first_up, now + s.row(row),
                  row + 1 < s.rows ? now + s.row(row + 1) : last_down, s.columns);

        // Until here neighbors read the rows of this step; from here on those of the next step.
        double const done = MPI_Wtime();
        plates.synchronize();
        halo += MPI_Wtime() - done;
        exchange_seconds += halo;
    }
    double const* rows = plates.plate(steps % 2);
    return {{rows, rows + plate}, MPI_Wtime() - start, exchange_seconds};
}

// The program: its options, the check of the plate, and the times.

struct Options {
    int rows = 16, columns = 1024, steps = 1000, rounds = 5;
};

/// Describes the program, whose options are stored in `o`.
apps::Application describe(Options& o) {
    constexpr int most = 1000000;
    return {
        "tutti-halo",
        "Heat spreads in a plate whose rows are distributed over the ranks. In each step a rank needs a row of each "
        "of its neighbors (the halo): once by messages, and once by loads from a window that the node's ranks share.",
        {
            apps::number_option("--rows", "N", o.rows, 1, most, "rows of each rank"),
            apps::number_option("--columns", "N", o.columns, 1, most, "a row of the halo has 8 N bytes"),
            apps::number_option("--steps", "N", o.steps, 1, most, "time steps"),
            apps::number_option("--rounds", "N", o.rounds, 1, most,
                                "rounds of both methods, alternately; the median of their times is reported"),
        },
        "Prints the time of a step with both methods, and the part of it spent in the exchange. The exit code is 1 "
        "if a number of the plate differs from the result of a single rank."};
}

/// Computes all rows of the plate on one rank.
std::vector<double> serial(int rows, int columns, int steps) {
    const std::size_t width = std::size_t(columns);
    std::vector<double> now(std::size_t(rows) * width, inside), next = now;
    const std::vector<double> up(width, above), down(width, below);
    for (int step = 0; step < steps; ++step, std::swap(now, next))
        for (int row = 0; row < rows; ++row) {
            double const* here = &now[std::size_t(row) * width];
            relax(&next[std::size_t(row) * width], row > 0 ? here - width : up.data(), here,
                  row + 1 < rows ? here + width : down.data(), columns);
        }
    return now;
}

/// Returns whether all bits equal those of the serial run. Valid on rank 0.
bool same(Strip const& strip, std::vector<double> const& rows, std::vector<double> const& expected) {
    std::vector<double> all(expected.size());
    MPI_Gather(rows.data(), int(rows.size()), MPI_DOUBLE, all.data(), int(rows.size()), MPI_DOUBLE, 0, strip.comm);
    return all == expected;
}

struct Times {
    std::vector<double> steps, exchanges;   ///< of each round, the slowest rank's
    void add(Result const& result, MPI_Comm comm) {
        double const mine[] = {result.seconds, result.exchange_seconds};
        double slowest[2] = {};
        MPI_Reduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
        steps.push_back(slowest[0]);
        exchanges.push_back(slowest[1]);
    }
};

void print(char const* method, Times& times, int steps) {
    auto median = [](std::vector<double>& all) {
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
    };
    std::printf("%-18s %.2f us per step, %.2f of them in the exchange\n", method, median(times.steps) / steps * 1e6,
                median(times.exchanges) / steps * 1e6);
}

/// Returns whether all results were right.
bool run(Options const& o, MPI_Comm comm) {
    Strip strip{o.rows, o.columns, 0, 0, comm};
    MPI_Comm_rank(comm, &strip.rank);
    MPI_Comm_size(comm, &strip.ranks);
    const std::vector<double> expected =
        strip.rank == 0 ? serial(o.rows * strip.ranks, o.columns, o.steps) : std::vector<double>();
    Times messages, shared;
    int good = 1;
    for (int round = 0; round < o.rounds; ++round)
        for (bool const by_window : {false, true}) {
            MPI_Barrier(comm);
            const Result result = by_window ? by_shared_window(strip, o.steps) : by_messages(strip, o.steps);
            (by_window ? shared : messages).add(result, comm);
            good &= same(strip, result.rows, expected);
        }
    MPI_Bcast(&good, 1, MPI_INT, 0, comm);
    if (strip.rank == 0) {
        std::printf("%d ranks, %d rows of %d numbers on each, %d steps\n", strip.ranks, o.rows, o.columns, o.steps);
        print("messages", messages, o.steps);
        print("shared window", shared, o.steps);
        std::puts(good ? "PASSED" : "FAILED: the plate differs from the result of a single rank");
    }
    return good;
}

}   // namespace
}   // namespace halo

int main(int argc, char** argv) {
    halo::Options options;
    return apps::run_application(argc, argv, halo::describe(options),
                                 [&] { return halo::run(options, MPI_COMM_WORLD) ? 0 : 1; });
}
