// SPDX-License-Identifier: BSD-3-Clause
// Measures how much of an operation's communication is hidden by a computation between its start and its MPI_Wait.
// Communication alone, computation alone and both together alternate in blocks. The computation is calibrated to take
// as long as the communication (times --length); it is arithmetic in registers, which neither calls MPI nor accesses
// memory. If only one rank computes, only that rank's times count.
#include "measure.hpp"


#include <algorithm>
#include <deque>

namespace bench {
namespace {

/// A dependency chain: each step needs the previous one.
[[gnu::noinline]] double arithmetic(long steps) {
    double number = 1;
    for (long step = 0; step < steps; ++step) number = number * 0.75 + 0.5;
    return number;
}

void compute(long steps) {
    double volatile result = arithmetic(steps);
    static_cast<void>(result);
}

/// Returns this processor's speed: the best of ten measurements, to exclude interference.
double steps_per_microsecond() {
    constexpr long steps = 100000;
    double best = 0;
    for (int i = 0; i < 10; ++i) {
        double const start = now_us();
        compute(steps);
        best = std::max(best, double(steps) / (now_us() - start));
    }
    return best;
}

struct OverlapMeasurements {
    OverlapMeasurements(Line const& line, BufferSizes const& sizes, double* send, double* receive, MPI_Comm comm)
        : communication(line, sizes, send, receive, comm, true), computation(line, sizes, send, receive, comm, false),
          both(line, sizes, send, receive, comm, true) {
        computation.checks = false;
    }
    Measurement communication, computation, both;
    long steps = 0;
};

void communicate(Line const& line, OverlapMeasurements& overlap, Pass const& pass) {
    run_pass(line, overlap.communication, pass, [&] { overlap.communication.perform(); });
}

bool computes(Line const& line, OverlapMeasurements const& overlap) {
    return line.settings.computes == every_rank || line.settings.computes == overlap.both.buffers.call.rank;
}

void compute_alone(Line const& line, OverlapMeasurements& overlap, Pass const& pass) {
    run_pass(line, overlap.computation, pass, [&] {
        if (!computes(line, overlap)) return;
        const int parts = line.settings.tests + 1;
        for (int part = 0; part < parts; ++part) compute(overlap.steps / parts);
    });
}

void communicate_and_compute(Line const& line, OverlapMeasurements& overlap, Pass const& pass) {
    run_pass(line, overlap.both, pass, [&] {
        if (!computes(line, overlap)) return overlap.both.perform();
        const int parts = line.settings.tests + 1;
        MPI_Request own;
        MPI_Request* request = overlap.both.begin(&own);
        for (int part = 0, done; part < parts; ++part) {
            if (part > 0) MPI_Test(request, &done, MPI_STATUS_IGNORE);
            compute(overlap.steps / parts);
        }
        MPI_Wait(request, MPI_STATUS_IGNORE);
    });
}

/// Ignores the times of ranks that wait for the one that computes.
void ignore_waiting_ranks(Line const& line, OverlapMeasurements const& overlap, Measurement& measurement) {
    if (!computes(line, overlap)) std::fill(measurement.times.begin(), measurement.times.end(), 0.0);
}

/// Returns the median of the slowest rank's times, on every rank, and clears the times.
double take_median(Line const& line, OverlapMeasurements const& overlap, Measurement& measurement) {
    ignore_waiting_ranks(line, overlap, measurement);
    MPI_Allreduce(MPI_IN_PLACE, measurement.times.data(), int(measurement.times.size()), MPI_DOUBLE, MPI_MAX,
                  line.comm);
    double const median = median_of(measurement.times);
    measurement.times.clear();
    measurement.roots.clear();
    return median;
}

/// The ranks may share cores, so the calibration uses the time of a computation on all ranks at the same time.
void calibrate(Line const& line, OverlapMeasurements& overlap, Pass pass, double speed) {
    communicate(line, overlap, pass);
    double const wanted = line.settings.length * take_median(line, overlap, overlap.communication);
    pass.warmup = 2;
    for (double guess = wanted * speed; pass.warmup > 0; --pass.warmup) {
        overlap.steps = std::max(1L, long(guess));
        compute_alone(line, overlap, pass);
        guess *= std::clamp(wanted / take_median(line, overlap, overlap.computation), 0.05, 20.0);
        overlap.steps = std::max(1L, long(guess));
    }
}

}   // namespace

std::vector<Outcome> measure_overlap(Operation const& operation, std::size_t bytes, Settings const& settings,
                                     SharedPage& page, Variants const& variants, MPI_Comm comm) {
    const Line line{operation, settings, page, comm};
    const BufferSizes sizes(operation, bytes, 1, comm);
    std::vector<double> send = make_buffer(sizes.send), receive = make_buffer(sizes.receive);
    std::deque<OverlapMeasurements> overlaps;
    for (auto& variant : variants.all())
        overlaps.emplace_back(line, sizes, send.data(), receive.data(),
                              operation.has_neighbors() ? variant.grid : variant.comm);
    int const blocks = settings.blocks ? settings.blocks : 10, parts = 3 * (blocks + 1);   // one to calibrate
    const Pass pass{settings.root, std::max(1, settings.iterations / blocks), (settings.warmup + 3) / 4, 1,
                    settings.seconds / parts};
    double const speed = steps_per_microsecond();
    for (OverlapMeasurements& overlap : overlaps) {
        Pass first = pass;
        first.warmup = settings.warmup;
        calibrate(line, overlap, first, speed);
    }
    for (int block = 0; block < blocks; ++block)
        for (OverlapMeasurements& overlap : overlaps) {
            communicate(line, overlap, pass);
            compute_alone(line, overlap, pass);
            communicate_and_compute(line, overlap, pass);
        }
    std::vector<Outcome> outcomes;
    for (OverlapMeasurements& overlap : overlaps) {
        for (Measurement* one : {&overlap.communication, &overlap.computation, &overlap.both})
            ignore_waiting_ranks(line, overlap, *one);
        Outcome outcome = summarize(line, bytes, overlap.communication);
        const Outcome both = summarize(line, bytes, overlap.both);
        outcome.point.both = both.point.median;
        outcome.point.computation = summarize(line, bytes, overlap.computation).point.median;
        outcome.point.hidden = hidden_percent(outcome.point);
        if (outcome.wrong.empty()) outcome.wrong = both.wrong;
        outcomes.push_back(outcome);
    }
    return outcomes;
}

}   // namespace bench
