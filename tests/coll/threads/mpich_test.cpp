// SPDX-License-Identifier: BSD-3-Clause
// The messages of MPICH's algorithms with a master per node: figure 1 of Zhu, Goodell, Gropp, Thakur, "Hierarchical
// collectives in MPICH2", EuroPVM/MPI 2009, and the numbers of messages between and inside nodes in each form, which
// show what each phase runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "coll/blocks/reducer.hpp"
#include "coll/choice/cost.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {
namespace {

constexpr int ranks = 16;

/// 16 ranks on nodes of some number of ranks, which are consecutive or dealt out.
class Nodes {
public:
    explicit Nodes(int per_node, bool consecutive = true) : world_(ranks, tree_of(per_node, consecutive)) {
        world_.locality = [this](int from, int to) {
            bool const same = world_.trees.nodes.part_of(from) == world_.trees.nodes.part_of(to);
            return same ? topo::Locality::machine : topo::Locality::network;
        };
        world_.on_wait = [this](int rank, int peer) {
            int& first = first_awaited_[static_cast<std::size_t>(rank)];
            if (first < 0) first = peer;
        };
    }

    /// Messages between nodes and inside them.
    struct Counts {
        std::uint64_t between, inside;
        bool operator==(Counts const&) const = default;
        friend std::ostream& operator<<(std::ostream& to, Counts const& c) {
            return to << c.between << " between nodes, " << c.inside << " inside";
        }
    };

    /// The messages of one call with `bytes` bytes of doubles. `name`: the algorithm, with parameters.
    Counts messages(Collective collective, std::string const& name, std::size_t bytes, int root = 0) {
        std::vector<std::string> errors;
        Setting const setting = parse_setting(collective, name, "the test", errors);
        EXPECT_THAT(errors, testing::IsEmpty());
        Counts const before = so_far();
        first_awaited_.assign(ranks, -1);
        ++op_;
        std::atomic<int> wrong{0};
        run_as_ranks(ranks, [&](int rank) { wrong += !call(setting, bytes, root, rank); });
        EXPECT_EQ(wrong, 0) << "wrong results";
        Counts const now = so_far();
        return {now.between - before.between, now.inside - before.inside};
    }

    void time_phases() { world_.times_phases = true; }
    /// Returns whether a rank has spent time inside its node before masters communicate, between nodes, and inside its
    /// node afterwards.
    std::array<bool, 3> timed_phases(int rank) const {
        Traffic const& t = world_.traffic[static_cast<std::size_t>(rank)];
        return {t.inside_before.read() > 0, t.between_nodes.read() > 0, t.inside_after.read() > 0};
    }

    /// The time of a call in the model of section 3.1, from the lowest rank if it has a root.
    double time(Collective collective, std::string const& name, std::size_t bytes, MessageTimes const& messages) const {
        std::vector<std::string> errors;
        Setting const setting = parse_setting(collective, name, "the test", errors);
        EXPECT_THAT(errors, testing::IsEmpty());
        return CostOfCall{setting, world_.trees.hierarchy, world_.area.slot_bytes(), bytes}.time(
            messages, world_.trees.nodes.count(), world_.trees.nodes.largest());
    }

    /// The ranks through which the data of the last broadcast with this root came to a rank: a rank first waits for its
    /// data.
    std::vector<int> path_to(int rank, int root) const {
        std::vector<int> path{rank};
        while (path.front() != root) path.insert(path.begin(), first_awaited_[static_cast<std::size_t>(path.front())]);
        return path;
    }
    /// The most messages between nodes on any such path.
    int longest_path(int root) const {
        int longest = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<int> const path = path_to(rank, root);
            int crossings = 0;
            for (std::size_t i = 1; i < path.size(); ++i)
                crossings += world_.trees.nodes.part_of(path[i]) != world_.trees.nodes.part_of(path[i - 1]);
            longest = std::max(longest, crossings);
        }
        return longest;
    }

private:
    static topo::Hierarchy tree_of(int per_node, bool consecutive) {
        topo::Grouping nodes{"node", {}};
        for (int rank = 0; rank < ranks; ++rank)
            nodes.group.push_back(consecutive ? rank / per_node : rank % (ranks / per_node));
        return topo::Hierarchy::build(ranks, std::vector{nodes}, "cluster");
    }

    Counts so_far() const {
        Counts sum{};
        for (Traffic const& t : world_.traffic) {
            sum.between += t.messages[static_cast<int>(topo::Locality::network)].read();
            sum.inside += t.messages[static_cast<int>(topo::Locality::machine)].read();
        }
        return sum;
    }

    template <class Args>
    void execute(Setting const& setting, int rank, Args& args) {
        args.parameters = setting.values;
        FramePool frames;
        run(world_, rank, op_, frames, *setting.algorithm, args);
    }

    /// Returns true if the rank's result is right.
    bool call(Setting const& setting, std::size_t bytes, int root, int rank) {
        auto const type = TypeBuilder::predefined(Basic::float64);
        Collective const collective = setting.algorithm->collective;
        auto const count = static_cast<std::int64_t>(bytes / sizeof(double));
        std::vector<double> in(static_cast<std::size_t>(count), rank), out(in.size(), -1);
        auto const all_are = [](std::vector<double> const& v, double x) {
            return std::ranges::all_of(v, [x](double y) { return x == y; });
        };
        if (collective == Collective::barrier) {
            BarrierArgs args{};
            execute(setting, rank, args);
            return true;
        }
        if (collective == Collective::bcast) {
            BcastArgs args{};
            args.data = {in.data(), count, type.get()};
            args.root = root;
            execute(setting, rank, args);
            return all_are(in, root);
        }
        Op sum;
        sum.builtin = BuiltinOp::sum;
        ReduceArgs args{};
        bool const has_result = collective != Collective::reduce || rank == root;
        args.in = in.data();
        args.out = has_result ? out.data() : nullptr;
        args.count = count;
        args.type = type.get();
        args.op = &sum;
        args.root = collective == Collective::reduce ? root : 0;
        find_kernels(args);
        execute(setting, rank, args);
        if (collective == Collective::scan) return all_are(out, rank * (rank + 1) / 2);
        return all_are(out, has_result ? ranks * (ranks - 1) / 2 : -1);
    }

    ThreadWorld world_;
    std::vector<int> first_awaited_ = std::vector<int>(ranks, -1);   ///< by each rank in the last call
    std::uint64_t op_ = 0;
};

using Counts = Nodes::Counts;

TEST(MpichFigure1, BinomialBroadcastCrossesNodesTwiceFromRoot0AndThreeTimesFromRoot1) {
    Nodes nodes(4);
    nodes.messages(Collective::bcast, "binomial", 8, 0);
    EXPECT_EQ(nodes.longest_path(0), 2);
    nodes.messages(Collective::bcast, "binomial", 8, 1);
    EXPECT_EQ(nodes.longest_path(1), 3);
    EXPECT_THAT(nodes.path_to(0, 1), testing::ElementsAre(1, 9, 13, 15, 0));
}

TEST(MpichHierarchical, BroadcastCrossesNodesTwiceFromEveryRootAndOnceForEachNode) {
    for (bool consecutive : {true, false})
        for (char const* form : {"mpich_hierarchical:form=pipelined", "mpich_hierarchical:form=whole"})
            for (int root = 0; root < ranks; ++root) {
                Nodes nodes(4, consecutive);
                EXPECT_EQ(nodes.messages(Collective::bcast, form, 4096, root), (Counts{3, 12})) << form << root;
                EXPECT_EQ(nodes.longest_path(root), 2) << form << " from " << root;
            }
}

TEST(MpichHierarchical, ReduceCrossesNodesOnceForEachAndHasAMessageMoreIfTheRootIsNoMaster) {
    for (bool consecutive : {true, false})
        for (char const* form : {"mpich_hierarchical:form=pipelined", "mpich_hierarchical:form=whole"})
            for (int root : {0, 1, 4, 7, 15}) {
                bool const is_master = consecutive ? root % 4 == 0 : root < 4;
                EXPECT_EQ(Nodes(4, consecutive).messages(Collective::reduce, form, 8, root),
                          (Counts{3, is_master ? 12u : 13u}))
                    << form << " to " << root;
            }
}

/// Reduce on nodes, recursive doubling among four masters, broadcast on nodes.
TEST(MpichHierarchical, AllreduceTakesTheThreeStepsOfSection33) {
    EXPECT_EQ(Nodes(4).messages(Collective::allreduce, "mpich_hierarchical", 8), (Counts{4 * 2, 12 + 12}));
    EXPECT_EQ(Nodes(4).messages(Collective::allreduce, "mpich_hierarchical:form=pipelined", 8), (Counts{3 + 3, 24}));
}

/// Two steps of four messages on each node, two steps of four masters, and three messages of the release on each node.
TEST(MpichHierarchical, BarrierTakesTheThreeStepsOfSection34) {
    EXPECT_EQ(Nodes(4).messages(Collective::barrier, "mpich_hierarchical", 0), (Counts{8, 4 * 8 + 4 * 3}));
    EXPECT_EQ(Nodes(16).messages(Collective::barrier, "mpich_hierarchical", 0), (Counts{0, 4 * 16}));
}

/// Only masters are in phases between nodes, and in a scan the first node has none after them; without statistics no
/// phase is timed.
TEST(MpichHierarchical, PhasesAreTimedInsideAndBetweenNodes) {
    using enum Collective;
    for (Collective collective : {barrier, bcast, reduce, allreduce, scan})
        for (bool timed : {false, true}) {
            Nodes nodes(4);
            if (timed) nodes.time_phases();
            nodes.messages(collective, collective == bcast ? "mpich_hierarchical:form=whole" : "mpich_hierarchical",
                           collective == barrier ? 0 : 8);
            for (int rank = 0; rank < ranks; ++rank)
                EXPECT_EQ(nodes.timed_phases(rank),
                          (std::array{timed, timed && rank % 4 == 0, timed && (collective != scan || rank >= 4)}))
                    << name_of(collective) << ", rank " << rank;
        }
}

/// A pipeline along one tree has no phases.
TEST(MpichHierarchical, PhasesOfPipelinesAlongOneTreeAreNotTimed) {
    for (Collective collective : {Collective::bcast, Collective::allreduce}) {
        Nodes nodes(4);
        nodes.time_phases();
        nodes.messages(collective, "mpich_hierarchical:form=pipelined", 16384);
        for (int rank = 0; rank < ranks; ++rank)
            EXPECT_EQ(nodes.timed_phases(rank), (std::array{false, false, false})) << rank;
    }
}

// The model of section 3.1.

/// With messages between nodes that take one unit, and others that take none, it counts those on the longest path.
TEST(MpichModel, CountsTheMessagesBetweenNodesOnTheLongestPath) {
    MessageTimes const between_nodes{.inside = {0, 0}, .between = {1, 0}, .alpha = 0};
    for (char const* form : {"mpich_hierarchical:form=pipelined", "mpich_hierarchical:form=whole"})
        for (int per_node : {1, 2, 4, 8, 16}) {
            Nodes nodes(per_node);
            nodes.messages(Collective::bcast, form, 4096);
            EXPECT_EQ(nodes.time(Collective::bcast, form, 4096, between_nodes), nodes.longest_path(0))
                << form << ", " << per_node << " on each node";
        }
}

/// (1 + α) log N t_inter + log c t_local for one segment, β l + β_local l for several; α is a third.
TEST(MpichModel, HasTheTimesOfSection31) {
    MessageTimes const m{.inside = {1, 0.001}, .between = {10, 0.01}};
    Nodes const nodes(4);
    for (Collective collective : {Collective::bcast, Collective::reduce})
        for (std::size_t bytes : {8u, 5120u, 5128u, 1u << 20}) {
            double const l = static_cast<double>(bytes),
                         expected = bytes <= 5120 ? (1 + 1.0 / 3) * 2 * (10 + 0.01 * l) + 2 * (1 + 0.001 * l)
                                                  : (0.01 + 0.001) * l;
            EXPECT_NEAR(nodes.time(collective, "mpich_hierarchical:form=pipelined", bytes, m), expected, 1e-9 * l)
                << name_of(collective) << " of " << bytes;
        }
    MessageTimes other = m;
    other.alpha = 1;
    EXPECT_NEAR(nodes.time(Collective::bcast, "mpich_hierarchical", 8, other) -
                    nodes.time(Collective::bcast, "mpich_hierarchical", 8, m),
                2.0 / 3 * 2 * (10 + 0.08), 1e-9);
    Nodes const one(16);   // only messages inside the node
    EXPECT_NEAR(one.time(Collective::bcast, "mpich_hierarchical", 8, m), 4 * (1 + 0.008), 1e-9);
    EXPECT_NEAR(one.time(Collective::bcast, "mpich_hierarchical", 1 << 20, m), 0.001 * (1 << 20), 1e-9);
}

/// The forms that consist of ordinary collectives take the sum of these, among the masters and on nodes.
TEST(MpichModel, AddsTheTimesOfOrdinaryCollectives) {
    MessageTimes const m{.inside = {1, 0.001}, .between = {10, 0.01}};
    using enum Collective;
    auto const time = [&](Collective collective, std::size_t bytes, int per_node = 4) {
        return Nodes(per_node).time(
            collective,
            "mpich_hierarchical" + std::string(collective == bcast || collective == reduce ? ":form=whole" : ""), bytes,
            m);
    };
    EXPECT_NEAR(time(bcast, 8), 2 * 10.08 + 2 * 1.008, 1e-9);
    // Eight ranks: scatter, and an allgather by recursive doubling, of 16 KiB.
    EXPECT_NEAR(time(bcast, 16384, 8), 10 + 163.84 + 6 * 1 + 2 * 7.0 / 8 * 16.384, 1e-9);
    EXPECT_NEAR(time(reduce, 8), 2 * 10.08 + 2 * 1.008, 1e-9);
    EXPECT_NEAR(time(reduce, 4096), 4 * 10 + 1.5 * 40.96 + 4 * 1 + 1.5 * 4.096, 1e-9);
    EXPECT_NEAR(time(allreduce, 8), 2 * 10.08 + 2 * 2 * 1.008, 1e-9);
    EXPECT_NEAR(time(allreduce, 8, 16), 4 * 1.008, 1e-9) << "a single node";
    EXPECT_NEAR(time(barrier, 0), 2 * 10 + 2 * 1 + 2 * 1.001, 1e-9) << "the release has one byte";
    EXPECT_NEAR(time(barrier, 0, 16), 4 * 1, 1e-9);
    for (Collective prefix : {scan, exscan}) EXPECT_NEAR(time(prefix, 8), 2 * 10.08 + 2 * 2 * 1.008, 1e-9);
}

TEST(MpichModel, IsStatedByAllMasterAlgorithmsAndByTheirParts) {
    topo::Hierarchy const tree =
        topo::Hierarchy::build(6, std::vector{topo::Grouping{"node", {0, 0, 1, 1, 1, 2}}}, "cluster");
    for (AlgorithmRow const& row : all_algorithms()) {
        EXPECT_TRUE(row.cost.time || row.family != Family::mpich) << name_of(row.collective) << "/" << row.name;
        if (!row.cost.time) continue;
        Setting const setting = defaults(row);
        EXPECT_GT((CostOfCall{setting, tree, 8192, 4096}.time({{1, 1}, {1, 1}}, 3, 3)), 0)
            << name_of(row.collective) << "/" << row.name;
    }
}

// Two nodes of eight ranks. Each part of a message counts, so messages are 16 KiB at most.

/// Seven messages scatter; three steps of recursive doubling, or seven on a ring, gather.
TEST(MpichHierarchical, BroadcastsOnNodesChooseBySizeAsTheOrdinaryOne) {
    auto const count = [](std::string const& parameters, std::size_t bytes) {
        return Nodes(8).messages(Collective::bcast, "mpich_hierarchical:form=whole" + parameters, bytes);
    };
    EXPECT_EQ(count("", 12288 - 8), (Counts{1, 2 * 7}));
    EXPECT_EQ(count("", 12288), (Counts{1, 2 * (7 + 3 * 8)}));
    EXPECT_EQ(count(",ring=12K", 12288), (Counts{1, 2 * (7 + 7 * 8)}));
    EXPECT_EQ(count(",few=9", 12288), (Counts{1, 2 * 7}));
    EXPECT_EQ(count(",scatter=8K", 8192), (Counts{1, 2 * (7 + 3 * 8)}));
    EXPECT_EQ(count(",few=2", 12288), (Counts{1 + 2, 2 * (7 + 3 * 8)}));
}

/// Rabenseifner's reduce: three steps of halving, and seven messages to the master. Among two masters: one step, and a
/// message to the root.
TEST(MpichHierarchical, ReductionsOnNodesChooseBySizeAsTheOrdinaryOnes) {
    auto const count = [](Collective collective, std::string const& parameters, std::size_t bytes) {
        return Nodes(8).messages(collective, "mpich_hierarchical" + parameters, bytes);
    };
    using enum Collective;
    EXPECT_EQ(count(reduce, ":form=whole", 2048), (Counts{1, 2 * 7}));
    EXPECT_EQ(count(reduce, ":form=whole", 2056), (Counts{2 + 1, 2 * (3 * 8 + 7)}));
    EXPECT_EQ(count(reduce, ":form=pipelined", 2056), (Counts{1, 2 * (3 * 8 + 7)}));
    EXPECT_EQ(count(reduce, ":form=pipelined,segment=1K", 2048), (Counts{2, 2 * 7}));
    EXPECT_EQ(count(reduce, ":form=whole,halving=4K", 4096), (Counts{1, 2 * 7}));
    EXPECT_EQ(count(allreduce, "", 2048), (Counts{2, 2 * (7 + 7)}));
    EXPECT_EQ(count(allreduce, "", 2056), (Counts{2 + 2, 2 * (3 * 8 + 7 + 7)}));
    EXPECT_EQ(count(allreduce, "", 12288), (Counts{2 + 2, 2 * (3 * 8 + 7 + 7 + 3 * 8)}));
}

}   // namespace
}   // namespace tutti::coll::test
