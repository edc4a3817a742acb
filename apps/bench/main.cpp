// SPDX-License-Identifier: BSD-3-Clause
// tutti-bench: times MPI's operations on one node. A plain MPI program, so that it measures any MPI it is built with.
#include "limit.hpp"
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
    std::printf("%-22s %10s %10s %12s %12s %12s", "operation", "bytes", "iterations", "median", "least", "greatest");
    std::printf(settings.limit ? " %12s %8s\n" : "\n", "limit", "ratio");
}

void print_result(const Settings &settings, const char *name, std::size_t bytes, int ranks, const Result &result)
{
    if (settings.csv)
        std::printf("%s,%d,%zu,%d,%.3f,%.3f,%.3f", name, ranks, bytes, result.iterations, result.median, result.least,
                    result.greatest);
    else
        std::printf("%-22s %10zu %10d %12.2f %12.2f %12.2f", name, bytes, result.iterations, result.median,
                    result.least, result.greatest);
}

// The rest of the line; `limit` is null where the operation has none.
void print_limit(const Settings &settings, const Result &result, const Result *limit)
{
    if (limit)
        std::printf(settings.csv ? ",%.3f,%.3f" : " %12.2f %8.2f", limit->median, result.median / limit->median);
    else if (settings.limit)
        std::printf(settings.csv ? ",," : " %12s %8s", "-", "-");
}

void print_complaint(const char *name, std::size_t bytes, const std::string &wrong)
{
    if (!wrong.empty())
        std::printf("%s of %zu bytes is WRONG: %s\n", name, bytes, wrong.c_str());
}

// One line of the table. Returns whether a result was wrong.
bool run_line(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const bool limited = settings.limit && limit_of(operation.name);
    Result result = measure(operation, bytes, settings, page, comm), limit;
    if (limited)
        limit = measure_limit(operation, bytes, settings, page, comm);
    if (rank == 0) {
        print_result(settings, operation.name, bytes, ranks, result);
        print_limit(settings, result, limited ? &limit : nullptr);
        std::printf("\n");
        print_complaint(operation.name, bytes, result.wrong);
        print_complaint((std::string("the limit of ") + operation.name).c_str(), bytes, limit.wrong);
        std::fflush(stdout);
    }
    return !result.wrong.empty() || !limit.wrong.empty();
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
        for (std::size_t bytes = first; bytes <= last; bytes = bytes ? bytes * 2 : last + 1)
            wrong += run_line(operation, bytes, settings, page, comm);
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
