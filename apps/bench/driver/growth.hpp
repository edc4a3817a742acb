// SPDX-License-Identifier: BSD-3-Clause
// How the time of a call grows with the number of ranks: results at several numbers of ranks, and derived quantities.
#pragma once

#include "../program/results.hpp"

#include <string>
#include <vector>

namespace bench {

struct Growth {
    int cores = 0;               ///< cores that all ranks together had; 0 if there is a single number of ranks
    std::vector<Results> runs;   ///< by number of ranks, ascending; series of the same name (and family) correspond
};

std::string as_json(Growth const& growth);

/// The cost of a call at one number of ranks.
struct Step {
    int ranks;
    Point const* point;
    double time;   ///< microseconds; of single calls or of loops
    /// A core's time per rank and call: a call occupies min(ranks, cores) cores while it lasts; this is divided by the
    /// number of ranks. Constant if the time is proportional to the number of ranks.
    double work;
    /// Exponent s such that the time has grown like ranks^s since the previous step; NaN for the first step.
    double slope;
};

struct Curve {
    std::string name;   ///< of the series
    std::vector<Step> steps;
};

/// Returns one curve per series that has the operation at this size, in the order of first appearance.
std::vector<Curve> curves_of(Growth const& growth, std::string const& operation, std::size_t bytes,
                             double Point::*time);

/// Returns the core's time per rank of a call that takes this time.
double work_of(double time, int ranks, int cores);

/// Returns the exponent s such that p log p grows like p^s from one number of ranks, at least 2, to another.
double slope_of_p_log_p(int from, int to);

std::vector<std::string> operations_in(Growth const& growth);
std::vector<std::size_t> sizes_in(Growth const& growth, std::string const& operation);

}   // namespace bench
