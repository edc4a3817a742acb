// SPDX-License-Identifier: BSD-3-Clause
// Moving numbers by load and store, in the ways that are known to be fast somewhere. Which one is fastest depends on
// the machine and on where the lines are, so nobody guesses: the limit of an operation is the best of them.
#pragma once

#include <cstddef>

namespace bench {

enum class Traffic {
    string,    // rep movsb where the processor has it, else the C library's copy
    ahead,     // vector loads and stores, with both ends prefetched: more lines under way from another core's cache
    streaming, // non-temporal stores, over several pages at a time: for what no cache will hold
};
inline constexpr Traffic all_traffic[] = {Traffic::string, Traffic::ahead, Traffic::streaming};

void copy(double *to, const double *from, std::size_t count, Traffic traffic);

// to[0][i] = ... = to[copies - 1][i] = the sum of from[0][i], from[1][i] ... in that order: one pass over all operands.
void sum(double *const *to, int copies, const double *const *from, int operands, std::size_t count, Traffic traffic);

} // namespace bench
