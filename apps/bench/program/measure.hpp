// SPDX-License-Identifier: BSD-3-Clause
// The measurement of one operation at one size, and the communicators and windows that are measured.
#pragma once

#include "operation.hpp"
#include "results.hpp"
#include "settings.hpp"
#include "shared_page.hpp"

#include <mpi.h>
#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// The communicators that are measured: the plain one and one on the grid, and two more for each --hint, created with
/// that info key. A library that does not know the key makes them identical to the originals.
class Variants {
public:
    Variants(Settings const& settings, MPI_Comm comm);   ///< collective
    ~Variants();
    Variants(Variants const&) = delete;
    Variants& operator=(Variants const&) = delete;

    struct Variant {
        std::string name;   ///< the hint's value; "default" is the plain one
        MPI_Comm comm, grid;
    };
    std::vector<Variant> const& all() const { return all_; }

private:
    std::vector<Variant> all_;
};

/// The window on which a one-sided operation is measured, created as --window selects.
class Window {
public:
    /// Collective, like the destructor. Locks all targets for the lifetime of the window if the operation or --sync
    /// requires it.
    Window(Settings const& settings, BufferSizes const& sizes, MPI_Comm comm);
    ~Window();
    Window(Window const&) = delete;
    Window& operator=(Window const&) = delete;

    OneSided const& access() const { return access_; }

private:
    double* create(Flavor flavor, MPI_Aint bytes, MPI_Comm comm);   ///< returns this rank's memory
    void find_target(Flavor flavor, bool is_load_store, MPI_Comm comm);
    void create_groups(MPI_Comm comm);

    Flavor flavor_;
    std::vector<double> memory_;   ///< of a window over the program's own memory
    OneSided access_;
};

/// Returns the algorithm of the last call, or an empty string if the library does not report it: it reads the MPI_T
/// performance variable tutti_<collective>_algorithm (MPI 3.1, 14.3.7) of the communicator.
std::string algorithm_of_last_call(Operation const& operation, MPI_Comm comm);

/// Returns the bytes that this rank loads and stores in collectives during `call`; -1 if they are not counted.
double bytes_moved_in(std::function<void()> const& call);

struct Outcome {
    Point point;
    std::string wrong;   ///< description of the first wrong result; the same on every rank
};

/// Returns one outcome per variant, in their order; then, if the settings ask for it and there are limit_kernels(),
/// the outcome of the best of these. All alternate in blocks of iterations. Collective; the points are complete on
/// rank 0.
std::vector<Outcome> measure(Operation const& operation, std::size_t bytes, Settings const& settings, SharedPage& page,
                             Variants const& variants, MPI_Comm comm);

/// Measures the overlap with a computation in the same way; the points' times are those of the communication alone.
/// The operation must have a `start`.
std::vector<Outcome> measure_overlap(Operation const& operation, std::size_t bytes, Settings const& settings,
                                     SharedPage& page, Variants const& variants, MPI_Comm comm);

// A series of measurements in progress, and one pass of it: alter the buffers, synchronize at the shared page, call
// once or in a loop, read the clock, check.

inline double now_us() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

/// Fills in the number of nodes, and what messages between rank 0 and two other ranks take, one on its node and one on
/// another node. If all ranks are on one node, these are rank 1 and the last rank; if there is one rank, nothing is
/// measured. Collective; the result is complete on rank 0.
void measure_messages(SharedPage& page, MPI_Comm comm, Results& results);

/// The times of this rank in the phases of hierarchical algorithms, which the library counts in variables of MPI_T.
class PhaseTimes {
public:
    PhaseTimes();
    ~PhaseTimes();
    PhaseTimes(PhaseTimes const&) = delete;
    PhaseTimes& operator=(PhaseTimes const&) = delete;

    void begin();          ///< called before some calls
    void end(int calls);   ///< called after them
    /// Fills in the mean times per call of all ranks that have been between nodes. Collective; complete on rank 0.
    void summarize(Point& point, MPI_Comm comm) const;

private:
    struct Variables;
    std::unique_ptr<Variables> variables_;   ///< null: the library does not count these times
    double at_begin_[3]{}, sum_[3]{};        ///< before, between, after, in microseconds
    int calls_ = 0;
};

/// One row of the table.
struct Line {
    Operation const& operation;
    Settings const& settings;
    SharedPage& page;
    MPI_Comm comm;
    /// The fraction of a measured time that one operation takes.
    double share() const { return operation.accesses() ? operation.share / settings.per_sync : operation.share; }
};

/// The calls, their buffers, and the times so far.
class Measurement {
public:
    /// Collective: creates the requests of a persistent operation, one for each root, and the window of a one-sided
    /// operation. `calls` is false if no MPI call is timed; `one_sided` then replaces the window.
    Measurement(Line const& line, BufferSizes const& sizes, double* send, double* receive, MPI_Comm comm, bool calls,
                OneSided const& one_sided = {});
    ~Measurement();
    Measurement(Measurement const&) = delete;
    Measurement& operator=(Measurement const&) = delete;

    /// Executes the whole operation.
    void perform() {
        if (operation_.run) return operation_.run(buffers.call);
        MPI_Request request;
        MPI_Wait(begin(&request), MPI_STATUS_IGNORE);
    }
    /// Starts the operation. Returns the request to wait for: `request`, or a persistent one.
    MPI_Request* begin(MPI_Request* request) {
        if (operation_.start) {
            operation_.start(buffers.call, request);
            return request;
        }
        MPI_Request* persistent = &persistent_[operation_.rooted ? std::size_t(buffers.call.root) : 0];
        MPI_Start(persistent);
        return persistent;
    }

    /// Waits until all ranks have done their part. With a window, calls MPI meanwhile: in some libraries the origin
    /// progresses only if the target calls MPI.
    void synchronize(SharedPage& page) {
        if (!window) return page.barrier();
        page.barrier_with_progress([this] {
            int found;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, buffers.call.comm, &found, MPI_STATUS_IGNORE);
        });
    }

    const std::unique_ptr<Window> window;   ///< of a one-sided operation
    Buffers buffers;
    bool checks = true;          ///< the call delivers results
    bool const calls;            ///< an MPI call is timed
    std::vector<double> times;   ///< of single calls
    std::vector<int> roots;
    std::vector<double> loops;   ///< per call, in each loop
    std::string wrong;
    std::unique_ptr<PhaseTimes> phases;   ///< null: not timed

private:
    Operation const& operation_;
    std::vector<MPI_Request> persistent_;
};

/// A block of iterations, or of loops.
struct Pass {
    int root, iterations, warmup, least_iterations;
    double seconds;
};

/// The time that two readings of the clock add to the interval between them, in microseconds: the median of many.
double clock_cost();

/// Returns a call's time without the measuring overhead; at least the clock's resolution.
inline double call_time(double measured, double cost, double share) {
    return std::max(0.001, (measured - cost) * share);
}

inline int root_of(Line const& line, Call const& call, Pass const& pass, int number) {
    return !line.operation.rooted ? 0 : pass.root == every_root ? number % call.ranks : pass.root;
}

/// Barrier of all ranks. Returns false if rank 0 ends the pass.
inline bool pass_continues(Line const& line, Pass const& pass, int rank, int iteration, double end) {
    // An oversubscribed machine may need all the time for the warm-up; the median still needs some iterations, up to
    // this later limit.
    double const late = end + pass.seconds * 4e6;
    if (rank == 0)
        line.page.publish(now_us() > end && (iteration >= pass.least_iterations || (iteration > 0 && now_us() > late)));
    line.page.barrier(now_us());
    if (!line.page.decision()) return true;
    line.page.barrier();   // rank 0 must not publish its next decision before all ranks have read this one
    return false;
}

/// Must be called after pass_continues. Waits until all ranks have left the barrier, and returns the time. If the last
/// rank to arrive began immediately, it would be ahead of the others by one line transfer, which takes as long as a
/// small call; and the time of a rooted operation would depend on which rank that is.
inline double begin_together(SharedPage const& page) {
    double const begin = page.last_arrival() + 0.3 + 0.05 * page.ranks();
    double now = now_us();
    while (!page.oversubscribed() && now < begin) now = now_us();
    return now;
}

/// Measures single calls of `run`.
template <class Run>
void run_pass(Line const& line, Measurement& measurement, Pass const& pass, Run run) {
    Call& call = measurement.buffers.call;
    double const end = now_us() + pass.seconds * 1e6, cost = clock_cost();
    std::size_t const before = measurement.times.size();
    call.calls = 1;
    for (int iteration = -pass.warmup; iteration < pass.iterations; ++iteration) {
        int const number = iteration + pass.warmup;
        call.root = root_of(line, call, pass, number);
        bool const fresh = !line.settings.cached || number == 0;
        if (fresh) measurement.buffers.alter(number);
        if (iteration == 0 && measurement.phases) measurement.phases->begin();
        if (!pass_continues(line, pass, call.rank, iteration, end)) break;
        double const start = begin_together(line.page);
        run();
        double const time = now_us() - start;
        // No rank may alter a buffer that a peer may still read, or publish its next decision too early.
        measurement.synchronize(line.page);
        if (iteration >= 0) {
            measurement.times.push_back(call_time(time, cost, line.share()));
            measurement.roots.push_back(call.root);
        }
        // Cached buffers keep the numbers of the first call; later checks might only see the results of earlier
        // calls.
        if (line.settings.check && measurement.checks && fresh && measurement.wrong.empty())
            measurement.wrong = measurement.buffers.wrong(number, number == 0);
    }
    if (measurement.phases) measurement.phases->end(int(measurement.times.size() - before));
}

/// Returns the number of calls between two readings of the clock; a hundred for 16 KiB and less.
int calls_in_loop(std::size_t bytes);

/// Returns the time of one loop, in which each call finds one altered number in each line of its buffers.
template <class Run>
double timed_loop(Line const& line, Measurement& measurement, Pass const& pass, int calls, Run run) {
    Call& call = measurement.buffers.call;
    double const start = now_us();
    for (int number = 0; number < calls; ++number) {
        call.root = root_of(line, call, pass, number);
        if (!line.settings.cached) measurement.buffers.touch(number, number + 1 == calls);
        run();
    }
    return now_us() - start;
}

/// Measures calls back to back. Checks the result of each loop's last call.
template <class Run>
void run_loops(Line const& line, Measurement& measurement, Pass const& pass, int calls, Run run) {
    Call& call = measurement.buffers.call;
    double const end = now_us() + pass.seconds * 1e6;
    call.calls = calls;
    std::vector<double> nothing;   // loops without a call
    for (int loop = 0; loop < 11; ++loop) nothing.push_back(timed_loop(line, measurement, pass, calls, [] {}));
    double const cost = median_of(nothing);
    for (int loop = -1; loop < pass.iterations; ++loop) {
        bool const fresh = !line.settings.cached || loop < 0;
        if (fresh) measurement.buffers.alter(calls - 1);
        if (!pass_continues(line, pass, call.rank, loop, end)) break;
        double const time = timed_loop(line, measurement, pass, calls, run);
        measurement.synchronize(line.page);
        if (loop >= 0) measurement.loops.push_back(call_time(time, cost, line.share() / calls));
        if (line.settings.check && measurement.checks && fresh && measurement.wrong.empty())
            measurement.wrong = measurement.buffers.wrong(calls - 1, loop < 0);
    }
}

/// Reduces each iteration's time to that of the slowest rank, on rank 0, and computes the outcome. Collective.
Outcome summarize(Line const& line, std::size_t bytes, Measurement& measurement);

}   // namespace bench
