// SPDX-License-Identifier: BSD-3-Clause
// One row of the table: the series and the roots that are compared, in alternating blocks.
#include "measure.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include "limit.hpp"

namespace bench {
namespace {

/// Makes one more call. Returns the bytes that all ranks load and store in it, at rank 0; -1 if they are not counted.
double bytes_of_call(Line const& line, Measurement& measurement) {
    measurement.buffers.call.root = std::max(0, line.settings.root);
    measurement.synchronize(line.page);
    double moved = bytes_moved_in([&] { measurement.perform(); });
    measurement.synchronize(line.page);
    double sum = 0, least = 0;
    MPI_Reduce(&moved, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, line.comm);
    MPI_Reduce(&moved, &least, 1, MPI_DOUBLE, MPI_MIN, 0, line.comm);
    return least < 0 ? -1 : sum;
}

/// The kernels' buffers, which all ranks map.
struct LimitMemory {
    LimitMemory(BufferSizes const& sizes, MPI_Comm comm)
        : each(pages(sizes.send) + pages(sizes.receive) + pages(sizes.window)),
          memory(comm, std::max<std::size_t>(1, each) * std::size_t(sizes.ranks) * sizeof(double)) {
        for (int rank = 0; rank < sizes.ranks; ++rank) {
            double* memory_of_rank = static_cast<double*>(memory.data()) + each * std::size_t(rank);
            sends.push_back(memory_of_rank);
            receives.push_back(memory_of_rank + pages(sizes.send));
            windows.push_back(receives.back() + pages(sizes.receive));
        }
        operands.resize(sends.size());
        results.resize(sends.size());
    }
    static std::size_t pages(std::size_t count)   ///< every buffer begins at a page
    {
        constexpr std::size_t page = 4096 / sizeof(double);
        return (count + page - 1) / page * page;
    }
    std::size_t each;
    SharedMemory memory;
    std::vector<double const*> sends, operands;
    std::vector<double*> receives, windows, results;
};

/// A kernel, and the channels through which it copies.
struct KernelCandidate {
    LimitKernel kernel;
    std::unique_ptr<Channels> channels;
};

/// Returns the passes of one block: one, or one for each root.
std::vector<Pass> passes_of(Line const& line, int ranks, int block, int blocks) {
    Settings const& settings = line.settings;
    bool const by_root = line.operation.rooted && settings.root_by_root;
    int const parts = by_root ? ranks : 1, share = parts * blocks;
    std::vector<Pass> passes;
    for (int part = 0; part < parts; ++part) {
        int const warmup = block == 0 && part == 0 ? settings.warmup : (settings.warmup + 3) / 4;
        passes.push_back({by_root ? part : settings.root, std::max(1, settings.iterations / share), warmup,
                          std::max(by_root ? 3 : 1, 10 / share), settings.seconds / share});
    }
    return passes;
}

/// Returns the pass of loops that alternates with a pass of single calls; it has fewer iterations, because a loop
/// makes many calls.
Pass loops_of(Pass pass, int calls) {
    pass.iterations = std::max(1, 5 * pass.iterations / calls);
    pass.least_iterations = 1;
    return pass;
}

/// Returns the best of the kernels' outcomes, or a wrong one. Different kernels may be the best for single calls and
/// in a loop.
Outcome best_of(std::vector<Outcome> const& outcomes, std::vector<KernelCandidate> const& candidates) {
    auto wrong = [](Outcome const& outcome) { return !outcome.wrong.empty(); };
    if (auto const bad = std::find_if(outcomes.begin(), outcomes.end(), wrong); bad != outcomes.end()) return *bad;
    std::size_t single = 0, loop = 0;
    for (std::size_t i = 1; i < outcomes.size(); ++i) {
        single = outcomes[i].point.median < outcomes[single].point.median ? i : single;
        loop = outcomes[i].point.loop < outcomes[loop].point.loop ? i : loop;
    }
    Outcome best = outcomes[single];
    best.point.kernel = candidates[single].kernel.name;
    best.point.loop = outcomes[loop].point.loop;
    if (best.point.loop >= 0) best.point.loop_kernel = candidates[loop].kernel.name;
    return best;
}

/// The series that alternate at one row: each variant's calls, then the kernels.
class AlternatingSeries {
public:
    AlternatingSeries(Line const& line, std::size_t bytes, Variants const& variants)
        : line_(line), bytes_(bytes), sizes_(line.operation, bytes, line.settings.per_sync, line.comm),
          send_(make_buffer(sizes_.send)), receive_(make_buffer(sizes_.receive)) {
        for (auto& variant : variants.all())
            measurements_.emplace_back(line, sizes_, send_.data(), receive_.data(),
                                       line.operation.has_neighbors() ? variant.grid : variant.comm, true);
        mpi_series_ = measurements_.size();
        if (line.settings.limit) add_kernels();
    }

    void run_all() {
        Settings const& settings = line_.settings;
        bool const several = measurements_.size() > 1 || (line_.operation.rooted && settings.root_by_root);
        int const blocks = settings.blocks ? settings.blocks : several ? 10 : 1;
        for (int block = 0; block < blocks; ++block)
            for (std::size_t turn = 0; turn < measurements_.size(); ++turn)
                // rotated, so that no series always follows the same one
                run_series((turn + std::size_t(block)) % measurements_.size(), block, blocks);
    }

    std::vector<Outcome> outcomes() {
        std::vector<Outcome> outcomes, kernels;
        for (std::size_t at = 0; at < measurements_.size(); ++at) {
            (at < mpi_series_ ? outcomes : kernels).push_back(summarize(line_, bytes_, measurements_[at]));
            if (at < mpi_series_ && line_.settings.bytes_per_call)
                outcomes.back().point.moved = bytes_of_call(line_, measurements_[at]);
        }
        if (!kernels.empty()) outcomes.push_back(best_of(kernels, candidates_));
        return outcomes;
    }

private:
    void add_kernels() {
        auto const kernels = limit_kernels(line_.operation.blocking, bytes_);
        if (kernels.empty()) return;
        const std::size_t rank = std::size_t(measurements_[0].buffers.call.rank);
        shared_ = std::make_unique<LimitMemory>(sizes_, line_.comm);
        OneSided one_sided;
        one_sided.own_memory = shared_->windows[rank];
        one_sided.target = sizes_.ranks > 1 ? 1 : 0;
        one_sided.operations = line_.settings.per_sync;
        for (LimitKernel const& kernel : kernels) {
            measurements_.emplace_back(line_, sizes_, const_cast<double*>(shared_->sends[rank]),
                                       shared_->receives[rank], line_.comm, false, one_sided);
            candidates_.push_back({kernel, nullptr});
            if (kernel.through_channels)
                candidates_.back().channels =
                    std::make_unique<Channels>(line_.comm, kernel.layout, kernel.traffic,
                                               std::size_t(std::max(1, sizes_.count)),   // one number for a barrier
                                               line_.page.oversubscribed(), line_.operation.blocking == "scan");
        }
    }

    void run_series(std::size_t at, int block, int blocks) {
        Measurement& measurement = measurements_[at];
        for (Pass const& pass : passes_of(line_, sizes_.ranks, block, blocks)) {
            if (at < mpi_series_) {
                run(measurement, pass, [&] { measurement.perform(); });
                continue;
            }
            KernelCandidate const& candidate = candidates_[at - mpi_series_];
            const LimitCall call{measurement.buffers.call, shared_->sends,    shared_->receives,
                                 shared_->windows,         line_.page,        candidate.kernel.traffic,
                                 candidate.channels.get(), shared_->operands, shared_->results};
            run(measurement, pass, [&, kernel = candidate.kernel.run] { kernel(call); });
        }
    }

    template <class Run>
    void run(Measurement& measurement, Pass const& pass, Run run) {
        run_pass(line_, measurement, pass, run);
        if (!line_.settings.loop) return;
        int const calls = calls_in_loop(bytes_);
        run_loops(line_, measurement, loops_of(pass, calls), calls, run);
    }

    Line const& line_;
    const std::size_t bytes_;
    const BufferSizes sizes_;
    std::vector<double> send_, receive_;
    std::deque<Measurement> measurements_;
    std::size_t mpi_series_ = 0;   ///< number of measurements of MPI calls
    std::unique_ptr<LimitMemory> shared_;
    std::vector<KernelCandidate> candidates_;
};

}   // namespace

std::vector<Outcome> measure(Operation const& operation, std::size_t bytes, Settings const& settings, SharedPage& page,
                             Variants const& variants, MPI_Comm comm) {
    const Line line{operation, settings, page, comm};
    AlternatingSeries series(line, bytes, variants);
    series.run_all();
    return series.outcomes();
}

namespace {

/// Returns the error message of the lowest rank that has one, on every rank.
std::string first_error(std::string const& mine, MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int candidate = mine.empty() ? ranks : rank, first = ranks;
    MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks) return "";
    char text[256] = "";
    mine.copy(text, sizeof text - 1);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, comm);
    return text;
}

/// Returns the median of each root; empty if not every rank was a root.
std::vector<double> medians_by_root(Measurement const& measurement, int ranks) {
    std::vector<double> medians;
    for (int root = 0; root < ranks; ++root) {
        std::vector<double> times;
        for (std::size_t i = 0; i < measurement.times.size(); ++i)
            if (measurement.roots[i] == root) times.push_back(measurement.times[i]);
        if (times.empty()) return {};
        medians.push_back(median_of(std::move(times)));
    }
    return medians;
}

}   // namespace

Measurement::Measurement(Line const& line, BufferSizes const& sizes, double* send, double* receive, MPI_Comm comm,
                         bool calls, OneSided const& one_sided)
    : window(calls && line.operation.has_window() ? std::make_unique<Window>(line.settings, sizes, comm) : nullptr),
      buffers(sizes, send, receive, window ? window->access() : one_sided, comm), calls(calls),
      operation_(line.operation) {
    if (calls && line.settings.phases) phases = std::make_unique<PhaseTimes>();
    if (!calls || !operation_.prepare) return;
    persistent_.resize(operation_.rooted ? std::size_t(sizes.ranks) : 1);
    for (std::size_t root = 0; root < persistent_.size(); ++root) {
        buffers.call.root = int(root);
        operation_.prepare(buffers.call, &persistent_[root]);
    }
}

Measurement::~Measurement() {
    for (MPI_Request& request : persistent_) MPI_Request_free(&request);
}

double clock_cost() {
    static double const cost = [] {
        std::vector<double> steps;
        for (int i = 0; i < 1001; ++i) {
            const double start = now_us();
            steps.push_back(now_us() - start);
        }
        return median_of(steps);
    }();
    return cost;
}

int calls_in_loop(std::size_t bytes) {
    constexpr std::size_t calls = 100, most = 16 << 10;
    return int(bytes <= most ? calls : std::max<std::size_t>(4, calls * most / bytes));
}

Outcome summarize(Line const& line, std::size_t bytes, Measurement& measurement) {
    Call const& call = measurement.buffers.call;
    std::vector<double>& times = measurement.times;
    int const count = int(times.size());
    const std::string algorithm = measurement.calls ? algorithm_of_last_call(line.operation, call.comm) : "";
    auto slowest = [&](std::vector<double>& numbers) {
        MPI_Reduce(call.rank == 0 ? MPI_IN_PLACE : numbers.data(), numbers.data(), int(numbers.size()), MPI_DOUBLE,
                   MPI_MAX, 0, line.comm);
    };
    slowest(times);
    slowest(measurement.loops);
    Outcome outcome;
    outcome.wrong = first_error(measurement.wrong, line.comm);
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    auto at = [&](int percent) { return sorted[std::size_t(count - 1) * std::size_t(percent) / 100]; };
    outcome.point = {line.operation.name, bytes, count, median_of(times), at(0), at(100), at(10), at(90)};
    if (!measurement.loops.empty()) outcome.point.loop = median_of(measurement.loops);
    outcome.point.algorithm = algorithm;
    if (measurement.phases) measurement.phases->summarize(outcome.point, line.comm);
    if (line.operation.rooted && line.settings.root == every_root)
        outcome.point.roots = medians_by_root(measurement, call.ranks);
    return outcome;
}

}   // namespace bench
