// SPDX-License-Identifier: BSD-3-Clause
// The limit of an operation: a kernel written by hand for it over memory that all ranks share. It loads and stores
// every byte as often as the operation must, all ranks working where they can, and knows beforehand what a library has
// to find out: where everybody's buffers are, and that all can be reached. Ranks wait for each other twice: until the
// buffers may be touched, and until nobody touches them any more.
#pragma once

#include "../operations/operation.hpp"
#include "shared_page.hpp"
#include "traffic.hpp"

#include <string>

namespace bench {

struct LimitCall {
    const Call &call;
    const std::vector<const double *> &sends; // of all ranks
    const std::vector<double *> &receives;
    SharedPage &page;
    Traffic traffic;
};

using Limit = void (*)(const LimitCall &);

// Null when no kernel has been written for the operation.
Limit limit_of(const std::string &operation);

} // namespace bench
