// SPDX-License-Identifier: BSD-3-Clause
// Measuring one operation at one size.
#pragma once

#include "../operations/operation.hpp"
#include "../results/results.hpp"
#include "../start/settings.hpp"
#include "shared_page.hpp"
#include "../operations/variants.hpp"

namespace bench {

struct Outcome {
    Point point;
    std::string wrong; // what was wrong with the first wrong result; the same on every rank
};

// One outcome per variant, in their order; then, where the settings ask for it and there are limit_kernels(), that of
// the best of them. All alternate in blocks of iterations. Collective; the points are
// complete on rank 0.
std::vector<Outcome> measure(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
                             const Variants &variants, MPI_Comm comm);

// The same for the overlap with a computation; the points' times are those of the communication alone. For operations
// that have a start.
std::vector<Outcome> measure_overlap(const Operation &operation, std::size_t bytes, const Settings &settings,
                                     SharedPage &page, const Variants &variants, MPI_Comm comm);

} // namespace bench
