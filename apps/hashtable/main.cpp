// SPDX-License-Identifier: BSD-3-Clause
// tutti-hashtable: a distributed hash table by one-sided operations. A plain MPI program: it builds with any MPI.
// Begin with table.hpp.
#include "../options.hpp"
#include "table.hpp"

#include <cinttypes>
#include <cstdio>
#include <string>

namespace hashtable {
namespace {

struct Options {
    int insertions = 20000;   ///< by each rank
    int buckets = 8192;       ///< of each rank
    int keys = 10000;         ///< number of distinct keys per rank; all ranks insert keys of the whole range
};

/// Parses the command line. Returns an empty string if the program should run; otherwise the text to print, and sets
/// `failed` unless that is the requested help (--help).
std::string parse(int argc, char** argv, Options& o, bool& failed) {
    constexpr int most = 10000000;
    apps::CommandLine const line{
        "tutti-hashtable",
        "Usage: mpiexec -n N tutti-hashtable [options]\n\n"
        "A hash table that is distributed over all ranks. Each rank inserts keys by one-sided operations alone: no\n"
        "rank receives a message. The value of a key is the number of its insertions.\n",
        {
            apps::number_option("--insertions", "N", o.insertions, 1, most, "by each rank"),
            apps::number_option("--buckets", "N", o.buckets, 1, most,
                                "of each rank; elements whose bucket is occupied go to a chain behind it"),
            apps::number_option("--keys", "N", o.keys, 1, most,
                                "number of different keys per rank; each rank inserts any of them"),
        },
        "\nPrints insertions and look-ups per second, and the number of elements in chains. Then every rank compares\n"
        "its part of the table with the insertions of all ranks. The exit code is 1 if they differ.\n"};
    return apps::parse(argc, argv, line, failed);
}

/// Returns the key that `rank` inserts as its insertion `number`. Every rank can compute the keys of all ranks.
Key key_of(int rank, int number, std::uint64_t keys) {
    std::uint64_t mixed = (std::uint64_t(rank) << 32 | std::uint32_t(number)) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    return 1 + (mixed ^ mixed >> 31) % keys;
}

struct Job {
    Options const& options;
    MPI_Comm comm;
    int rank, ranks;
    std::uint64_t keys() const { return std::uint64_t(options.keys) * std::uint64_t(ranks); }
};

/// Returns the keys of all ranks' insertions that this rank owns.
std::map<Key, std::int64_t> expected_part(Job const& job, Table const& table) {
    std::map<Key, std::int64_t> part;
    for (int rank = 0; rank < job.ranks; ++rank)
        for (int number = 0; number < job.options.insertions; ++number) {
            const Key key = key_of(rank, number, job.keys());
            if (table.owner_of(key) == job.rank) ++part[key];
        }
    return part;
}

/// Calls `act` with each of this rank's keys. Returns the slowest rank's seconds, on rank 0. Sets `right` to false if
/// a call failed.
template <class Act>
double timed(Job const& job, bool& right, Act act) {
    MPI_Barrier(job.comm);
    double const start = MPI_Wtime();
    for (int number = 0; right && number < job.options.insertions; ++number)
        right = act(key_of(job.rank, number, job.keys()));
    double const mine = MPI_Wtime() - start;
    double slowest = 0;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, job.comm);
    MPI_Barrier(job.comm);
    return slowest;
}

/// Returns whether all results were right.
bool run(Options const& options, MPI_Comm comm) {
    Job job{options, comm, 0, 0};
    MPI_Comm_rank(comm, &job.rank);
    MPI_Comm_size(comm, &job.ranks);
    // An owner may have more keys than its share, and each rank may have created one element for each of them that
    // turned out not to be needed.
    Table table(options.buckets, 4 * options.keys + 64 * job.ranks, comm);
    bool right = true;
    double const inserting = timed(job, right, [&](Key key) { return table.insert(key); });
    bool const room = right;
    double const finding = timed(job, right, [&](Key key) { return table.find(key) > 0; });
    right = right && table.own_part() == expected_part(job, table);
    std::int64_t mine[] = {table.in_chains(), right, room}, sums[3];
    MPI_Allreduce(mine, sums, 3, MPI_INT64_T, MPI_SUM, comm);
    if (job.rank == 0) {
        double const all = double(options.insertions) * job.ranks * 1e-6;
        std::printf("%d ranks, %d insertions by each, %d buckets on each\n", job.ranks, options.insertions,
                    options.buckets);
        std::printf("insertions         %.3f million per second, %.2f us each\n", all / inserting,
                    inserting / options.insertions * 1e6);
        std::printf("look-ups           %.3f million per second, %.2f us each\n", all / finding,
                    finding / options.insertions * 1e6);
        std::printf("in chains          %" PRId64 " elements\n", sums[0]);
        std::puts(sums[2] < job.ranks   ? "FAILED: a rank's part of the table is full"
                  : sums[1] < job.ranks ? "FAILED: the table does not hold what was inserted"
                                        : "PASSED");
    }
    return sums[1] == job.ranks;
}

}   // namespace
}   // namespace hashtable

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hashtable::Options options;
    bool failed = false;
    const std::string message = hashtable::parse(argc, argv, options, failed);
    int result = failed ? 2 : 0;
    if (message.empty()) result = hashtable::run(options, MPI_COMM_WORLD) ? 0 : 1;
    else if (rank == 0) std::fputs(message.c_str(), failed ? stderr : stdout);
    MPI_Finalize();
    return result;
}
