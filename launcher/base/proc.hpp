// SPDX-License-Identifier: BSD-3-Clause
// Processes in /proc. Where this process has a pid namespace of its own and sees the /proc of another one, the numbers
// there mean other processes: nothing in it is then read or believed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// Do the numbers in /proc mean the processes that they mean to this process?
bool proc_has_our_numbers();

/// "/proc/PID", or a folder that does not exist where that is another process.
std::string process_folder(pid_t process);

/// Those that the main thread of a process has started; none where the kernel does not list them.
std::vector<pid_t> children_of(pid_t process);

/// The number that a process has here which in the pid namespace `space` has `number`: `ancestor` or one of its
/// descendants; 0: there is none, or it cannot be seen.
pid_t descendant_with(pid_t ancestor, pid_t number, std::uint64_t space);

}   // namespace tutti::launcher
