// SPDX-License-Identifier: BSD-3-Clause
// A series of measurements under way, and a pass of it: alter the buffers, meet at the shared page, call, look at the
// clock, check.
#pragma once

#include "../operations/buffers.hpp"
#include "measure.hpp"
#include "traffic.hpp"

#include <ctime>

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
};

// What is called, on which buffers, and the times so far.
class Measurement {
public:
    // Collective: a persistent operation's requests are made here, one for each root. `calls` is false where no call
    // of MPI's is timed.
    Measurement(const Line &line, const Room &room, double *send, double *receive, MPI_Comm comm, bool calls);
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

    Buffers buffers;
    Traffic traffic{};   // of a kernel's measurement
    bool checks = true;  // the call delivers results
    const bool calls;    // what is timed is a call of MPI's
    std::vector<double> times;
    std::vector<int> roots;
    std::string wrong;

private:
    const Operation &operation_;
    std::vector<MPI_Request> persistent_;
};

// A block of iterations.
struct Pass {
    int root, iterations, warmup, least_iterations;
    double seconds;
};

// `run` is what is timed.
template <class Run>
void run_pass(const Line &line, Measurement &measurement, const Pass &pass, Run run)
{
    Call &call = measurement.buffers.call;
    SharedPage &page = line.page;
    const double end = now_us() + pass.seconds * 1e6, late = end + pass.seconds * 4e6;
    for (int iteration = -pass.warmup; iteration < pass.iterations; ++iteration) {
        const int number = iteration + pass.warmup;
        call.root = !line.operation.rooted ? 0 : pass.root == every_root ? number % call.ranks : pass.root;
        const bool fresh = !line.settings.cached || number == 0;
        if (fresh)
            measurement.buffers.alter(number);
        // A crowded machine may take all the time for the warm-up; a median needs some numbers all the same.
        if (call.rank == 0)
            page.say(now_us() > end && (iteration >= pass.least_iterations || (iteration > 0 && now_us() > late)));
        page.barrier();
        if (page.heard()) {
            page.barrier(); // rank 0 says nothing new before all have heard this
            break;
        }
        const double start = now_us();
        run();
        const double time = (now_us() - start) * line.operation.share;
        page.barrier(); // nobody alters a buffer that a peer may still read, nor hears the next word too early
        if (iteration >= 0) {
            measurement.times.push_back(time);
            measurement.roots.push_back(call.root);
        }
        // Cached buffers keep the numbers of the first call, but a receive buffer may then hold them from before.
        if (line.settings.check && measurement.checks && fresh && measurement.wrong.empty())
            measurement.wrong = measurement.buffers.wrong(line.operation, number, number == 0);
    }
}

// Each iteration's time becomes the slowest rank's, on rank 0; the outcome is made of these. Collective.
Outcome summarise(const Line &line, std::size_t bytes, Measurement &measurement);

} // namespace bench
