// SPDX-License-Identifier: BSD-3-Clause
// A job that another launcher has started, or that is a single process, has no supervisor that watches its ranks and
// reports errors. There the first rank of a node that is blocked or polls for a second, has an error to report, leaves
// or crashes starts a process that does, `tutti-daemon --watch`. It reports once for all ranks of the node, and ends by
// itself when none of them is left.
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

    /// Is called in each long wait of a rank on that segment, and while the rank polls for long; both outlive it. Not
    /// for jobs that our mpiexec supervises.
    Watcher(Segment const& segment, Waiter& waiter, EndJob end_job);

    /// Starts the watching process unless there is one. Returns false if it cannot be had. By any thread, but not by a
    /// signal handler.
    bool start();
    /// The same for a rank that has a segment and nothing else.
    static bool start(Segment const& segment);
    /// The same by a signal handler, of a process that has a Watcher.
    static bool start_in_handler(Segment const& segment);
    /// Ends the job, if that is the watcher's verdict.
    void obey() const;

private:
    static void look(void const* watcher, std::int64_t waited_ns);

    Segment const& segment_;
    EndJob const end_job_;
    bool tried_ = false;
};

}   // namespace tutti
