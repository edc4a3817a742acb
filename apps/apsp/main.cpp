// SPDX-License-Identifier: BSD-3-Clause
// tutti-apsp: all shortest paths by the Floyd-Warshall algorithm, with the rows distributed over the ranks. Each
// pivot costs one broadcast of a row, and a rank with few rows does little else. This is how the algorithm behaves on
// many ranks: 64 to 128 KiB are broadcast from every rank in turn, with only microseconds of work in between.
//
// Cost of a scenario: `junctions` broadcasts of 8 * vertices bytes; on each rank, rows times vertices additions and
// comparisons per broadcast. A plain MPI program: it builds with any MPI.
#include "../application.hpp"

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// `wide`: compiles a function also for the wide vectors of newer processors; the version is selected at program
// start.
#if defined(__x86_64__)
#define wide __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define wide
#endif

namespace apsp {
namespace {

// The road network: vertices 0 to junctions - 1 are junctions, the others are dead ends. A road leads from a junction
// to any vertex, so that the inner vertices of a path are junctions. Each scenario (for instance an hour of the day)
// has its own roads and travel times, computed from the numbers of their ends, so that every rank knows them without
// communication.

struct Network {
    int vertices, junctions, scenario;

    /// Computes the travel times of the roads from a junction; above 2^30 where there is no road. Times are small
    /// whole numbers, so their sums are exact and the distances do not depend on the order in which paths are found.
    void roads_from(int junction, double* times) const;
};

constexpr std::uint32_t no_road = 1u << 30;   // longer than any path

wide void Network::roads_from(int junction, double* times) const {
    // Half of the roads exist; the mixing is Knuth's multiplicative hash over both ends and the scenario.
    const std::uint32_t seed = (std::uint32_t(junction) * 40503u + std::uint32_t(scenario)) * 2654435761u;
    for (int vertex = 0; vertex < vertices; ++vertex) {
        std::uint32_t mixed = (std::uint32_t(vertex) + seed) * 2654435761u;
        mixed = (mixed ^ (mixed >> 15)) * 2246822519u;
        // Without a branch, because a random condition would be mispredicted: the highest bit moves to the bit of
        // no_road.
        times[vertex] = double(int((1 + (mixed >> 10) % 1024) | (mixed >> 31) * no_road));
    }
    // A ring road connects the junctions and every dead end has one certain road, so every vertex is reachable.
    times[(junction + 1) % junctions] = std::min(times[(junction + 1) % junctions], 1024.0);
    for (int vertex = junctions + junction; vertex < vertices; vertex += junctions)
        times[vertex] = std::min(times[vertex], 1024.0);
    times[junction] = 0;
}

/// Returns the distances from all junctions, row by row, computed by the textbook's three loops with all vertices as
/// pivots, dead ends included. --verify compares with them.
std::vector<double> plain_floyd_warshall(Network const& network) {
    const std::size_t n = std::size_t(network.vertices);
    std::vector<double> distance(n * n, no_road);
    for (std::size_t i = 0; i < n; ++i) distance[i * n + i] = 0;
    for (int i = 0; i < network.junctions; ++i) network.roads_from(i, &distance[std::size_t(i) * n]);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                distance[i * n + j] = std::min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
    distance.resize(std::size_t(network.junctions) * n);
    return distance;
}

// The program: its options, and the rows of a rank.

struct Options {
    int vertices = 8192;   ///< a row has this many doubles: 64 KiB
    int junctions = 8;
    int scenarios = 2000;
    bool verify = false;
};

/// Describes the program, whose options are stored in `o`.
apps::Application describe(Options& o) {
    constexpr int most = 100000000, most_verified = 2048;   // verifying takes vertices^3 steps, vertices^2 numbers
    return {
        "tutti-apsp",
        "All shortest paths of a road network by the algorithm of Floyd and Warshall, with the rows distributed over "
        "the ranks. Each junction in turn becomes the pivot: its owner broadcasts its row of distances, and every "
        "rank checks for each of its junctions whether the path through the pivot is shorter. Dead ends are never "
        "inner vertices of a path, so only junctions have rows; a row has one number per vertex.",
        {
            apps::number_option("--vertices", "N", o.vertices, 1, most,
                                "junctions and dead ends; a broadcast is 8 N bytes"),
            apps::number_option("--junctions", "N", o.junctions, 1, most,
                                "rows and broadcasts per scenario; as many as vertices for the classic problem"),
            apps::number_option("--scenarios", "N", o.scenarios, 1, most, "networks solved one after the other"),
            apps::switch_option("--verify", o.verify,
                                "rank 0 also solves each scenario by the textbook's three loops and compares all "
                                "distances (at most 2048 vertices)"),
        },
        "",
        [&o] {
            if (o.junctions > o.vertices) return std::string("there are more junctions than vertices");
            bool const too_large = o.verify && o.vertices > most_verified;
            return too_large ? "--verify takes at most " + std::to_string(most_verified) + " vertices" : "";
        }};
}

/// The rows of one rank: junctions `first` to `last` - 1, in equal shares by rank.
class Rows {
public:
    Rows(Options const& options, MPI_Comm comm)
        : vertices_(std::size_t(options.vertices)), junctions_(options.junctions), comm_(comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        first_ = first_of(rank_);
        distances_.resize(std::size_t(first_of(rank_ + 1) - first_) * vertices_);
        received_row_.resize(vertices_);
    }

    /// Computes the distances from the roads. Adds the seconds spent in broadcasts to `broadcast_seconds`.
    void solve(Network const& network, double& broadcast_seconds) {
        for (std::size_t i = 0; i < count(); ++i) network.roads_from(first_ + int(i), row(i));
        for (int pivot = 0, owner = 0; pivot < junctions_; ++pivot) {
            while (pivot >= first_of(owner + 1)) ++owner;
            double* through = owner == rank_ ? row(std::size_t(pivot - first_)) : received_row_.data();
            double start = MPI_Wtime();
            MPI_Bcast(through, int(vertices_), MPI_DOUBLE, owner, comm_);
            broadcast_seconds += MPI_Wtime() - start;
            for (std::size_t i = 0; i < count(); ++i)
                if (row(i) != through) shorten(row(i), through, row(i)[pivot], vertices_);
        }
    }

    /// Weighted by position, so that exchanged rows or columns are detected; sums of whole numbers are exact in any
    /// order.
    double checksum() const {
        constexpr std::size_t lanes = 16;   // independent sums, for vectorization
        double sum = 0;
        for (std::size_t i = 0; i < count(); ++i) {
            double const* row = &distances_[i * vertices_];
            double parts[lanes] = {}, columns = 0;
            std::size_t j = 0;
            for (; j + lanes <= vertices_; j += lanes)
                for (std::size_t lane = 0; lane < lanes; ++lane) parts[lane] += row[j + lane];
            for (std::size_t lane = 0; j + lane < vertices_; ++lane) parts[lane] += row[j + lane];
            for (std::size_t lane = 0; lane < lanes; ++lane) columns += parts[lane] * double(lane + 1);
            sum += columns * double(std::size_t(first_) + i + 1);
        }
        return sum;
    }

    /// Returns how many distances differ from those of the plain computation. Collective; the result is valid on rank
    /// 0.
    long wrong(Network const& network) const {
        std::vector<int> counts, displacements;
        for (int rank = 0; rank < ranks_; ++rank) {
            displacements.push_back(first_of(rank) * int(vertices_));
            counts.push_back(first_of(rank + 1) * int(vertices_) - displacements.back());
        }
        std::vector<double> all(rank_ == 0 ? std::size_t(junctions_) * vertices_ : 0);
        MPI_Gatherv(distances_.data(), int(distances_.size()), MPI_DOUBLE, all.data(), counts.data(),
                    displacements.data(), MPI_DOUBLE, 0, comm_);
        if (rank_ != 0) return 0;
        std::vector<double> expected = plain_floyd_warshall(network);
        long differences = 0;
        for (std::size_t i = 0; i < all.size(); ++i) differences += all[i] != expected[i];
        return differences;
    }

private:
    wide static void shorten(double* __restrict distance, double const* __restrict through, double to_pivot,
                             std::size_t n) {
        for (std::size_t j = 0; j < n; ++j) {
            double round = to_pivot + through[j];
            distance[j] = round < distance[j] ? round : distance[j];
        }
    }

    int first_of(int rank) const { return int(long(junctions_) * rank / ranks_); }
    std::size_t count() const { return distances_.size() / vertices_; }
    double* row(std::size_t i) { return &distances_[i * vertices_]; }

    std::size_t vertices_;
    int junctions_, rank_, ranks_, first_;
    MPI_Comm comm_;
    std::vector<double> distances_, received_row_;
};

/// Returns how many distances were wrong (0 without --verify).
long run(Options const& options, MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    Rows rows(options, comm);
    double sum = 0, broadcast_seconds = 0, verifying = 0;
    long wrong = 0;
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    for (int scenario = 0; scenario < options.scenarios; ++scenario) {
        Network network{options.vertices, options.junctions, scenario};
        rows.solve(network, broadcast_seconds);
        sum += rows.checksum();
        if (options.verify) {
            double verify_start = MPI_Wtime();
            wrong += rows.wrong(network);
            MPI_Barrier(comm);
            verifying += MPI_Wtime() - verify_start;
        }
    }
    double times[2] = {MPI_Wtime() - start - verifying, broadcast_seconds}, slowest[2], mean[2], total = 0;
    MPI_Reduce(times, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(times, mean, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, comm);
    if (rank != 0) return wrong;
    std::printf("%d ranks, %d vertices, %d junctions, %d scenarios, broadcasts of %zu bytes\n", ranks, options.vertices,
                options.junctions, options.scenarios, std::size_t(options.vertices) * sizeof(double));
    std::printf("checksum     %.0f\n", total);
    std::printf("total        %.4f s\n", slowest[0]);
    std::printf("in MPI_Bcast %.4f s (mean over the ranks, waiting included; %.0f %% of the total)\n", mean[1] / ranks,
                100 * mean[1] / ranks / slowest[0]);
    if (wrong) std::printf("FAILED: %ld distances differ from the plain computation's\n", wrong);
    else if (options.verify) std::printf("PASSED: every distance is the plain computation's\n");
    return wrong;
}

}   // namespace
}   // namespace apsp

int main(int argc, char** argv) {
    apsp::Options options;
    return apps::run_application(argc, argv, apsp::describe(options),
                                 [&] { return apsp::run(options, MPI_COMM_WORLD) ? 1 : 0; });
}
