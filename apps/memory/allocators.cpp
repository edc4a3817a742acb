// SPDX-License-Identifier: BSD-3-Clause
// A STREAM-like triad over arrays from either allocator, and storms of allocations and frees.
#include "allocators.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <dlfcn.h>

namespace {

using Clock = std::chrono::steady_clock;

int rounds = 9;

struct Allocator {
    void* (*get)(std::size_t);
    void (*put)(void*);
};

/// The C library's own, whatever the program's malloc is.
Allocator c_library() {
    void* library = dlopen("libc.so.6", RTLD_NOW);
    Allocator found{};
    found.get = reinterpret_cast<void* (*)(std::size_t)>(dlsym(library, "malloc"));
    found.put = reinterpret_cast<void (*)(void*)>(dlsym(library, "free"));
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
            array = static_cast<double*>(a.get(n * sizeof(double)));
            std::fill(array, array + n, 1.0);
        }
    }
    ~Triad() {
        for (double* array : arrays_) allocator_.put(array);
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

/// Blocks of random sizes that live for a while; one byte of every page of them is written.
void storm(Allocator a, std::size_t least, std::size_t most, int calls, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<char*> live(64, nullptr);
    for (int i = 0; i < calls; ++i) {
        char*& slot = live[random() % live.size()];
        if (slot) a.put(slot);
        std::size_t const bytes = least + random() % (most - least);
        slot = static_cast<char*>(a.get(bytes));
        for (std::size_t k = 0; k < bytes; k += 4096) slot[k] = 1;
    }
    for (char* block : live)
        if (block) a.put(block);
}

void storm_in_threads(Allocator a, std::size_t least, std::size_t most, int calls) {
    std::thread other([&] { storm(a, least, most, calls, 2); });
    storm(a, least, most, calls, 1);
    other.join();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// `measure(allocator)` in seconds, by turns; the median of each and of the ratios of neighbours.
void row(char const* what, double unit, char const* unit_name, std::function<double(Allocator)> const& measure) {
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

void triad_row(char const* what, std::size_t doubles, int turns) {
    Allocator const c = c_library(), program{std::malloc, std::free};
    Triad with_c(c, doubles), with_program(program, doubles);
    row(what, 1e-3, "ms", [&](Allocator a) { return (a.get == c.get ? with_c : with_program).run(turns); });
}

void storm_row(char const* what, std::size_t least, std::size_t most, int calls, bool threads) {
    row(what, calls * 1e-6, "us", [=](Allocator a) {
        return seconds([&] { threads ? storm_in_threads(a, least, most, calls) : storm(a, least, most, calls, 1); });
    });
}

}  // namespace

void compare_allocators(int rounds_of_each) {
    rounds = rounds_of_each;
    std::printf("%-44s %10s %10s %-6s %6s\n", "", "C library", "program's", "", "ratio");
    triad_row("triad, arrays of 256 KiB", 1 << 15, 2000);
    triad_row("triad, arrays of 4 MiB", 1 << 19, 60);
    triad_row("triad, arrays of 64 MiB", 1 << 23, 3);
    storm_row("malloc and free, 8 KiB to 32 KiB", 8 << 10, 32 << 10, 100000, false);
    storm_row("malloc and free, 32 KiB to 256 KiB", 32 << 10, 256 << 10, 50000, false);
    storm_row("malloc and free, 256 KiB to 4 MiB", 256 << 10, 4 << 20, 20000, false);
    storm_row("malloc and free, 4 MiB to 32 MiB", 4 << 20, 32 << 20, 2000, false);
    storm_row("the same, 32 KiB to 256 KiB, two threads", 32 << 10, 256 << 10, 50000, true);
    storm_row("malloc and free, 16 B to 4 KiB", 16, 4096, 200000, false);
}
