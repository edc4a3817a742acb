// SPDX-License-Identifier: BSD-3-Clause
// A job that another launcher has started, or nobody, has no supervisor that looks at blocked ranks. There the first
// rank of a node that is blocked for a second starts a process that does, `tutti-daemon --watch`; it ends by itself when
// no rank of the node is left.
#pragma once

#include <cstdint>

namespace tutti {

class Process;

class Watcher {
public:
    /// Looks in each long wait of that process, which outlives it. Not for jobs that our mpiexec supervises.
    explicit Watcher(Process& process);

private:
    static void look(void const* watcher, std::int64_t waited_ns);
    void start();

    Process& process_;
    bool tried_ = false;
};

}   // namespace tutti
