// SPDX-License-Identifier: BSD-3-Clause
// The results of a comparison: at one number of ranks, merged from several runs or files, and at several, where they
// show how the time of a call grows.
#pragma once

#include "../program/results.hpp"
#include "process.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// An error that ends the driver: a message for the user, without the final full stop.
struct BenchError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Merges series of the same name (and, for algorithms, of the same operation). At each operation and size, the result
/// has the median of the runs' medians and percentiles, and the least and the greatest of all times. Series are in the
/// order of first appearance, with the limit last.
Results merge(std::vector<Results> const& runs);

/// Returns null if the series has no such point.
Point const* find(Series const& series, std::string const& operation, std::size_t bytes);

std::vector<std::string> operations_in(Results const& results);
std::vector<std::size_t> sizes_in(Results const& results, std::string const& operation);   ///< ascending

/// Returns the algorithms that ran, by increasing size, if the library reports them.
std::vector<std::string> algorithms_in(Series const& series, std::string const& operation);

/// If messages were measured, adds for each of Tutti's series one with the times by the model of its algorithm, where
/// tutti-info states them. Replaces those of an earlier call. `alpha`: as in tutti-info --message-times.
void add_models(Results& results, double alpha, int root, TemporaryFolder const& folder);

/// The role of a series in a comparison.
inline constexpr char model_ending[] = " model";   ///< of the names of models, after that of the series
inline bool is_model(Series const& series) { return series.name.ends_with(model_ending); }
inline bool is_limit(Series const& series) { return series.name == limit_name; }
inline bool is_algorithm(Series const& series) { return !series.family.empty(); }
inline bool is_published(Series const& series) { return is_algorithm(series) && series.family != "Tutti"; }

/// Reads the file that --json of one run wrote. Throws BenchError if the file is not of this kind.
Results read_results(std::string const& file);

/// Results at several numbers of ranks.
struct Growth {
    int cores = 0;               ///< cores that all ranks together had; 0 if there is a single number of ranks
    std::vector<Results> runs;   ///< by number of ranks, ascending; series of the same name (and family) correspond
};

/// Reads several files as one comparison: series of the same name are distinguished by their file's name. Joins files
/// of different numbers of ranks if at least one of them has several (then `cores` is not 0). Throws BenchError.
Growth read_all(std::vector<std::string> const& files);

// How the time of a call grows with the number of ranks.

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
