// SPDX-License-Identifier: BSD-3-Clause
// A series of measurements under way, and a pass of it: alter the buffers, meet at the shared page, call once or in a
// loop, look at the clock, check.
#pragma once

#include "../operations/buffers.hpp"
#include "../operations/window.hpp"
#include "measure.hpp"

#include <algorithm>
#include <ctime>
#include <memory>

namespace bench {

inline double now_us()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

// One line of the table.
struct Line {
    const Operation &operation;
    const Settings &settings;
    SharedPage &page;
    MPI_Comm comm;
    // How much of a measured time is one operation's.
    double share() const { return operation.accesses() ? operation.share / settings.per_sync : operation.share; }
};

// What is called, on which buffers, and the times so far.
class Measurement {
public:
    // Collective: a persistent operation's requests are made here, one for each root, and a one-sided operation's
    // window. `calls` is false where no call of MPI's is timed, on `one_sided` in place of a window.
    Measurement(const Line &line, const Room &room, double *send, double *receive, MPI_Comm comm, bool calls,
                const OneSided &one_sided = {});
    ~Measurement();
    Measurement(const Measurement &) = delete;
    Measurement &operator=(const Measurement &) = delete;

    // The operation from its beginning to its end.
    void perform()
    {
        if (operation_.run)
            return operation_.run(buffers.call);
        MPI_Request request;
        MPI_Wait(begin(&request), MPI_STATUS_IGNORE);
    }
    // Returns what is to be waited for: `request`, or a persistent one.
    MPI_Request *begin(MPI_Request *request)
    {
        if (operation_.start) {
            operation_.start(buffers.call, request);
            return request;
        }
        MPI_Request *persistent = &persistent_[operation_.rooted ? std::size_t(buffers.call.root) : 0];
        MPI_Start(persistent);
        return persistent;
    }

    // All ranks have done their part. There are libraries in which a target must call MPI for an origin to go on.
    void meet(SharedPage &page)
    {
        if (!window)
            return page.barrier();
        page.barrier_helping([this] {
            int found;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, buffers.call.comm, &found, MPI_STATUS_IGNORE);
        });
    }

    const std::unique_ptr<Window> window; // a one-sided operation's
    Buffers buffers;
    bool checks = true;  // the call delivers results
    const bool calls;    // what is timed is a call of MPI's
    std::vector<double> times; // of single calls
    std::vector<int> roots;
    std::vector<double> loops; // of a call in each loop
    std::string wrong;

private:
    const Operation &operation_;
    std::vector<MPI_Request> persistent_;
};

// A block of iterations, or of loops.
struct Pass {
    int root, iterations, warmup, least_iterations;
    double seconds;
};

// What two readings of the clock add to the time between them, in microseconds: the median of many.
double clock_cost();

// A call's time without what measuring adds to it; at least the clock's own step.
inline double call_time(double measured, double cost, double share)
{
    return std::max(0.001, (measured - cost) * share);
}

inline int root_of(const Line &line, const Call &call, const Pass &pass, int number)
{
    return !line.operation.rooted ? 0 : pass.root == every_root ? number % call.ranks : pass.root;
}

// All ranks meet; false where rank 0 finds the pass to be over.
inline bool goes_on(const Line &line, const Pass &pass, int rank, int iteration, double end)
{
    // A crowded machine may take all the time for the warm-up; a median needs some numbers all the same.
    const double late = end + pass.seconds * 4e6;
    if (rank == 0)
        line.page.say(now_us() > end &&
                      (iteration >= pass.least_iterations || (iteration > 0 && now_us() > late)));
    line.page.barrier(now_us());
    if (!line.page.heard())
        return true;
    line.page.barrier(); // rank 0 says nothing new before all have heard this
    return false;
}

// After goes_on: the time, once it is so late that all ranks have left the barrier. Where the last one to arrive began
// at once, it would be ahead of the others by a line's way, which is as long as a small call; who that is would decide
// about a rooted operation's time.
inline double begin_together(const SharedPage &page)
{
    const double begin = page.last_arrival() + 0.3 + 0.05 * page.ranks();
    double now = now_us();
    while (!page.crowded() && now < begin)
        now = now_us();
    return now;
}

// Single calls. `run` is what is timed.
template <class Run>
void run_pass(const Line &line, Measurement &measurement, const Pass &pass, Run run)
{
    Call &call = measurement.buffers.call;
    const double end = now_us() + pass.seconds * 1e6, cost = clock_cost();
    call.calls = 1;
    for (int iteration = -pass.warmup; iteration < pass.iterations; ++iteration) {
        const int number = iteration + pass.warmup;
        call.root = root_of(line, call, pass, number);
        const bool fresh = !line.settings.cached || number == 0;
        if (fresh)
            measurement.buffers.alter(number);
        if (!goes_on(line, pass, call.rank, iteration, end))
            break;
        const double start = begin_together(line.page);
        run();
        const double time = now_us() - start;
        // Nobody alters a buffer that a peer may still read, nor hears the next word too early.
        measurement.meet(line.page);
        if (iteration >= 0) {
            measurement.times.push_back(call_time(time, cost, line.share()));
            measurement.roots.push_back(call.root);
        }
        // Cached buffers keep the numbers of the first call, but a receive buffer may then hold them from before.
        if (line.settings.check && measurement.checks && fresh && measurement.wrong.empty())
            measurement.wrong = measurement.buffers.wrong(number, number == 0);
    }
}

// How many calls lie between two readings of the clock; 16 KiB and less fill a loop with a hundred.
int calls_in_loop(std::size_t bytes);

// The time of one loop, in which each call finds a number altered in each line of its buffers.
template <class Run>
double timed_loop(const Line &line, Measurement &measurement, const Pass &pass, int calls, Run run)
{
    Call &call = measurement.buffers.call;
    const double start = now_us();
    for (int number = 0; number < calls; ++number) {
        call.root = root_of(line, call, pass, number);
        if (!line.settings.cached)
            measurement.buffers.touch(number, number + 1 == calls);
        run();
    }
    return now_us() - start;
}

// Calls back to back. The result of each loop's last call is checked.
template <class Run>
void run_loops(const Line &line, Measurement &measurement, const Pass &pass, int calls, Run run)
{
    Call &call = measurement.buffers.call;
    const double end = now_us() + pass.seconds * 1e6;
    call.calls = calls;
    std::vector<double> nothing; // loops without a call
    for (int loop = 0; loop < 11; ++loop)
        nothing.push_back(timed_loop(line, measurement, pass, calls, [] {}));
    const double cost = median_of(nothing);
    for (int loop = -1; loop < pass.iterations; ++loop) {
        const bool fresh = !line.settings.cached || loop < 0;
        if (fresh)
            measurement.buffers.alter(calls - 1);
        if (!goes_on(line, pass, call.rank, loop, end))
            break;
        const double time = timed_loop(line, measurement, pass, calls, run);
        measurement.meet(line.page);
        if (loop >= 0)
            measurement.loops.push_back(call_time(time, cost, line.share() / calls));
        if (line.settings.check && measurement.checks && fresh && measurement.wrong.empty())
            measurement.wrong = measurement.buffers.wrong(calls - 1, loop < 0);
    }
}

// Each iteration's time becomes the slowest rank's, on rank 0; the outcome is made of these. Collective.
Outcome summarise(const Line &line, std::size_t bytes, Measurement &measurement);

} // namespace bench
