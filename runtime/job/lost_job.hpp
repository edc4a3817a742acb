// SPDX-License-Identifier: BSD-3-Clause
// A rank whose variables were removed between mpiexec and the program, as by `sudo`, `su -` and `env -i`, would be rank
// 0 of a world of its own, as each of its peers. MPI_Init refuses where the job can be seen among the process's
// ancestors; otherwise it leaves evidence, by which mpiexec reports such ranks at the job's end.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace tutti {

/// The launcher of a job of several ranks from which this process descends.
struct LostJob {
    pid_t launcher = 0;
    std::string name;   ///< mpiexec, mpirun or tutti-daemon
};

/// The job of which this process, which has none of a rank's variables, was meant to be a rank. None if no ancestor is
/// a launcher of ours, if its job has one rank, and below a process that uses MPI itself: a rank that starts a program
/// with a cleaned environment asks for a world of its own. Reads /proc; none where that shows too little.
std::optional<LostJob> find_lost_job();

/// Marks the pipes to which this process prints: MPI_Init has found no job. Ignored where there is no pipe, or one
/// of another user. An anonymous pipe's sticky bit means nothing to anybody else, and survives this process.
void mark_world_of_one();

/// Has a process that printed into this pipe called `mark_world_of_one`? For the reader of the pipe.
bool has_world_of_one(int pipe);

namespace launch {

/// Name (/proc/PID/comm) of the child of a launcher that outlives it; the second one for a job of one rank.
inline constexpr char guardian_name[] = "mpiexec-guard", guardian_of_one_name[] = "mpiexec-guard-1";

}   // namespace launch
}   // namespace tutti
