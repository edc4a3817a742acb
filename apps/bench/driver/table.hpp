// SPDX-License-Identifier: BSD-3-Clause
// Comparisons on the screen.
#pragma once

#include "../program/results/results.hpp"
#include "runs/candidates.hpp"

#include <iosfwd>

namespace bench {

// For each operation the medians of all series by size, of single calls and, where these were measured, in loops; what
// ran where a series is no certain algorithm; then what one wants to know of them: each other MPI's time divided by
// ours, ours by the limit's, of single calls and in loops; of single calls alone the default's by the best
// algorithm's and by the best published one's; with `by_root`, for each series its dearest root's median divided by its
// cheapest one's; where overlap was measured, how much of it was hidden. What a library lacks is told in a sentence.
// Lines wider than `width` are continued in a second table; 0 is as wide as need be.
void print_tables(std::ostream &out, const Results &results, bool by_root, std::size_t width);

// operation,ranks,bytes,series,iterations,median,least,greatest; where they were measured, loop, and
// computation,both,hidden; then the algorithm that ran, where the library tells
void print_csv(std::ostream &out, const Results &results);

// Whose the algorithms are and what they do.
void print_legend(std::ostream &out, const std::vector<Candidate> &candidates);

} // namespace bench
