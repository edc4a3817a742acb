// SPDX-License-Identifier: BSD-3-Clause
// A sleeping process that outlives mpiexec by a moment when that is killed with SIGKILL: ranks then die by themselves
// (PR_SET_PDEATHSIG), what they started is found by its environment and killed.
#pragma once

#include <sys/types.h>

#include "launcher/descriptor.hpp"

namespace tutti::launcher {

class Guardian {
public:
    /// Forks it. Call early: it should have no memory and no descriptor that matters.
    Guardian();
    /// The job has ended in order: the guardian just goes.
    ~Guardian();

    pid_t pid() const { return pid_; }

private:
    Descriptor line_;
    pid_t pid_ = -1;
};

/// Kills every process whose environment has NAME=VALUE as `entry`; says how many there were.
int kill_by_environment(char const* entry);

}  // namespace tutti::launcher
