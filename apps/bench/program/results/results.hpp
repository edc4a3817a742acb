// SPDX-License-Identifier: BSD-3-Clause
// What was measured, as data: what JSON files hold and what tables and plots are made from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Point { // one operation at one size
    std::string operation;
    std::size_t bytes = 0;
    int iterations = 0;
    double median = 0, least = 0, greatest = 0; // microseconds, of the slowest rank
    double tenth = 0, ninetieth = 0;            // percentiles: between them lie four calls out of five
    std::vector<double> roots{};                // the median of each root, where every rank was one
    // Where overlap was measured: medians of a computation alone and of both together, and how many percent of the
    // communication did not add to the computation; else negative.
    double computation = -1, both = -1, hidden = -1;
    std::string algorithm{}; // what did it, where the library tells; else empty
    double loop = -1;        // a call's median time in loops of calls back to back, where these were measured
    std::string kernel{}, loop_kernel{}; // of the limit: what was the fastest, in both
};

// As the OSU micro-benchmarks define overlap, between 0 and 100.
double hidden_percent(const Point &point);

struct Series { // measured in the same way: with one library, by one algorithm, by the kernels of the limit
    std::string name;
    std::string library; // what the MPI library says of itself
    std::string family;  // whose algorithm it is, where it is a certain one
    std::vector<Point> points;
    std::vector<std::string> lacks; // operations that were asked for and that its library does not have
};

struct Results {
    int ranks = 0;
    bool cached = false;
    bool overlap = false; // all points have it
    std::string processor;
    bool loop = false;    // all points have it
    std::string one_sided{}; // with one-sided operations: how they were measured, in words
    int per_sync = 1;        // how many of them lie between two synchronisations
    double clock = 0;     // what reading the clock takes, in microseconds; no point's time has it
    std::vector<Series> series; // the first one is what the others are compared with
};

inline constexpr char limit_name[] = "limit"; // the series of the kernels written by hand

std::string as_json(const Results &results);

// Of one-sided operations between two synchronisations, whose point has the time of one: millions of them, and 10^9
// bytes, in a second.
double millions_per_second(const Point &point);
double gigabytes_per_second(const Point &point);

double median_of(std::vector<double> values); // of at least one

} // namespace bench
