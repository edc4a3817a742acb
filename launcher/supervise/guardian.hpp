// SPDX-License-Identifier: BSD-3-Clause
// A sleeping process that outlives mpiexec by a moment when that is killed with SIGKILL: ranks then die by themselves
// (PR_SET_PDEATHSIG); what they started is found by its process group or its environment and killed.
#pragma once

#include <set>
#include <string>

#include <sys/types.h>

#include "launcher/base/descriptor.hpp"

namespace tutti::launcher {

class Guardian {
public:
    /// Forks it. Call early: it should have no memory and no descriptor that matters. By its name, processes that have
    /// lost their job's variables find out whether the job has one rank (runtime/job/lost_job.hpp).
    explicit Guardian(bool of_one_rank);
    /// The job has ended in order: the guardian just goes.
    ~Guardian();

    pid_t pid() const { return pid_; }

    /// From now on this process leads a group of the job; from now on it does no more.
    void watch(pid_t group) { tell(group); }
    void forget(pid_t group) { tell(-group); }

private:
    void tell(pid_t word);

    Descriptor line_;
    pid_t pid_ = -1;
};

/// Kills every process that is in one of the groups or has NAME=VALUE as `entry` in its environment; says how many.
int kill_all_of(std::set<pid_t> const& groups, std::string const& entry);

}   // namespace tutti::launcher
