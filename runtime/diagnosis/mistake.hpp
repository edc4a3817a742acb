// SPDX-License-Identifier: BSD-3-Clause
// A mistake of the program that a rank has found is shown to the launcher, which tells it with source lines: an error
// ends the job, a warning is told at its end. Where no launcher of ours looks, the rank tells it itself.
#pragma once

#include <span>
#include <string>

#include "runtime/process.hpp"

namespace tutti {

struct Mistake {
    struct Part {
        int rank;   ///< of MPI_COMM_WORLD
        std::string call, remark;
        std::uint64_t site;   ///< return address; 0: not known
    };

    char const* code;              ///< "T03", as `mpiexec --explain` knows it
    std::string headline;          ///< of a warning without ranks: equal ones of all ranks are told as one
    std::string help;              ///< what to do, a sentence without its full stop
    std::span<Part const> parts;   ///< at most Finding::most_places; more are not told
};

/// By the rank that has found it, which goes no further.
[[noreturn]] void report(Process& process, Mistake const& mistake);
/// By the rank that has found it, which goes on when the launcher has taken it (some 50 ms), or does not.
void warn(Process& process, Mistake const& mistake);

}   // namespace tutti
