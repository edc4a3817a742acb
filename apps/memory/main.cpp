// SPDX-License-Identifier: BSD-3-Clause
// tutti-memory: the memory cost of an MPI library. Run it under mpiexec with any MPI. Its argument is "job", to
// measure the memory of all ranks, or the number of rounds in which the program's malloc is compared with the C
// library's.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

// Comparison of allocators: what a program pays if another allocator than the C library's provides its large blocks.

/// Measures both allocators alternately in the same run and prints a table. If the MPI library does not replace
/// malloc, both columns are the same allocator. Calls no MPI function.
void compare_allocators(int rounds);

// A STREAM-like triad over arrays from either allocator, and random sequences of allocations and frees.

namespace {

using Clock = std::chrono::steady_clock;

int rounds = 9;

struct Allocator {
    void* (*allocate)(std::size_t);
    void (*release)(void*);
};

/// Returns the C library's own allocator, even if the program's malloc is another one.
Allocator c_library() {
    void* library = dlopen("libc.so.6", RTLD_NOW);
    Allocator found{};
    found.allocate = reinterpret_cast<void* (*)(std::size_t)>(dlsym(library, "malloc"));
    found.release = reinterpret_cast<void (*)(void*)>(dlsym(library, "free"));
    return found;
}

double seconds(std::function<void()> const& work) {
    auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// a = b + 3 c over three arrays of `n` doubles that were allocated and written once.
class Triad {
public:
    Triad(Allocator a, std::size_t n) : allocator_(a), n_(n) {
        for (double*& array : arrays_) {
            array = static_cast<double*>(a.allocate(n * sizeof(double)));
            std::fill(array, array + n, 1.0);
        }
    }
    ~Triad() {
        for (double* array : arrays_) allocator_.release(array);
    }
    Triad(Triad const&) = delete;

    double run(int turns) {
        return seconds([&] {
            double *a = arrays_[0], *b = arrays_[1], *c = arrays_[2];
            for (int t = 0; t < turns; ++t) {
                for (std::size_t i = 0; i < n_; ++i) a[i] = b[i] + 3.0 * c[i];
                std::swap(a, c);
            }
        });
    }

private:
    Allocator allocator_;
    std::size_t n_;
    double* arrays_[3];
};

/// Allocates and frees blocks of random sizes; writes one byte of every page.
void stress_allocator(Allocator a, std::size_t least, std::size_t most, int calls, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<char*> live(64, nullptr);
    for (int i = 0; i < calls; ++i) {
        char*& slot = live[random() % live.size()];
        if (slot) a.release(slot);
        std::size_t const bytes = least + random() % (most - least);
        slot = static_cast<char*>(a.allocate(bytes));
        for (std::size_t k = 0; k < bytes; k += 4096) slot[k] = 1;
    }
    for (char* block : live)
        if (block) a.release(block);
}

void stress_in_threads(Allocator a, std::size_t least, std::size_t most, int calls) {
    std::thread other([&] { stress_allocator(a, least, most, calls, 2); });
    stress_allocator(a, least, most, calls, 1);
    other.join();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Calls `measure(allocator)`, which returns seconds, alternately; prints the median of each and of the ratios of
/// consecutive values.
void print_row(char const* what, double unit, char const* unit_name, std::function<double(Allocator)> const& measure) {
    Allocator const c = c_library(), program{std::malloc, std::free};
    std::vector<double> cs, programs, ratios;
    for (int round = 0; round < rounds; ++round) {
        cs.push_back(measure(c));
        programs.push_back(measure(program));
        ratios.push_back(programs.back() / cs.back());
    }
    std::printf("%-44s %10.3f %10.3f %-6s %6.2f\n", what, median(cs) / unit, median(programs) / unit, unit_name,
                median(ratios));
}

void print_triad_row(char const* what, std::size_t doubles, int turns) {
    Allocator const c = c_library(), program{std::malloc, std::free};
    Triad with_c(c, doubles), with_program(program, doubles);
    print_row(what, 1e-3, "ms",
              [&](Allocator a) { return (a.allocate == c.allocate ? with_c : with_program).run(turns); });
}

void print_stress_row(char const* what, std::size_t least, std::size_t most, int calls, bool threads) {
    print_row(what, calls * 1e-6, "us", [=](Allocator a) {
        return seconds(
            [&] { threads ? stress_in_threads(a, least, most, calls) : stress_allocator(a, least, most, calls, 1); });
    });
}

}   // namespace

void compare_allocators(int rounds_of_each) {
    rounds = rounds_of_each;
    std::printf("%-44s %10s %10s %-6s %6s\n", "", "C library", "program's", "", "ratio");
    print_triad_row("triad, arrays of 256 KiB", 1 << 15, 2000);
    print_triad_row("triad, arrays of 4 MiB", 1 << 19, 60);
    print_triad_row("triad, arrays of 64 MiB", 1 << 23, 3);
    print_stress_row("malloc and free, 8 KiB to 32 KiB", 8 << 10, 32 << 10, 100000, false);
    print_stress_row("malloc and free, 32 KiB to 256 KiB", 32 << 10, 256 << 10, 50000, false);
    print_stress_row("malloc and free, 256 KiB to 4 MiB", 256 << 10, 4 << 20, 20000, false);
    print_stress_row("malloc and free, 4 MiB to 32 MiB", 4 << 20, 32 << 20, 2000, false);
    print_stress_row("the same, 32 KiB to 256 KiB, two threads", 32 << 10, 256 << 10, 50000, true);
    print_stress_row("malloc and free, 16 B to 4 KiB", 16, 4096, 200000, false);
}

// Memory of a job: what all ranks on one node use because of MPI.

/// Rank 0 prints a row after MPI_Init and a barrier, and a row after each rank has sent 8 bytes to every other rank.
/// Collective over all ranks.
void measure_job();

// As the kernel counts memory: a rank's own pages are those that it has written and no other process has mapped.
// Shared pages count once for the job: each rank has its part of them in its proportional set size (PSS), including
// program text and read-only data. Page tables count as memory, too.

namespace {

/// Returns the KiB after a name in a file of /proc; 0 if there is no such line.
double kib(char const* file, char const* name) {
    char line[256];
    double found = 0;
    if (std::FILE* in = std::fopen(file, "r")) {
        while (std::fgets(line, sizeof line, in))
            if (std::strncmp(line, name, std::strlen(name)) == 0) found = std::atof(line + std::strlen(name));
        std::fclose(in);
    }
    return found;
}

/// Measures and prints a row; collective. No rank continues, and changes shared pages, before all ranks have measured.
void print_row(char const* what) {
    enum { own, proportional, tables, columns };
    MPI_Barrier(MPI_COMM_WORLD);
    double const mine[columns] = {kib("/proc/self/smaps_rollup", "Private_Dirty:"),
                                  kib("/proc/self/smaps_rollup", "Pss:"), kib("/proc/self/status", "VmPTE:")};
    MPI_Barrier(MPI_COMM_WORLD);
    double all[columns], most[columns];
    int rank, ranks;
    MPI_Reduce(mine, all, columns, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, most, columns, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) return;
    std::printf("%-24s %6d %12.0f %12.0f %12.1f %12.1f %12.1f\n", what, ranks, all[own] / ranks, most[own],
                all[proportional] / 1024, all[tables] / 1024, (all[proportional] + all[tables]) / 1024);
    std::fflush(stdout);
}

void exchange_with_all() {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double sent = rank, got = 0;
    for (int distance = 1; distance < ranks; ++distance)
        MPI_Sendrecv(&sent, 1, MPI_DOUBLE, (rank + distance) % ranks, 0, &got, 1, MPI_DOUBLE,
                     (rank + ranks - distance) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}   // namespace

void measure_job() {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("%-24s %6s %12s %12s %12s %12s %12s\n", "", "ranks", "own KiB", "most", "all MiB", "tables",
                    "total");
    print_row("after MPI_Init");
    exchange_with_all();
    print_row("after 8 B to all others");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && std::strcmp(argv[1], "job") == 0) measure_job();
    else if (rank == 0) compare_allocators(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9);
    MPI_Finalize();
    return 0;
}
