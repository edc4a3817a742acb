// SPDX-License-Identifier: BSD-3-Clause
// Counts how often the hierarchical algorithms cross sockets and NUMA nodes on a simulated machine with 2 sockets of 4
// NUMA nodes of 8 cores, for every root and mapping, and with separate chunk sizes for the levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <numeric>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/topo/machines.hpp"

namespace tutti::coll::test {
namespace {

constexpr int ranks = 64;
constexpr std::int64_t small = 16;   // doubles: one slot, one chunk

using Counts = std::array<std::uint64_t, topo::locality_count>;   // within a cache, a NUMA node, a socket; between
using Mapping = std::vector<int>;

Mapping in_order() { return topo::first_ranks(ranks); }
Mapping round_robin(int over) {
    Mapping mapping;
    for (int rank = 0; rank < ranks; ++rank) mapping.push_back(rank % over * (ranks / over) + rank / over);
    return mapping;
}

Counts difference(Counts now, Counts const& before) {
    for (std::size_t k = 0; k < now.size(); ++k) now[k] -= before[k];
    return now;
}

/// One rank's buffers. The rank contributes its number; `correct` is true if its result is right.
struct Buffers {
    explicit Buffers(std::int64_t count) : in(static_cast<std::size_t>(count)), out(in) {}
    std::vector<double> in, out;

    void begin(int rank) {
        in.assign(in.size(), rank);
        out.assign(out.size(), -1);
    }
    std::int64_t count() const { return static_cast<std::int64_t>(in.size()); }
    bool correct(std::vector<double> const& got, double expected) const {
        return std::ranges::all_of(got, [&](double x) { return x == expected; });
    }
};

/// A barrier moves no data: its flags are counted instead.
enum class What { messages, flags };

/// An algorithm, with parameters as a user writes them, and the size of its data.
struct Trial {
    Trial(Collective c, std::string_view name, std::string const& parameters = {}, std::int64_t elements = small)
        : algorithm(row_of(c, name)), count(elements), setting(defaults(algorithm)) {
        std::vector<std::string> errors;
        parse_parameters(parameters, setting, "the test", errors);
        EXPECT_THAT(errors, testing::IsEmpty());
    }
    AlgorithmRow const& algorithm;
    std::int64_t count;   ///< doubles
    Setting setting;
};

/// 64 ranks on the machine, as fibers.
class World {
public:
    explicit World(Mapping mapping)
        : placement_{.pu = std::move(mapping), .fixed = true},
          world_(ranks, topo::make_hierarchy(machine_, placement_, topo::first_ranks(ranks), {})) {
        for (int rank = 0; rank < ranks; ++rank)
            localities_.push_back(topo::localities(machine_, placement_, topo::first_ranks(ranks), rank));
        world_.locality = [this](int from, int to) {
            return localities_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
        };
        world_.on_wait = [this](int rank, int peer) {
            auto const k = static_cast<std::size_t>(world_.locality(rank, peer));
            if (peer != rank) ++flags_[static_cast<std::size_t>(rank)][k];
        };
        EXPECT_EQ(world_.trees.hierarchy.describe(), "numa+socket+node");
    }

    /// The crossings of the algorithm for each of the roots. `call(rank, root, buffers, execute)` makes one rank's
    /// arguments, executes them, and returns whether the result is right.
    template <class Args, class Call>
    std::vector<Counts> count_with(Trial const& trial, std::vector<int> const& roots, Call call,
                                   What what = What::messages) {
        std::vector<Counts> all;
        Counts before = so_far(what);
        RankBarrier after_each(ranks, [&]() noexcept {
            Counts const now = so_far(what);
            all.push_back(difference(now, before));
            before = now;
        });
        std::atomic<int> wrong{0};
        run_as_ranks(ranks, [&](int rank) {
            FramePool frames;
            Buffers buffers(trial.count);
            for (std::size_t i = 0; i < roots.size(); ++i) {
                buffers.begin(rank);
                wrong += !call(rank, roots[i], buffers, [&](Args& args) {
                    args.parameters = trial.setting.values;
                    run(world_, rank, ops_ + i + 1, frames, trial.algorithm, args);
                });
                after_each.arrive_and_wait();
            }
        });
        ops_ += roots.size();
        EXPECT_EQ(wrong, 0) << trial.algorithm.name << ": wrong results";
        return all;
    }

private:
    Counts so_far(What what) const {
        Counts sum{};
        for (std::size_t rank = 0; rank < ranks; ++rank)
            for (std::size_t k = 0; k < sum.size(); ++k)
                sum[k] += what == What::flags ? flags_[rank][k] : world_.traffic[rank].messages[k].read();
        return sum;
    }

    topo::Machine machine_ = topo::design_machine();
    topo::Placement placement_;
    ThreadWorld world_;
    std::vector<std::vector<topo::Locality>> localities_;
    std::vector<Counts> flags_ = std::vector<Counts>(ranks);   ///< awaited by each rank
    std::uint64_t ops_ = 0;
};

std::vector<Counts> count_bcast(World& world, Trial const& trial, std::vector<int> const& roots) {
    auto const type = TypeBuilder::predefined(Basic::float64);
    auto call = [&](int, int root, Buffers& b, auto execute) {
        BcastArgs args{};
        args.data = {b.in.data(), b.count(), type.get()};
        args.root = root;
        execute(args);
        return b.correct(b.in, root);
    };
    return world.count_with<BcastArgs>(trial, roots, call);
}

/// Reduce with each of the roots; allreduce as often.
std::vector<Counts> count_reduction(World& world, Trial const& trial, std::vector<int> const& roots) {
    auto const type = TypeBuilder::predefined(Basic::float64);
    bool const rooted = trial.algorithm.collective == Collective::reduce;
    auto call = [&](int rank, int root, Buffers& b, auto execute) {
        bool const gets = !rooted || rank == root;
        auto const sum = Ref<Op>::adopt(new Op);   // one per rank: an operator caches its kernels
        sum->builtin = BuiltinOp::sum;
        ReduceArgs args{};
        args.in = b.in.data();
        args.out = gets ? b.out.data() : nullptr;
        args.count = b.count();
        args.type = type.get();
        args.op = sum.get();
        args.root = rooted ? root : 0;
        find_kernels(args);
        execute(args);
        return b.correct(b.out, gets ? ranks * (ranks - 1) / 2 : -1);
    };
    return world.count_with<ReduceArgs>(trial, roots, call);
}

std::vector<int> all_roots() { return topo::first_ranks(ranks); }

/// Between sockets, between NUMA nodes of one socket, inside a NUMA node.
std::array<std::uint64_t, 3> by_distance(Counts const& c) { return {c[3], c[2], c[1] + c[0]}; }
std::string words(Counts const& c) {
    auto const [sockets, numas, inside] = by_distance(c);
    return std::to_string(sockets) + " between sockets, " + std::to_string(numas) + " between NUMA nodes, " +
           std::to_string(inside) + " inside";
}

class Localities : public testing::TestWithParam<std::pair<char const*, Mapping>> {};
INSTANTIATE_TEST_SUITE_P(Mappings, Localities,
                         testing::Values(std::pair{"in_order", in_order()},
                                         std::pair{"round_robin_over_sockets", round_robin(2)},
                                         std::pair{"round_robin_over_numa_nodes", round_robin(8)}),
                         [](auto const& info) { return std::string(info.param.first); });

TEST_P(Localities, BroadcastCrossesSocketsOnceAndNumaNodesSixTimesForEveryRoot) {
    World world(GetParam().second);
    for (char const* name : {"hierarchical", "hierarchical_slots"}) {
        std::vector<Counts> const counts = count_bcast(world, {Collective::bcast, name}, all_roots());
        for (std::size_t root = 0; root < counts.size(); ++root)
            EXPECT_THAT(by_distance(counts[root]), testing::ElementsAre(1, 6, 56)) << name << ", root " << root;
    }
}

/// For comparison: a tree of ranks that ignores the machine.
TEST_P(Localities, BinomialBroadcastCrossesMoreAndByTheRoot) {
    World world(GetParam().second);
    std::vector<Counts> const counts = count_bcast(world, {Collective::bcast, "binomial"}, all_roots());
    auto const [least, most] = std::ranges::minmax(counts, {}, [](Counts const& c) { return c[3]; });
    RecordProperty("least", words(least));
    RecordProperty("most", words(most));
    std::printf("binomial bcast of 64 ranks: from %s to %s; hierarchical: always 1, 6 and 56\n", words(least).c_str(),
                words(most).c_str());
    for (Counts const& c : counts) {
        auto const [sockets, numas, inside] = by_distance(c);
        EXPECT_EQ(sockets + numas + inside, 63u);
        EXPECT_GE(sockets, 1u);
    }
    EXPECT_GT(most[3], 1u) << "no root crosses the sockets more than once";
}

/// At every distance, the largest count over all roots is at most 1.2 times the smallest.
void expect_like_counts(std::vector<Counts> const& counts, char const* what) {
    for (std::size_t k = 0; k < topo::locality_count; ++k) {
        auto const [least, most] = std::ranges::minmax(counts, {}, [k](Counts const& c) { return c[k]; });
        EXPECT_LE(static_cast<double>(most[k]), 1.2 * static_cast<double>(least[k]))
            << what << ": " << words(least) << "; " << words(most);
    }
    EXPECT_GT(counts.front()[3], 0u) << what << " crossed no socket";
    EXPECT_LT(counts.front()[3], counts.front()[1]) << what << " crosses sockets more often than it stays inside them";
}

TEST_P(Localities, ReductionsCostTheSameForEveryRoot) {
    World world(GetParam().second);
    expect_like_counts(count_reduction(world, {Collective::reduce, "hierarchical"}, all_roots()), "reduce");
}

TEST_P(Localities, BarrierTraversesTheTreeUpAndDown) {
    World world(GetParam().second);
    auto call = [](int, int, Buffers&, auto execute) {
        BarrierArgs args{};
        execute(args);
        return true;
    };
    std::vector<Counts> const counts =
        world.count_with<BarrierArgs>({Collective::barrier, "hierarchical"}, {0, 1}, call, What::flags);
    for (Counts const& c : counts) EXPECT_THAT(by_distance(c), testing::ElementsAre(2 * 1, 2 * 6, 2 * 56));
}

TEST(LocalitiesOfAllreduce, AreTheSameForEveryMapping) {
    std::vector<Counts> counts;
    for (Mapping const& mapping : {in_order(), round_robin(2), round_robin(8), topo::shuffled(in_order(), 1)}) {
        World world(mapping);
        counts.push_back(count_reduction(world, {Collective::allreduce, "hierarchical"}, {0}).front());
    }
    expect_like_counts(counts, "allreduce");
}

constexpr std::int64_t large = 2048;   // doubles: 16 KiB, with chunks of 512 bytes, 1 KiB and 2 KiB

TEST_P(Localities, BroadcastsCrossAsOftenAsTheirLevelHasChunks) {
    World world(GetParam().second);
    for (Counts const& c : count_bcast(world, {Collective::bcast, "smhc", "slice=512+1K+2K", large}, {0, 33}))
        EXPECT_THAT(by_distance(c), testing::ElementsAre(8, 6 * 16, 56 * 32));
    for (Counts const& c : count_bcast(world, {Collective::bcast, "smhc", "slice=2K+1K+512", large}, {0, 33}))
        EXPECT_THAT(by_distance(c), testing::ElementsAre(32, 6 * 16, 56 * 8));
}

/// A rank without children reads all data that is available, but at least its level's chunk.
TEST_P(Localities, OurBroadcastsCrossAsOftenAsTheirLevelHasChunks) {
    World world(GetParam().second);
    auto const broadcast = [&](char const* chunks) {
        std::string const parameters = std::string("chunk=") + chunks + ",share=1M,oversubscribed_share=1M";
        return count_bcast(world, {Collective::bcast, "hierarchical", parameters, large}, {0, 33});
    };
    for (Counts const& c : broadcast("512+1K+2K"))
        EXPECT_THAT(by_distance(c), testing::ElementsAre(8, 6 * 16, testing::Le(56u * 32)));
    for (Counts const& c : broadcast("2K+1K+512"))
        EXPECT_THAT(by_distance(c), testing::ElementsAre(32, 6 * 16, testing::Le(56u * 8)));
}

/// For each chunk, the members of a team of k ranks read k - 1 operands each, and all but the leader write to it.
TEST_P(Localities, ReductionsCrossAsOftenAsTheirLevelHasChunks) {
    World world(GetParam().second);
    auto const reduced = [&](char const* parameters) {
        Trial const trial(Collective::reduce, "hierarchical", parameters, large);
        return by_distance(count_reduction(world, trial, {0}).front());
    };
    EXPECT_THAT(reduced("chunk=512+1K+2K,share=64"), testing::ElementsAre(3 * 8, 2 * 15 * 16, 8 * 63 * 32));
    EXPECT_THAT(reduced("chunk=2K+1K+512,share=64"), testing::ElementsAre(3 * 32, 2 * 15 * 16, 8 * 63 * 8));
}

/// A parent reads from its children in units that it forwards; the leaders of both sockets are on the outermost level.
TEST_P(Localities, TreesOfSlicesCrossOncePerUnitThatTheParentForwards) {
    World world(GetParam().second);
    Trial const trial(Collective::reduce, "rg", "degree=7,slice=512+1K+2K", large);
    EXPECT_THAT(by_distance(count_reduction(world, trial, {0}).front()),
                testing::ElementsAre(8, 2 * 3 * 8, 7 * (2 * 8 + 6 * 16)));
}

}   // namespace
}   // namespace tutti::coll::test
