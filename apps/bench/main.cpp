// SPDX-License-Identifier: BSD-3-Clause
// tutti-bench: times MPI's operations on one node. A plain MPI program, so that it measures any MPI it is built with.
#include "measure.hpp"

#include <algorithm>
#include <cstdio>

namespace bench {
namespace {

void print_head(const Settings &settings, int ranks)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    std::string line(library, std::size_t(length));
    if (settings.csv)
        return;
    std::printf("%d ranks, %s\nslowest rank's time per call in microseconds\n\n", ranks,
                line.substr(0, line.find('\n')).c_str());
    std::printf("%-22s %10s %10s %12s %12s %12s\n", "operation", "bytes", "iterations", "median", "least", "greatest");
}

void print_result(const Settings &settings, const char *name, std::size_t bytes, int ranks, const Result &result)
{
    if (settings.csv)
        std::printf("%s,%d,%zu,%d,%.3f,%.3f,%.3f\n", name, ranks, bytes, result.iterations, result.median, result.least,
                    result.greatest);
    else
        std::printf("%-22s %10zu %10d %12.2f %12.2f %12.2f\n", name, bytes, result.iterations, result.median,
                    result.least, result.greatest);
    if (!result.wrong.empty())
        std::printf("%s of %zu bytes is WRONG: %s\n", name, bytes, result.wrong.c_str());
    std::fflush(stdout);
}

bool wanted(const Settings &settings, const std::string &name)
{
    auto &names = settings.operations;
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// Returns how many results were wrong.
int run(const Settings &settings, MPI_Comm comm)
{
    int rank, ranks, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    SharedPage page(comm);
    if (rank == 0)
        print_head(settings, ranks);
    for (auto &operation : operations()) {
        if (!wanted(settings, operation.name))
            continue;
        bool sized = operation.send != Blocks::none;
        std::size_t first = sized ? settings.smallest : 0, last = sized ? settings.largest : 0;
        for (std::size_t bytes = first; bytes <= last; bytes = bytes ? bytes * 2 : last + 1) {
            Result result = measure(operation, bytes, settings, page, comm);
            wrong += !result.wrong.empty();
            if (rank == 0)
                print_result(settings, operation.name, bytes, ranks, result);
        }
    }
    return wrong;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench::Settings settings;
    bool failed = false;
    std::string message = bench::parse(argc, argv, settings, failed);
    if (message.empty() && settings.root >= ranks) {
        message = "tutti-bench: --root must be a rank below " + std::to_string(ranks) + "\n";
        failed = true;
    }
    int result = failed ? 2 : 0;
    if (message.empty())
        result = bench::run(settings, MPI_COMM_WORLD) ? 1 : 0;
    else if (rank == 0)
        std::fputs(message.c_str(), failed ? stderr : stdout);
    MPI_Finalize();
    return result;
}
