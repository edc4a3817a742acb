// SPDX-License-Identifier: BSD-3-Clause
// Processes as the launcher handles them: the descriptors and pipes that connect it with them, and what /proc shows of
// them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

namespace tutti::launcher {

/// Owns one descriptor, or none (−1), and closes it on destruction.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset() {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }

private:
    int number_ = -1;
};

/// Both ends of a pipe, closed on exec so that no rank inherits them by accident. make() throws LaunchError.
struct Pipe {
    Descriptor read, write;
    static Pipe make();
};

/// Returns the descriptors above 2 that programs inherit which this process starts.
std::vector<int> inheritable_descriptors();

// Processes in /proc. If this process has a pid namespace of its own but sees the /proc of another namespace, the
// numbers there denote other processes; nothing in it is then used.

/// Returns true if the process numbers in /proc are those of this process's pid namespace.
bool proc_matches_pid_namespace();

/// Returns "/proc/PID", or a folder that does not exist if the numbers in /proc denote other processes.
std::string process_folder(pid_t process);

/// Returns the children that the main thread of `process` has started; empty if the kernel does not list them.
std::vector<pid_t> children_of(pid_t process);

/// Returns the pid, in this namespace, of the process that has `pid` in the pid namespace `pid_namespace` (the inode of
/// /proc/PID/ns/pid). Searches `ancestor` and its descendants. Returns 0 if no such process exists or is visible.
pid_t find_descendant(pid_t ancestor, pid_t pid, std::uint64_t pid_namespace);

}   // namespace tutti::launcher
