// SPDX-License-Identifier: BSD-3-Clause
// Measuring one operation at one size.
#pragma once

#include "operation.hpp"
#include "settings.hpp"
#include "shared_page.hpp"

#include <string>

namespace bench {

struct Result {
    int iterations = 0;
    double median = 0, least = 0, greatest = 0; // microseconds, of the slowest rank
    std::string wrong;                          // what was wrong with the first wrong result; the same on every rank
};

// Collective; the result is complete on rank 0.
Result measure(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
               MPI_Comm comm);

// The same for the best kernel of the same memory traffic; only where limit_of(operation.name) knows one.
Result measure_limit(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
                     MPI_Comm comm);

} // namespace bench
