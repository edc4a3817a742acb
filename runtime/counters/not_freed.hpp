// SPDX-License-Identifier: BSD-3-Clause
// Objects that the program has made and not freed when it calls MPI_Finalize, as the rank counts them for the launcher.
#pragma once

#include <array>

#include "runtime/base/flag.hpp"
#include "runtime/counters/counter.hpp"

namespace tutti {

struct alignas(cache_line) NotFreed {
    enum Kind { comms, windows, datatypes, groups, operators, infos, keyvals, errhandlers, requests, kinds };
    /// One of each kind, in words; several have an "s" behind it.
    static constexpr std::array<char const*, kinds> names{"communicator", "window",        "datatype",
                                                          "group",        "operator",      "info object",
                                                          "key value",    "error handler", "persistent request"};

    std::array<Counter, kinds> objects;
};

}   // namespace tutti
