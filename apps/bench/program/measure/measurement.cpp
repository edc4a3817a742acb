// SPDX-License-Identifier: BSD-3-Clause
#include "measurement.hpp"

#include "algorithm.hpp"

#include <algorithm>

namespace bench {
namespace {

// The first rank's complaint, on every rank.
std::string agree(const std::string &mine, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int candidate = mine.empty() ? ranks : rank, first = ranks;
    MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks)
        return "";
    char text[256] = "";
    mine.copy(text, sizeof text - 1);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, comm);
    return text;
}

// The median of each root; empty where not every rank was one.
std::vector<double> medians_by_root(const Measurement &measurement, int ranks)
{
    std::vector<double> medians;
    for (int root = 0; root < ranks; ++root) {
        std::vector<double> times;
        for (std::size_t i = 0; i < measurement.times.size(); ++i)
            if (measurement.roots[i] == root)
                times.push_back(measurement.times[i]);
        if (times.empty())
            return {};
        medians.push_back(median_of(std::move(times)));
    }
    return medians;
}

} // namespace

Measurement::Measurement(const Line &line, const Room &room, double *send, double *receive, MPI_Comm comm, bool calls,
                         const OneSided &one_sided)
    : window(calls && line.operation.has_window() ? std::make_unique<Window>(line.settings, room, comm) : nullptr),
      buffers(room, send, receive, window ? window->access() : one_sided, comm), calls(calls),
      operation_(line.operation)
{
    if (!calls || !operation_.prepare)
        return;
    persistent_.resize(operation_.rooted ? std::size_t(room.ranks) : 1);
    for (std::size_t root = 0; root < persistent_.size(); ++root) {
        buffers.call.root = int(root);
        operation_.prepare(buffers.call, &persistent_[root]);
    }
}

Measurement::~Measurement()
{
    for (MPI_Request &request : persistent_)
        MPI_Request_free(&request);
}

double clock_cost()
{
    static const double cost = [] {
        std::vector<double> steps;
        for (int i = 0; i < 1001; ++i) {
            const double start = now_us();
            steps.push_back(now_us() - start);
        }
        return median_of(steps);
    }();
    return cost;
}

int calls_in_loop(std::size_t bytes)
{
    constexpr std::size_t calls = 100, most = 16 << 10;
    return int(bytes <= most ? calls : std::max<std::size_t>(4, calls * most / bytes));
}

Outcome summarise(const Line &line, std::size_t bytes, Measurement &measurement)
{
    const Call &call = measurement.buffers.call;
    std::vector<double> &times = measurement.times;
    const int count = int(times.size());
    const std::string algorithm = measurement.calls ? algorithm_of_last_call(line.operation, call.comm) : "";
    auto slowest = [&](std::vector<double> &numbers) {
        MPI_Reduce(call.rank == 0 ? MPI_IN_PLACE : numbers.data(), numbers.data(), int(numbers.size()), MPI_DOUBLE,
                   MPI_MAX, 0, line.comm);
    };
    slowest(times);
    slowest(measurement.loops);
    Outcome outcome;
    outcome.wrong = agree(measurement.wrong, line.comm);
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    auto at = [&](int percent) { return sorted[std::size_t(count - 1) * std::size_t(percent) / 100]; };
    outcome.point = {line.operation.name, bytes, count, median_of(times), at(0), at(100), at(10), at(90)};
    if (!measurement.loops.empty())
        outcome.point.loop = median_of(measurement.loops);
    outcome.point.algorithm = algorithm;
    if (line.operation.rooted && line.settings.root == every_root)
        outcome.point.roots = medians_by_root(measurement, call.ranks);
    return outcome;
}

} // namespace bench
