// SPDX-License-Identifier: BSD-3-Clause
// One line of the table: the series and the roots that are compared, in blocks that alternate.
#include "measure.hpp"

#include "measurement.hpp"
#include "limit.hpp"

#include <algorithm>
#include <deque>
#include <memory>

namespace bench {
namespace {

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
    std::deque<Measurement> measurements;
    for (auto &variant : variants.all())
        measurements.emplace_back(line, room, send.data(), receive.data(),
                           operation.has_neighbors() ? variant.grid : variant.comm, true);
    const std::size_t plain = measurements.size();
    const Limit limit = settings.limit ? limit_of(operation.blocking) : nullptr;
    std::unique_ptr<LimitMemory> shared;
    if (limit) {
        const int rank = measurements[0].buffers.call.rank;
        shared = std::make_unique<LimitMemory>(room, comm);
        double *const sends = const_cast<double *>(shared->sends[rank]);
        for (Traffic traffic : all_traffic)
            measurements.emplace_back(line, room, sends, shared->receives[rank], comm, false).traffic = traffic;
    }
    const bool several = measurements.size() > 1 || (operation.rooted && settings.root_by_root);
    const int blocks = settings.blocks ? settings.blocks : several ? 10 : 1;
    for (int block = 0; block < blocks; ++block)
        for (std::size_t turn = 0; turn < measurements.size(); ++turn) {
            // nobody is always behind the same one
            const std::size_t at = (turn + std::size_t(block)) % measurements.size();
            Measurement &measurement = measurements[at];
            for (const Pass &pass : passes_of(line, room.ranks, block, blocks))
                if (at < plain)
                    run_pass(line, measurement, pass, [&] { measurement.perform(); });
                else
                    run_pass(line, measurement, pass, [&] {
                        limit({measurement.buffers.call, shared->sends, shared->receives, page, measurement.traffic});
                    });
        }
    std::vector<Outcome> outcomes, kernels;
    for (std::size_t at = 0; at < measurements.size(); ++at)
        (at < plain ? outcomes : kernels).push_back(summarise(line, bytes, measurements[at]));
    if (limit)
        outcomes.push_back(best_of(kernels));
    return outcomes;
}

} // namespace bench
