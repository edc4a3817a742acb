// SPDX-License-Identifier: BSD-3-Clause
// Growth on the screen.
#pragma once

#include "growth.hpp"

#include <iosfwd>

namespace bench {

// For each operation and size a line per number of ranks: of each series the time, its work and its slope, of single
// calls and, where they were measured, of loops; what ran, where the library tells; each other series' time divided by
// the first one's; the slope of p log p. Lines wider than `width` are continued in a second table.
void print_growth(std::ostream &out, const Growth &growth, std::size_t width);

} // namespace bench
