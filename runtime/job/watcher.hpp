// SPDX-License-Identifier: BSD-3-Clause
// A job that another launcher has started, or nobody, has no supervisor that looks at blocked ranks. There the first
// rank of a node that is blocked for a second, or finds a mistake, starts a process that does, `tutti-daemon --watch`.
// It ends by itself when no rank of the node is left.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

class Segment;
class Waiter;

class Watcher {
public:
    /// As Process::end_job.
    using EndJob = void (*)(int code, std::string const& sentence);

    /// Looks in each long wait of a rank on that segment; both outlive it. Not for jobs that our mpiexec supervises.
    Watcher(Segment const& segment, Waiter& waiter, EndJob end_job);

    /// Unless somebody watches already. False: it cannot be had.
    bool start();
    /// Ends the job, if that is the watcher's verdict.
    void obey() const;

private:
    static void look(void const* watcher, std::int64_t waited_ns);
    bool run() const;

    Segment const& segment_;
    EndJob const end_job_;
    bool tried_ = false;
};

}   // namespace tutti
