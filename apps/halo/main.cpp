// SPDX-License-Identifier: BSD-3-Clause
// tutti-halo: one computation with two forms of halo exchange, by messages and by a shared window, and the times of
// both. A plain MPI program: it builds with any MPI. Begin with strip.hpp.
#include "strip.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "../options.hpp"

namespace halo {
namespace {

struct Options {
    int rows = 16, columns = 1024, steps = 1000, rounds = 5;
};

/// Returns an error message, or the text of --help, or an empty string.
std::string parse(int argc, char** argv, Options& o, bool& failed) {
    constexpr int most = 1000000;
    apps::CommandLine const line{
        "tutti-halo",
        "Usage: mpiexec -n N tutti-halo [options]\n\n"
        "Heat spreads in a plate whose rows are distributed over the ranks. In each step a rank needs a row of each "
        "of\n"
        "its neighbors (the halo): once by messages, and once by loads from a window that the node's ranks share.\n",
        {
            apps::number_option("--rows", "N", o.rows, 1, most, "rows of each rank"),
            apps::number_option("--columns", "N", o.columns, 1, most, "a row of the halo has 8 N bytes"),
            apps::number_option("--steps", "N", o.steps, 1, most, "time steps"),
            apps::number_option("--rounds", "N", o.rounds, 1, most,
                                "rounds of both methods, alternately; the median of their times is reported"),
        },
        "\nPrints the time of a step with both methods, and the part of it spent in the exchange. The exit code is 1 "
        "if\n"
        "a number of the plate differs from the result of a single rank.\n"};
    return apps::parse(argc, argv, line, failed);
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
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    halo::Options options;
    bool failed = false;
    const std::string message = halo::parse(argc, argv, options, failed);
    int result = failed ? 2 : 0;
    if (message.empty()) result = halo::run(options, MPI_COMM_WORLD) ? 0 : 1;
    else if (rank == 0) std::fputs(message.c_str(), failed ? stderr : stdout);
    MPI_Finalize();
    return result;
}
