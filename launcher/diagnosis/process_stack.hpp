// SPDX-License-Identifier: BSD-3-Clause
// Stacks of the main threads of other processes, taken from outside. A thread that sleeps is not disturbed; one that
// runs is stopped while its registers and its stack are copied. The copy is unwound afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The files with machine code that a process has mapped.

namespace tutti::launcher {

/// Consecutive mappings of one file.
struct LoadedFile {
    std::uint64_t begin = 0, end = 0;   ///< addresses
    bool executable = false;            ///< at least one of the mappings is executable
    std::string path{};   ///< as in /proc/PID/maps, where " (deleted)" is appended to the name of a deleted file

    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

inline constexpr char deleted_ending[] = " (deleted)";
/// The code that the kernel maps into each process without a file.
inline constexpr char vdso_name[] = "[vdso]";

/// Returns the files with executable mappings, from the text of /proc/PID/maps, including the vdso.
std::vector<LoadedFile> loaded_files(std::string_view maps);
/// Returns the files that a process has mapped now; empty if the process is gone or access is not permitted.
std::vector<LoadedFile> loaded_files(pid_t process);

/// Opens the file as the process sees it, possibly in a container. A deleted file can be opened only if it is the
/// running program itself: a library of the same name may be a different one by now. Returns -1 if the file cannot be
/// opened.
int open_loaded_file(pid_t process, std::string const& path);

struct ProcessStack {
    /// State from /proc/PID/stat: R running, S sleeping, D in uninterruptible sleep, T stopped by a signal, t stopped
    /// by a debugger, Z ended; 0: not known.
    char state = 0;
    /// Addresses for SourceLines::at, innermost first: return addresses, or the interrupted address plus one where a
    /// thread was interrupted. Empty if the kernel does not permit access. Without libdw, only the innermost address.
    std::vector<std::uint64_t> addresses{};
};

/// Returns the stacks of processes that this process may trace, such as its descendants; addresses are read for the
/// first `max_stacks` of them. Running processes that have not stopped within half a second in total have no addresses.
/// Must not be called while another thread of this process waits for children.
std::vector<ProcessStack> stacks_of(std::vector<pid_t> const& processes, std::size_t max_stacks);

/// Handles a `status` that waitpid has returned: resumes the process if it stopped for stacks_of, but too late. Returns
/// true if so.
bool release_stopped(pid_t process, int status);

}   // namespace tutti::launcher
