// SPDX-License-Identifier: BSD-3-Clause
// The machine of ranks that were not started by our mpiexec. One rank of each node reads it from /sys. If that does
// not describe the caches, as in many virtual machines, this rank runs `tutti-daemon --machine`, which queries hwloc
// and prints the machine as text, while the rank waits for the others. It passes the result to them in the node's
// segment.
#pragma once

#include <string>
#include <vector>

#include "runtime/job/join_job.hpp"
#include "topo/machine.hpp"

#include <sys/types.h>

namespace tutti {

/// The program that detects a machine.
struct MachineHelper {
    std::string program = daemon_program();   ///< called with "--machine"
    int limit_ms = 5000;                      ///< time limit in milliseconds; the program is killed afterwards
};

class NodeMachine {
public:
    /// `root` is prepended to /proc and /sys, for tests.
    explicit NodeMachine(std::string root = "", MachineHelper helper = {});
    ~NodeMachine();   ///< ends a helper whose answer was not awaited
    NodeMachine(NodeMachine const&) = delete;
    NodeMachine& operator=(NodeMachine const&) = delete;

    /// Starts the helper unless /sys completely describes `units`: those of the calling rank, as long as it does not
    /// know the others'. Does not wait. The program may receive SIGCHLD when the helper ends.
    void start(std::vector<int> const& units);

    /// Returns the machine reduced to these processing units, at least one. Starts the helper if it is needed and not
    /// running, and waits some milliseconds for its answer. If neither /sys nor the helper describes the caches,
    /// their sizes are 0 (Caches::without_unknowns).
    topo::Machine reduced_to(std::vector<int> const& units);

private:
    void start_helper();
    std::string read_helper_output();

    std::string const root_;
    MachineHelper const helper_;
    pid_t child_ = 0;      ///< 0: none
    int output_fd_ = -1;   ///< the read end of the child's standard output; -1: none
};

}   // namespace tutti
