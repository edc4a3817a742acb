// SPDX-License-Identifier: BSD-3-Clause
// A mistake of the program that a rank has found is shown to the launcher, which reports it with source lines: an
// error ends the job, a warning is reported at its end. Where no launcher of ours watches, the rank starts a process
// that does (runtime/job/watcher.hpp); where there is no such program, it reports the mistake itself.
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

/// Returns true for the first rank of the node that asks for this code and headline, unless another report has come
/// between: for ranks that print reports themselves.
bool is_first_on_node(Segment const& segment, std::string const& code, std::string const& headline);

/// By the rank that has found it, which goes no further.
[[noreturn]] void report(Process& process, Mistake const& mistake);
/// By the rank that has found it, which goes on when the launcher has taken it (some 50 ms), or does not.
void warn(Process& process, Mistake const& mistake);
/// By a rank that has completed MPI_Finalize: returns when its warnings have been printed, where the watcher has them.
void print_warnings(Process& process);

}   // namespace tutti
