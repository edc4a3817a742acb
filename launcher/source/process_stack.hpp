// SPDX-License-Identifier: BSD-3-Clause
// Where processes are at this moment, seen from outside: the stacks of their main threads. A thread that sleeps is not
// disturbed; one that runs is stopped for as long as copying its registers and its stack takes. The copy is walked
// afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

struct ProcessStack {
    /// As /proc/PID/stat has it: R runs, S sleeps, D sleeps and cannot be interrupted, T was stopped by a signal, t by
    /// a debugger, Z has ended; 0: not known.
    char state = 0;
    /// For SourceLines::at, the innermost first: return addresses, or where a thread has been interrupted, one more.
    /// Empty where the kernel does not let us see it. Without libdw, the innermost alone.
    std::vector<std::uint64_t> addresses{};
};

/// Of processes that this one may trace, such as its descendants; addresses of the first `most` of them. Those that do
/// not stop within half a second, together, have none. Must not be called while another thread of this process waits
/// for children.
std::vector<ProcessStack> stacks_of(std::vector<pid_t> const& processes, std::size_t most);

/// For a status that waitpid has returned: lets the process go on if it has stopped for stacks_of, but too late.
/// Returns true if so.
bool release_stopped(pid_t process, int status);

}   // namespace tutti::launcher
