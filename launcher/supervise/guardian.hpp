// SPDX-License-Identifier: BSD-3-Clause
// A sleeping process that cleans up when mpiexec is killed with SIGKILL. Ranks then die by themselves
// (PR_SET_PDEATHSIG); the guardian finds the processes that they have started by process group or environment, and
// kills them. Also functions to find orphaned processes.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "launcher/base/proc.hpp"

namespace tutti::launcher {

class Guardian {
public:
    /// Forks the guardian. Must be called early, while the process has little memory and no descriptor that matters.
    /// Processes that have lost their job's variables learn from the guardian's name whether the job has one rank
    /// (runtime/job/lost_job.hpp).
    explicit Guardian(bool has_one_rank);
    /// The job has ended normally: the guardian exits without killing anything.
    ~Guardian();

    pid_t pid() const { return pid_; }

    /// Adds or removes a process group of the job, given by its leader.
    void add_group(pid_t group) { send(group); }
    void remove_group(pid_t group) { send(-group); }

private:
    void send(pid_t group);   ///< a process group to add; negative: one to remove; 0: the job has ended normally

    Descriptor pipe_;
    pid_t pid_ = -1;
};

/// Kills every process, except this one, that is in one of the groups or has `entry` ("NAME=VALUE") in its environment.
/// Returns the number of processes killed. If /proc is that of another pid namespace, kills and counts only the groups.
int kill_processes(std::set<pid_t> const& groups, std::string const& entry);

// Processes that ranks have started and left behind. mpiexec is a subreaper: orphans below it become its children,
// whatever session or group they moved to, so they can be listed and ended.

/// Makes orphaned descendants children of this process from now on.
void adopt_orphans();

/// Returns the children of this process, including zombies; empty if the kernel does not list them.
std::vector<pid_t> children();

/// Returns "process 4711 (name)"; empty if the process has ended, even if it has not been reaped yet.
std::string running_process(pid_t pid);

/// Returns true if the process was started with `entry` ("NAME=VALUE") in its environment.
bool has_environment_entry(pid_t pid, std::string const& entry);

/// Returns true if the process has one of these pipes open. `pipes`: their inodes.
bool has_pipe_open(pid_t pid, std::set<ino_t> const& pipes);

}   // namespace tutti::launcher
