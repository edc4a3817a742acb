// SPDX-License-Identifier: BSD-3-Clause
// The bytes of XHC's reductions on three levels, and the messages of XHC's Table II: on 2 sockets of 4 NUMA nodes of 8
// cores, XHC's broadcast sends one message between sockets, 6 between NUMA nodes and 56 inside them, for every mapping,
// root, message size and layout of the leaders' flags; those of a 4-nomial tree, which are Open MPI's, depend on
// mapping and root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>


#include "coll/blocks/tree.hpp"
#include "coll/choice/cost.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/counted_calls.hpp"
#include "tests/topo/machines.hpp"

namespace tutti::coll::test {
namespace {

constexpr int ranks = 64;
using Counts = std::array<std::uint64_t, topo::locality_count>;

/// 64 ranks on that machine; rank r runs on core mapping[r].
struct World {
    explicit World(std::vector<int> mapping)
        : placement{.pu = std::move(mapping), .fixed = true},
          shared(ranks, topo::make_hierarchy(machine, placement, topo::first_ranks(ranks),
                                             *topo::parse_hierarchy("numa+socket"))) {
        for (int rank = 0; rank < ranks; ++rank)
            localities.push_back(topo::localities(machine, placement, topo::first_ranks(ranks), rank));
        shared.locality = [this](int from, int to) {
            return localities[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
        };
    }
    Counts messages() const {
        Counts sum{};
        for (Traffic const& t : shared.traffic)
            for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += t.messages[k].read();
        return sum;
    }

    topo::Machine machine = topo::design_machine();
    topo::Placement placement;
    ThreadWorld shared;
    std::vector<std::vector<topo::Locality>> localities;
};

/// The messages of one broadcast with each of the roots.
std::vector<Counts> count_messages(World& world, std::size_t bytes, Setting const& setting,
                                   std::span<int const> roots) {
    auto const type = TypeBuilder::predefined(Basic::uint8);
    std::vector<Counts> counts;
    Counts before{};
    RankBarrier after_each(ranks, [&]() noexcept {
        Counts const now = world.messages();
        counts.push_back(now);
        for (std::size_t k = 0; k < now.size(); ++k) counts.back()[k] -= before[k];
        before = now;
    });
    std::atomic<int> wrong{0};
    run_as_ranks(ranks, [&](int rank) {
        FramePool frames;
        std::uint64_t op = 0;
        for (int root : roots) {
            std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(rank == root ? 100 + root : 255));
            BcastArgs args{};
            args.data = {data.data(), static_cast<std::int64_t>(bytes), type.get()};
            args.root = root;
            args.parameters = setting.values;
            run(world.shared, rank, ++op, frames, *setting.algorithm, args);
            wrong += std::ranges::count(data, 100 + root) != static_cast<std::ptrdiff_t>(bytes);
            after_each.arrive_and_wait();
        }
    });
    EXPECT_EQ(wrong, 0) << "wrong data";
    return counts;
}

/// Messages between sockets, between NUMA nodes, and inside them.
std::array<std::uint64_t, 3> by_distance(Counts const& c) { return {c[3], c[2], c[1] + c[0]}; }

std::vector<int> in_order() { return topo::first_ranks(ranks); }
std::vector<int> round_robin() {
    std::vector<int> mapping;
    for (int rank = 0; rank < ranks; ++rank) mapping.push_back(rank % 8 * 8 + rank / 8);
    return mapping;
}

TEST(XhcBroadcast, CrossesSocketsOnceAndNumaNodesSixTimesInEveryLayout) {
    constexpr int roots[] = {0, 1, 7, 8, 19, 31, 32, 45, 56, 63};
    for (std::vector<int> const& mapping : {in_order(), round_robin()})
        for (std::size_t bytes : {8, 1024, 16384})   // at most one chunk
            for (FlagLayout layout : {FlagLayout::one, FlagLayout::packed, FlagLayout::apart, FlagLayout::atomic}) {
                World world(mapping);
                ASSERT_EQ(world.shared.trees.hierarchy.describe(), "numa+socket+node");
                Setting xhc = defaults(row_of(Collective::bcast, "xhc"));
                xhc.values.set(3, static_cast<std::size_t>(layout));
                std::vector<Counts> const counts = count_messages(world, bytes, xhc, roots);
                for (std::size_t i = 0; i < counts.size(); ++i)
                    EXPECT_THAT(by_distance(counts[i]), testing::ElementsAre(1, 6, 56))
                        << "root " << roots[i] << ", rank 1 on core " << mapping[1] << ", " << bytes
                        << " bytes, layout " << static_cast<int>(layout);
            }
}

/// The formulas of the reductions hold on any number of levels; formulas_test.cpp compares them on at most two.
TEST(XhcReductions, MoveTheBytesOfTheirFormulasOnThreeLevels) {
    for (Collective collective : {Collective::allreduce, Collective::reduce})
        for (std::int64_t count : {8, 128, 129, 4096})   // doubles: up to 1 KiB through slots
            for (int root : {0, 19, 63}) {
                if (collective == Collective::allreduce && root > 0) continue;
                World world(in_order());
                CountedCall const call{&row_of(collective, "xhc"), count, root};
                Setting const setting = call.setting();
                std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(double);
                CostOfCall const cost{setting, world.shared.trees.hierarchy, world.shared.area.slot_bytes(), bytes,
                                      root};
                EXPECT_EQ(static_cast<double>(volume(world.shared, call)), cost.value())
                    << name_of(collective) << ", " << bytes << " bytes, root " << root;
            }
}

TEST(KnomialBroadcast, SendsTheMessagesOfTunedInTableTwo) {
    constexpr int roots[] = {0, 10};
    for (std::size_t bytes : {8, 1024, 16384, 1 << 20}) {
        World by_core(in_order()), by_numa(round_robin());
        Setting const knomial = defaults(row_of(Collective::bcast, "knomial"));
        std::vector<Counts> const core = count_messages(by_core, bytes, knomial, roots),
                                  numa = count_messages(by_numa, bytes, knomial, roots);
        EXPECT_THAT(by_distance(core[0]), testing::ElementsAre(2, 9, 52)) << "map-core, root=0, " << bytes;
        EXPECT_THAT(by_distance(numa[0]), testing::ElementsAre(8, 48, 7)) << "map-numa, " << bytes;
        EXPECT_THAT(by_distance(core[1]), testing::ElementsAre(10, 17, 36)) << "root=10, " << bytes;
    }
}

/// A leader's flag in the view of its members, in each layout: a member reads only its own leader's word.
TEST(XhcFlags, PassTheLeadersAnnouncementToEachMember) {
    constexpr int size = 12;
    topo::Grouping const teams{"team", {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}};
    std::uint64_t op = 0;
    ThreadWorld world(size, topo::Hierarchy::build(size, std::vector{teams}));
    FramePool frames;
    for (FlagLayout layout : {FlagLayout::one, FlagLayout::packed, FlagLayout::apart, FlagLayout::atomic})
        for (int root = 0; root < size; ++root) {
            ++op;
            std::vector<std::unique_ptr<ThreadEnv>> envs;
            std::vector<LeaderFlag<ThreadEnv>> flags;
            for (int rank = 0; rank < size; ++rank) {
                envs.push_back(std::make_unique<ThreadEnv>(world.area, world.trees, rank, op, world, rank, frames));
                flags.emplace_back(*envs.back(), world.trees.hierarchy, root, layout);
            }
            for (int rank = 0; rank < size; ++rank)   // flags between leaders and their own leaders
                if (flags[static_cast<std::size_t>(rank)].parent() >= 0)
                    envs[static_cast<std::size_t>(rank)]->sent(flags[static_cast<std::size_t>(rank)].parent(), 1000);
            for (int rank = 0; rank < size; ++rank)
                flags[static_cast<std::size_t>(rank)].announce(static_cast<std::uint64_t>(1 + rank));
            for (int rank = 0; rank < size; ++rank) {
                LeaderFlag<ThreadEnv> const& flag = flags[static_cast<std::size_t>(rank)];
                ASSERT_EQ(flag.parent() < 0, rank == root);
                if (rank == root) continue;
                EXPECT_EQ(flag.seen(), static_cast<std::uint64_t>(1 + flag.parent())) << rank << ", root " << root;
                EXPECT_EQ(envs[static_cast<std::size_t>(flag.parent())]->sent_by(rank), 1000u) << "overwritten";
            }
        }
}

}   // namespace
}   // namespace tutti::coll::test
