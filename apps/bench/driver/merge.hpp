// SPDX-License-Identifier: BSD-3-Clause
// From several runs to one result, and what one asks of a result.
#pragma once

#include "../program/results/results.hpp"

namespace bench {

// Series of one name become one (of algorithms, those of one operation): at each operation and size the median of the
// runs' medians and percentiles, the least and the greatest of all. They are in the order of their first appearance,
// the limit's last.
Results merge(const std::vector<Results> &runs);

// Null where the series has no such point.
const Point *find(const Series &series, const std::string &operation, std::size_t bytes);

std::vector<std::string> operations_in(const Results &results);
std::vector<std::size_t> sizes_in(const Results &results, const std::string &operation); // ascending

// What ran, where the library tells, by growing size.
std::vector<std::string> algorithms_in(const Series &series, const std::string &operation);

// Who a series is in a comparison.
inline bool is_limit(const Series &series) { return series.name == limit_name; }
inline bool is_algorithm(const Series &series) { return !series.family.empty(); }
inline bool is_published(const Series &series) { return is_algorithm(series) && series.family != "Tutti"; }

} // namespace bench
