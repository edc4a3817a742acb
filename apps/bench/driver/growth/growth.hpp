// SPDX-License-Identifier: BSD-3-Clause
// How the time of a call grows with the number of ranks: results at several numbers of them, and what follows.
#pragma once

#include "../../program/results/results.hpp"

#include <string>
#include <vector>

namespace bench {

struct Growth {
    int cores = 0;             // that the ranks had, all together; 0 where there is one number of ranks
    std::vector<Results> runs; // by number of ranks, ascending; series of one name (and family) belong together
};

std::string as_json(const Growth &growth);

// What a call costs at one number of ranks.
struct Step {
    int ranks;
    const Point *point;
    double time; // microseconds; of single calls or of loops
    // A core's time per rank and call: while a call lasts, it keeps min(ranks, cores) cores, which is divided by the
    // ranks. Constant where time is proportional to the ranks.
    double work;
    double slope; // the power of the ranks with which time has grown since the step before; the first one has NaN
};

struct Curve {
    std::string name; // the series'
    std::vector<Step> steps;
};

// One curve for each series that has the operation at this size, in the order of their first appearance.
std::vector<Curve> curves_of(const Growth &growth, const std::string &operation, std::size_t bytes,
                             double Point::*time);

// The core's time that a call of this time takes per rank.
double work_of(double time, int ranks, int cores);

// The power of p with which p log p grows from one number of ranks to another one; of at least 2.
double slope_of_p_log_p(int from, int to);

std::vector<std::string> operations_in(const Growth &growth);
std::vector<std::size_t> sizes_in(const Growth &growth, const std::string &operation);

} // namespace bench
