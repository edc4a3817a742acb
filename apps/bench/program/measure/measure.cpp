// SPDX-License-Identifier: BSD-3-Clause
// One line of the table: the series and the roots that are compared, in blocks that alternate.
#include "measure.hpp"

#include "../limits/limit.hpp"
#include "measurement.hpp"

#include <algorithm>
#include <deque>
#include <memory>

namespace bench {
namespace {

// The kernels' buffers, which all ranks map.
struct LimitMemory {
    LimitMemory(const Room &room, MPI_Comm comm)
        : each(pages(room.send) + pages(room.receive) + pages(room.window)),
          memory(comm, std::max<std::size_t>(1, each) * std::size_t(room.ranks) * sizeof(double))
    {
        for (int rank = 0; rank < room.ranks; ++rank) {
            double *place = static_cast<double *>(memory.data()) + each * std::size_t(rank);
            sends.push_back(place);
            receives.push_back(place + pages(room.send));
            windows.push_back(receives.back() + pages(room.receive));
        }
        operands.resize(sends.size());
        results.resize(sends.size());
    }
    static std::size_t pages(std::size_t count) // every buffer begins a page
    {
        constexpr std::size_t page = 4096 / sizeof(double);
        return (count + page - 1) / page * page;
    }
    std::size_t each;
    SharedMemory memory;
    std::vector<const double *> sends, operands;
    std::vector<double *> receives, windows, results;
};

// A kernel, and what it copies through.
struct Contender {
    LimitKernel kernel;
    std::unique_ptr<Channels> channels;
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

// The passes of loops that take turns with a pass of single calls; a loop makes many calls.
Pass loops_of(Pass pass, int calls)
{
    pass.iterations = std::max(1, 5 * pass.iterations / calls);
    pass.least_iterations = 1;
    return pass;
}

// The best of the kernels' outcomes, or a wrong one. One may be the best at single calls and another one in a loop.
Outcome best_of(const std::vector<Outcome> &outcomes, const std::vector<Contender> &contenders)
{
    auto wrong = [](const Outcome &outcome) { return !outcome.wrong.empty(); };
    if (const auto bad = std::find_if(outcomes.begin(), outcomes.end(), wrong); bad != outcomes.end())
        return *bad;
    std::size_t single = 0, loop = 0;
    for (std::size_t i = 1; i < outcomes.size(); ++i) {
        single = outcomes[i].point.median < outcomes[single].point.median ? i : single;
        loop = outcomes[i].point.loop < outcomes[loop].point.loop ? i : loop;
    }
    Outcome best = outcomes[single];
    best.point.kernel = contenders[single].kernel.name;
    best.point.loop = outcomes[loop].point.loop;
    if (best.point.loop >= 0)
        best.point.loop_kernel = contenders[loop].kernel.name;
    return best;
}

// What takes turns at one line: each variant's calls, then the kernels.
class Turns {
public:
    Turns(const Line &line, std::size_t bytes, const Variants &variants)
        : line_(line), bytes_(bytes), room_(line.operation, bytes, line.settings.per_sync, line.comm),
          send_(room_.send), receive_(room_.receive)
    {
        for (auto &variant : variants.all())
            measurements_.emplace_back(line, room_, send_.data(), receive_.data(),
                                       line.operation.has_neighbors() ? variant.grid : variant.comm, true);
        plain_ = measurements_.size();
        if (line.settings.limit)
            add_kernels();
    }

    void take_all()
    {
        const Settings &settings = line_.settings;
        const bool several = measurements_.size() > 1 || (line_.operation.rooted && settings.root_by_root);
        const int blocks = settings.blocks ? settings.blocks : several ? 10 : 1;
        for (int block = 0; block < blocks; ++block)
            for (std::size_t turn = 0; turn < measurements_.size(); ++turn)
                // nobody is always behind the same one
                take((turn + std::size_t(block)) % measurements_.size(), block, blocks);
    }

    std::vector<Outcome> outcomes()
    {
        std::vector<Outcome> outcomes, kernels;
        for (std::size_t at = 0; at < measurements_.size(); ++at)
            (at < plain_ ? outcomes : kernels).push_back(summarise(line_, bytes_, measurements_[at]));
        if (!kernels.empty())
            outcomes.push_back(best_of(kernels, contenders_));
        return outcomes;
    }

private:
    void add_kernels()
    {
        const auto kernels = limit_kernels(line_.operation.blocking, bytes_);
        if (kernels.empty())
            return;
        const std::size_t rank = std::size_t(measurements_[0].buffers.call.rank);
        shared_ = std::make_unique<LimitMemory>(room_, line_.comm);
        OneSided one_sided;
        one_sided.own = shared_->windows[rank];
        one_sided.target = room_.ranks > 1 ? 1 : 0;
        one_sided.operations = line_.settings.per_sync;
        for (const LimitKernel &kernel : kernels) {
            measurements_.emplace_back(line_, room_, const_cast<double *>(shared_->sends[rank]),
                                       shared_->receives[rank], line_.comm, false, one_sided);
            contenders_.push_back({kernel, nullptr});
            if (kernel.through_channels)
                contenders_.back().channels =
                    std::make_unique<Channels>(line_.comm, kernel.layout, kernel.traffic,
                                               std::size_t(std::max(1, room_.count)), // of a barrier, one number
                                               line_.page.crowded(), line_.operation.blocking == "scan");
        }
    }

    void take(std::size_t at, int block, int blocks)
    {
        Measurement &measurement = measurements_[at];
        for (const Pass &pass : passes_of(line_, room_.ranks, block, blocks)) {
            if (at < plain_) {
                run(measurement, pass, [&] { measurement.perform(); });
                continue;
            }
            const Contender &contender = contenders_[at - plain_];
            const LimitCall call{measurement.buffers.call, shared_->sends, shared_->receives, shared_->windows,
                                 line_.page, contender.kernel.traffic, contender.channels.get(),
                                 shared_->operands, shared_->results};
            run(measurement, pass, [&, kernel = contender.kernel.run] { kernel(call); });
        }
    }

    template <class Run>
    void run(Measurement &measurement, const Pass &pass, Run run)
    {
        run_pass(line_, measurement, pass, run);
        if (!line_.settings.loop)
            return;
        const int calls = calls_in_loop(bytes_);
        run_loops(line_, measurement, loops_of(pass, calls), calls, run);
    }

    const Line &line_;
    const std::size_t bytes_;
    const Room room_;
    std::vector<double> send_, receive_;
    std::deque<Measurement> measurements_;
    std::size_t plain_ = 0; // how many of them are calls of MPI's
    std::unique_ptr<LimitMemory> shared_;
    std::vector<Contender> contenders_;
};

} // namespace

std::vector<Outcome> measure(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
                             const Variants &variants, MPI_Comm comm)
{
    const Line line{operation, settings, page, comm};
    Turns turns(line, bytes, variants);
    turns.take_all();
    return turns.outcomes();
}

} // namespace bench
