// SPDX-License-Identifier: BSD-3-Clause
// Merges and compares results, and reads result files.
#pragma once

#include <stdexcept>

#include "../program/results.hpp"
#include "growth.hpp"

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

/// The role of a series in a comparison.
inline bool is_limit(Series const& series) { return series.name == limit_name; }
inline bool is_algorithm(Series const& series) { return !series.family.empty(); }
inline bool is_published(Series const& series) { return is_algorithm(series) && series.family != "Tutti"; }

/// Reads the file that --json of one run wrote. Throws BenchError if the file is not of this kind.
Results read_results(std::string const& file);

/// Reads several files as one comparison: series of the same name are distinguished by their file's name. Joins files
/// of different numbers of ranks if at least one of them has several (then `cores` is not 0). Throws BenchError.
Growth read_all(std::vector<std::string> const& files);

}   // namespace bench
