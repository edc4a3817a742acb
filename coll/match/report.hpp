// SPDX-License-Identifier: BSD-3-Clause
// A mistake of the program is shown to the launcher, which tells it with source lines and ends the job.
#pragma once

#include <span>
#include <string>

#include "runtime/process.hpp"

namespace tutti::coll {

struct Mistake {
    struct Part {
        int rank;   ///< of MPI_COMM_WORLD
        std::string call, remark;
        std::uint64_t site;   ///< return address; 0: not known
    };

    char const* code;
    std::string headline, help;
    std::span<Part const> parts;   ///< at most Finding::most_places
};

/// By the rank that has found it, which goes no further.
[[noreturn]] void report(Process& process, Mistake const& mistake);

}   // namespace tutti::coll
