// SPDX-License-Identifier: BSD-3-Clause
// The machine under ranks that our mpiexec has not started. One rank of each node reads it from /sys. Where that does
// not describe the caches, as in many virtual machines, this rank runs `tutti-daemon --machine`, which asks hwloc and
// prints the machine as text, while the rank waits for the others. It passes the result on to them in the node's
// segment.
#pragma once

#include <string>
#include <vector>

#include "runtime/job/daemon_program.hpp"
#include "topo/machine/machine.hpp"

#include <sys/types.h>

namespace tutti {

/// The program that detects a machine.
struct MachineHelper {
    std::string program = daemon_program();   ///< called with "--machine"
    int limit_ms = 5000;                      ///< for which it is waited for; it is killed then
};

class NodeMachine {
public:
    /// `root` is prepended to /proc and /sys, for tests.
    explicit NodeMachine(std::string root = "", MachineHelper helper = {});
    ~NodeMachine();   ///< ends a helper whose answer was not waited for
    NodeMachine(NodeMachine const&) = delete;
    NodeMachine& operator=(NodeMachine const&) = delete;

    /// Starts the helper unless /sys describes these units completely: those of the calling rank, while it does not
    /// know the others'. Does not wait. The helper's end may be signalled to the program (SIGCHLD).
    void start(std::vector<int> const& units);

    /// The machine reduced to these processing units, at least one. Starts the helper if it is needed and not started,
    /// and waits for its answer, some milliseconds. Where neither /sys nor the helper describes the caches, their sizes
    /// are 0 (Caches::without_unknowns).
    topo::Machine reduced_to(std::vector<int> const& units);

private:
    void start_helper();
    std::string wait_for_answer();

    std::string const root_;
    MachineHelper const helper_;
    pid_t child_ = 0;   ///< 0: none
    int answer_ = -1;   ///< the reading end of the child's standard output; -1: none
};

}   // namespace tutti
