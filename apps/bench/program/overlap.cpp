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

struct Trio {
    Trio(Line const& line, Room const& room, double* send, double* receive, MPI_Comm comm)
        : communication(line, room, send, receive, comm, true), computation(line, room, send, receive, comm, false),
          both(line, room, send, receive, comm, true) {
        computation.checks = false;
    }
    Measurement communication, computation, both;
    long steps = 0;
};

void communicate(Line const& line, Trio& trio, Pass const& pass) {
    run_pass(line, trio.communication, pass, [&] { trio.communication.perform(); });
}

bool computes(Line const& line, Trio const& trio) {
    return line.settings.computes == every_rank || line.settings.computes == trio.both.buffers.call.rank;
}

void compute_alone(Line const& line, Trio& trio, Pass const& pass) {
    run_pass(line, trio.computation, pass, [&] {
        if (!computes(line, trio)) return;
        const int parts = line.settings.tests + 1;
        for (int part = 0; part < parts; ++part) compute(trio.steps / parts);
    });
}

void do_both(Line const& line, Trio& trio, Pass const& pass) {
    run_pass(line, trio.both, pass, [&] {
        if (!computes(line, trio)) return trio.both.perform();
        const int parts = line.settings.tests + 1;
        MPI_Request own;
        MPI_Request* request = trio.both.begin(&own);
        for (int part = 0, done; part < parts; ++part) {
            if (part > 0) MPI_Test(request, &done, MPI_STATUS_IGNORE);
            compute(trio.steps / parts);
        }
        MPI_Wait(request, MPI_STATUS_IGNORE);
    });
}

/// Ignores the times of ranks that wait for the one that computes.
void leave_out_others(Line const& line, Trio const& trio, Measurement& measurement) {
    if (!computes(line, trio)) std::fill(measurement.times.begin(), measurement.times.end(), 0.0);
}

/// Returns the median of the slowest rank's times, on every rank, and clears the times.
double take_median(Line const& line, Trio const& trio, Measurement& measurement) {
    leave_out_others(line, trio, measurement);
    MPI_Allreduce(MPI_IN_PLACE, measurement.times.data(), int(measurement.times.size()), MPI_DOUBLE, MPI_MAX,
                  line.comm);
    double const median = median_of(measurement.times);
    measurement.times.clear();
    measurement.roots.clear();
    return median;
}

/// The ranks may share cores, so the calibration uses the time of a computation on all ranks at the same time.
void calibrate(Line const& line, Trio& trio, Pass pass, double speed) {
    communicate(line, trio, pass);
    double const wanted = line.settings.length * take_median(line, trio, trio.communication);
    pass.warmup = 2;
    for (double guess = wanted * speed; pass.warmup > 0; --pass.warmup) {
        trio.steps = std::max(1L, long(guess));
        compute_alone(line, trio, pass);
        guess *= std::clamp(wanted / take_median(line, trio, trio.computation), 0.05, 20.0);
        trio.steps = std::max(1L, long(guess));
    }
}

}   // namespace

std::vector<Outcome> measure_overlap(Operation const& operation, std::size_t bytes, Settings const& settings,
                                     SharedPage& page, Variants const& variants, MPI_Comm comm) {
    const Line line{operation, settings, page, comm};
    const Room room(operation, bytes, 1, comm);
    std::vector<double> send(room.send), receive(room.receive);
    std::deque<Trio> trios;
    for (auto& variant : variants.all())
        trios.emplace_back(line, room, send.data(), receive.data(),
                           operation.has_neighbors() ? variant.grid : variant.comm);
    int const blocks = settings.blocks ? settings.blocks : 10, parts = 3 * (blocks + 1);   // one to calibrate
    const Pass pass{settings.root, std::max(1, settings.iterations / blocks), (settings.warmup + 3) / 4, 1,
                    settings.seconds / parts};
    double const speed = steps_per_microsecond();
    for (Trio& trio : trios) {
        Pass first = pass;
        first.warmup = settings.warmup;
        calibrate(line, trio, first, speed);
    }
    for (int block = 0; block < blocks; ++block)
        for (Trio& trio : trios) {
            communicate(line, trio, pass);
            compute_alone(line, trio, pass);
            do_both(line, trio, pass);
        }
    std::vector<Outcome> outcomes;
    for (Trio& trio : trios) {
        for (Measurement* one : {&trio.communication, &trio.computation, &trio.both})
            leave_out_others(line, trio, *one);
        Outcome outcome = summarise(line, bytes, trio.communication);
        const Outcome both = summarise(line, bytes, trio.both);
        outcome.point.both = both.point.median;
        outcome.point.computation = summarise(line, bytes, trio.computation).point.median;
        outcome.point.hidden = hidden_percent(outcome.point);
        if (outcome.wrong.empty()) outcome.wrong = both.wrong;
        outcomes.push_back(outcome);
    }
    return outcomes;
}

}   // namespace bench
