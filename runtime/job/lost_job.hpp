// SPDX-License-Identifier: BSD-3-Clause
// Detects ranks that have lost their job. A rank whose environment variables were removed between mpiexec and the
// program, for example by `sudo`, `su -` or `env -i`, would be rank 0 of a world of its own, like each of its peers.
// MPI_Init refuses that if the job is visible among the process's ancestors; otherwise it leaves a mark by which
// mpiexec reports such ranks at the end of the job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti {

/// A process from which this one descends.
struct Ancestor {
    pid_t process = 0;
    std::string name;   ///< /proc/PID/comm
};

/// Returns the ancestors of this process that /proc shows, the parent first, at most 64.
std::vector<Ancestor> ancestors_of_this_process();

/// Returns the memory map of a process as text, /proc/PID/maps; empty if it belongs to another user.
std::string memory_map_of(pid_t process);

/// The launcher of a job of several ranks from which this process descends.
struct LostJob {
    pid_t launcher = 0;
    std::string name;   ///< mpiexec, mpirun or tutti-daemon
};

/// Returns the job of which this process, which has none of a rank's variables, was meant to be a rank. Returns none
/// if no ancestor is a launcher of ours, if its job has one rank, or below a process that uses MPI itself: a rank
/// that starts a program with a cleaned environment requests a world of its own. Reads /proc; returns none where that
/// shows too little.
std::optional<LostJob> find_lost_job();

/// Marks the pipes to which this process prints, because MPI_Init has found no job. Does nothing if there is no pipe,
/// or only one of another user. The mark is the sticky bit of an anonymous pipe, which has no other meaning and
/// survives this process.
void mark_singleton_output();

/// Called by the reader of a pipe. Returns true if a process that printed into it has called `mark_singleton_output`.
bool has_singleton_mark(int pipe);

namespace launch {

/// Names (/proc/PID/comm) of the launcher's child that continues after its end; the second one for a job of one rank.
inline constexpr char guardian_name[] = "mpiexec-guard", singleton_guardian_name[] = "mpiexec-guard-1";

}   // namespace launch
}   // namespace tutti
