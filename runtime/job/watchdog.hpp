// SPDX-License-Identifier: BSD-3-Clause
// The watchdog of jobs without a supervisor. A job that another launcher has started, or that is a single process,
// has no supervisor that watches its ranks and reports errors. The first rank of a node that has been blocked or has
// polled for a second, has an error to report, exits or crashes starts a process for that, `tutti-daemon --watch`. It
// reports once for all ranks of the node, and ends by itself when none of them is left.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/wait/observers.hpp"

namespace tutti {

class Segment;
class Waiter;

class Watchdog final : public Observer {
public:
    /// As Process::end_job.
    using EndJob = void (*)(int code, std::string const& message);

    /// Registers with the waits of a rank on that segment: called in each long wait, and while the rank polls for
    /// long. `segment` and `waiter` must stay valid as long as this object. Not for jobs that our mpiexec supervises.
    Watchdog(Segment const& segment, Waiter& waiter, EndJob end_job);

    /// Starts the watchdog process unless there is one. Returns false if it cannot be started. Thread-safe, but not
    /// async-signal-safe.
    bool start();
    /// Same for a rank that has a segment and no Watchdog.
    static bool start(Segment const& segment);
    /// Same from a signal handler of a process that has a Watchdog.
    static bool start_in_handler(Segment const& segment);
    /// Ends the job if the watchdog has requested that.
    void end_job_if_requested() const;

private:
    void on_long_wait(std::int64_t waited_ns) override;

    Segment const& segment_;
    EndJob const end_job_;
    bool has_tried_start_ = false;
};

}   // namespace tutti
