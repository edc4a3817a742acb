// SPDX-License-Identifier: BSD-3-Clause
// One line of the table: alter the buffers, meet at the shared page, call, look at the clock, check.
#include "measure.hpp"

#include "buffers.hpp"
#include "limit.hpp"

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>

namespace bench {
namespace {

double now_us()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

// The kernel's buffers, which all ranks map.
struct LimitMemory {
    LimitMemory(const Room &room, MPI_Comm comm)
        : each(pages(room.send) + pages(room.receive)),
          memory(comm, each * std::size_t(room.ranks) * sizeof(double))
    {
        for (int rank = 0; rank < room.ranks; ++rank) {
            double *place = static_cast<double *>(memory.data()) + each * std::size_t(rank);
            sends.push_back(place);
            receives.push_back(place + pages(room.send));
        }
    }
    static std::size_t pages(std::size_t count) // every buffer begins a page
    {
        constexpr std::size_t page = 4096 / sizeof(double);
        return (count + page - 1) / page * page;
    }
    std::size_t each;
    SharedMemory memory;
    std::vector<const double *> sends;
    std::vector<double *> receives;
};

// A series under way: what is called, on which buffers, and the times so far.
struct Lane {
    Lane(const Room &room, double *send, double *receive, MPI_Comm comm) : buffers(room, send, receive, comm) {}
    Buffers buffers;
    Traffic traffic{}; // of a kernel's lane
    std::vector<double> times;
    std::vector<int> roots;
    std::string wrong;
};

// A block of iterations.
struct Pass {
    int root, iterations, warmup, least_iterations;
    double seconds;
};

struct Line {
    const Operation &operation;
    const Settings &settings;
    SharedPage &page;
    MPI_Comm comm;
};

// `run` is what is timed.
template <class Run>
void run_pass(const Line &line, Lane &lane, const Pass &pass, Run run)
{
    Call &call = lane.buffers.call;
    SharedPage &page = line.page;
    const double end = now_us() + pass.seconds * 1e6, late = end + pass.seconds * 4e6;
    for (int iteration = -pass.warmup; iteration < pass.iterations; ++iteration) {
        const int number = iteration + pass.warmup;
        call.root = !line.operation.rooted ? 0 : pass.root == every_root ? number % call.ranks : pass.root;
        const bool fresh = !line.settings.cached || number == 0;
        if (fresh)
            lane.buffers.alter(number);
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
            lane.times.push_back(time);
            lane.roots.push_back(call.root);
        }
        // Cached buffers keep the numbers of the first call, but a receive buffer may then hold them from before.
        if (line.settings.check && fresh && lane.wrong.empty())
            lane.wrong = lane.buffers.wrong(line.operation, number, number == 0);
    }
}

// The passes of one block: one, or one for each root.
std::vector<Pass> passes_of(const Line &line, int ranks, int block, int blocks)
{
    const Settings &settings = line.settings;
    const bool by_root = line.operation.rooted && settings.root_by_root;
    const int parts = by_root ? ranks : 1, share = parts * blocks;
    std::vector<Pass> passes;
    for (int part = 0; part < parts; ++part) {
        const int warmup = block == 0 && part == 0 ? settings.warmup : (settings.warmup + 3) / 4;
        passes.push_back({by_root ? part : settings.root, std::max(1, settings.iterations / share), warmup,
                          std::max(by_root ? 3 : 1, 10 / share), settings.seconds / share});
    }
    return passes;
}

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
std::vector<double> medians_by_root(const Lane &lane, int ranks)
{
    std::vector<double> medians;
    for (int root = 0; root < ranks; ++root) {
        std::vector<double> times;
        for (std::size_t i = 0; i < lane.times.size(); ++i)
            if (lane.roots[i] == root)
                times.push_back(lane.times[i]);
        if (times.empty())
            return {};
        medians.push_back(median_of(std::move(times)));
    }
    return medians;
}

Outcome summarise(const Line &line, std::size_t bytes, Lane &lane)
{
    const Call &call = lane.buffers.call;
    std::vector<double> &times = lane.times;
    const int count = int(times.size());
    MPI_Reduce(call.rank == 0 ? MPI_IN_PLACE : times.data(), times.data(), count, MPI_DOUBLE, MPI_MAX, 0, line.comm);
    Outcome outcome;
    outcome.wrong = agree(lane.wrong, line.comm);
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    auto at = [&](int percent) { return sorted[std::size_t(count - 1) * std::size_t(percent) / 100]; };
    outcome.point = {line.operation.name, bytes, count, median_of(times), at(0), at(100), at(10), at(90), {}};
    if (line.operation.rooted && line.settings.root == every_root)
        outcome.point.roots = medians_by_root(lane, call.ranks);
    return outcome;
}

// The best of the kernel's outcomes, or a wrong one.
Outcome best_of(const std::vector<Outcome> &outcomes)
{
    return *std::min_element(outcomes.begin(), outcomes.end(), [](const Outcome &a, const Outcome &b) {
        return a.wrong.empty() != b.wrong.empty() ? !a.wrong.empty() : a.point.median < b.point.median;
    });
}

} // namespace

std::vector<Outcome> measure(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
                             const Variants &variants, MPI_Comm comm)
{
    const Line line{operation, settings, page, comm};
    const Room room(operation, bytes, comm);
    std::vector<double> send(room.send), receive(room.receive);
    std::deque<Lane> lanes;
    for (auto &variant : variants.all())
        lanes.emplace_back(room, send.data(), receive.data(), variant.comm);
    const std::size_t plain = lanes.size();
    const Limit limit = settings.limit ? limit_of(operation.name) : nullptr;
    std::unique_ptr<LimitMemory> shared;
    if (limit) {
        const int rank = lanes[0].buffers.call.rank;
        shared = std::make_unique<LimitMemory>(room, comm);
        for (Traffic traffic : all_traffic)
            lanes.emplace_back(room, const_cast<double *>(shared->sends[rank]), shared->receives[rank], comm).traffic =
                traffic;
    }
    const int blocks = settings.blocks ? settings.blocks : lanes.size() == 1 ? 1 : 10;
    for (int block = 0; block < blocks; ++block)
        for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
            const std::size_t at = (turn + std::size_t(block)) % lanes.size(); // nobody is always behind the same one
            Lane &lane = lanes[at];
            const Call &call = lane.buffers.call;
            for (const Pass &pass : passes_of(line, room.ranks, block, blocks))
                if (at < plain)
                    run_pass(line, lane, pass, [&] { operation.run(call); });
                else
                    run_pass(line, lane, pass,
                             [&] { limit({call, shared->sends, shared->receives, page, lane.traffic}); });
        }
    std::vector<Outcome> outcomes, kernels;
    for (std::size_t at = 0; at < lanes.size(); ++at)
        (at < plain ? outcomes : kernels).push_back(summarise(line, bytes, lanes[at]));
    if (limit)
        outcomes.push_back(best_of(kernels));
    return outcomes;
}

} // namespace bench
