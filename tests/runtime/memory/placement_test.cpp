// SPDX-License-Identifier: BSD-3-Clause
// The NUMA node that is requested for each part of the segment, on simulated machines, and the node that the kernel has
// used, on real ones.
#include "runtime/memory/placement.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/memory/heap.hpp"
#include "runtime/process.hpp"
#include "tests/runtime/memory/watched_numa.hpp"
#include "tests/topo/machines.hpp"
#include "topo/binding.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

/// A job with one rank per core of 2 sockets of 4 NUMA nodes of 8 cores, and the requests to the kernel for it.
struct Job {
    explicit Job(char const* bind_to, int ranks = 64) : numa(topo::design_machine()) {
        topo::Machine machine = topo::design_machine();
        machine.simulated = false;
        auto const plan =
            topo::plan_ranks(machine, ranks, {}, bind_to ? *topo::parse_bind_to(bind_to) : topo::BindTo{}, ranks);
        homes = numa_homes(numa, plan->cpus);
        segment.emplace(
            Segment::create(static_cast<unsigned>(ranks), "machine", "tuning", {}, SegmentCreator::launcher, &homes));
    }

    /// The percentage of the rank's own memory that is requested on the node.
    double share(unsigned rank, int node) const {
        SegmentLayout const& h = segment->layout();
        std::uint64_t asked = 0, all = 0;
        auto add = [&](std::uint64_t first, std::uint64_t bytes) {
            asked += numa.preferred_bytes(first, bytes, node);
            all += bytes;
        };
        add(segment->offset(&segment->rank_state(rank)), h.rank_state_bytes);
        add(segment->offset(&segment->call_statistics(rank)), h.call_statistics_bytes);
        add(segment->offset(segment->bells(rank)), h.ring_row_bytes);
        for (unsigned sender = 0; sender < segment->ranks(); ++sender)
            add(segment->offset(segment->pair(rank, sender)), h.pair_bytes);
        add(segment->offset(segment->world_area().data()) + rank * (h.world_area_bytes / h.ranks),
            h.world_area_bytes / h.ranks);
        for (unsigned level = 0; level < h.heap_levels(); ++level)
            add(h.heap_level(level) + rank * h.heap_level_bytes(level), h.heap_level_bytes(level));
        add(segment->arena(rank), h.arena_bytes);
        return 100.0 * static_cast<double>(asked) / static_cast<double>(all);
    }

    FakeNuma numa;
    NumaHomes homes;
    std::optional<Segment> segment;
};

TEST(Placement, AllMemoryOfABoundRankIsRequestedOnItsNode) {
    for (char const* bind_to : {"core", "numa:1", static_cast<char const*>(nullptr)}) {   // null: the default
        Job job(bind_to);
        for (unsigned rank = 0; rank < 64; ++rank) {
            int const node = job.homes.node_of_rank[rank];
            EXPECT_EQ(numa_node_of(*job.segment, rank), node);
            if (!bind_to || bind_to[0] == 'c') { EXPECT_EQ(node, static_cast<int>(rank) / 8); }
            EXPECT_EQ(job.share(rank, node), 100.0) << "rank " << rank << " bound to " << (bind_to ? bind_to : "?");
        }
    }
}

TEST(Placement, SharedDataIsInterleavedAndRunsOfOneNodeAreOneCall) {
    Job job("core");
    SegmentLayout const& h = job.segment->layout();
    EXPECT_TRUE(job.numa.all_preferred(h.machine, h.ring_rows - h.machine, FakeNuma::interleaved));
    EXPECT_EQ(job.segment->machine(), "machine");
    EXPECT_EQ(job.numa.calls, 1 + (6 + static_cast<int>(h.heap_levels())) * 8) << "the parts on eight nodes";
    EXPECT_EQ(h.rank_state_bytes % numa_page, 0u) << "states of two ranks share a page";
}

TEST(Placement, EveryPartOfTheSegmentHasARequestedNode) {
    Job job("core");
    SegmentLayout const& h = job.segment->layout();
    std::uint64_t asked = 0;
    for (int node = FakeNuma::interleaved; node < 8; ++node)
        asked += job.numa.preferred_bytes(h.rank_states, h.bytes - h.rank_states, node);
    EXPECT_EQ(asked, h.bytes - h.rank_states);
}

TEST(Placement, UnboundRanksPlaceTheirMemoryWhereTheyStart) {
    Job job("none");
    EXPECT_EQ(job.numa.calls, 1) << "the launcher places only the shared data";
    job.numa.knows_units = false;   // the affinity of this test is unrelated to the simulated machine
    for (unsigned rank = 0; rank < 64; ++rank) {
        EXPECT_EQ(numa_node_of(*job.segment, rank), -1);
        job.numa.here = static_cast<int>(rank * 5 % 8);
        NumaHome const home(*job.segment, rank);
        EXPECT_TRUE(home.may_move());
    }
    for (unsigned rank = 0; rank < 64; ++rank) {
        int const node = static_cast<int>(rank * 5 % 8);
        EXPECT_EQ(numa_node_of(*job.segment, rank), node);
        EXPECT_EQ(job.share(rank, node), 100.0) << "rank " << rank;
    }
}

TEST(Placement, TheMemoryOfARankFollowsAPermanentMove) {
    Job job("none");
    job.numa.knows_units = false;
    job.numa.here = 2;
    NumaHome home(*job.segment, 7);
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t now = second;
    auto check_on = [&](int node, int times) {
        job.numa.here = node;
        for (int i = 0; i < times; ++i) home.check(now += second);
    };
    check_on(5, 9);
    check_on(2, 1);
    check_on(5, 9);
    check_on(6, 9);
    EXPECT_EQ(job.share(7, 2), 100.0) << "the rank was never away for long";
    for (int i = 0; i < 100; ++i) home.check(now + i);
    EXPECT_EQ(numa_node_of(*job.segment, 7), 2) << "checks in quick succession count once";
    check_on(6, 1);
    EXPECT_EQ(numa_node_of(*job.segment, 7), 6);
    EXPECT_EQ(job.share(7, 6), 100.0);
    EXPECT_EQ(job.segment->rank_state(7).placed.moves.read(), 1u);
    EXPECT_GT(job.numa.moves, 0) << "resident pages are not moved";
}

TEST(Placement, ABoundRankKeepsItsNode) {
    Job job("core");
    int const calls = job.numa.calls;
    job.numa.here = 0;
    NumaHome const home(*job.segment, 63);
    EXPECT_FALSE(home.may_move());
    EXPECT_EQ(numa_node_of(*job.segment, 63), 7);
    EXPECT_EQ(job.numa.calls, calls);
}

TEST(Placement, AProcessPlacesTheMemoryOfAnUnboundRank) {
    Job job("none", 2);
    job.numa.knows_units = false;
    job.numa.here = 3;
    Process process(*job.segment, 1, {});
    EXPECT_TRUE(process.numa_home.may_move());
    EXPECT_EQ(numa_node_of(*job.segment, 1), 3);
}

/// All functions must have no effect.
void expect_nothing_placed(FakeNuma& numa) {
    std::vector<std::vector<int>> const units(4, {0});
    NumaHomes const homes = numa_homes(numa, units);
    EXPECT_EQ(homes.system, nullptr);
    Segment const segment = Segment::create(4, {}, {}, {}, SegmentCreator::launcher, &homes);
    EXPECT_FALSE(places_memory(segment));
    EXPECT_EQ(segment.layout().rank_state_bytes, sizeof(RankState)) << "pages are wasted";
    EXPECT_FALSE(NumaHome(segment, 1).may_move());
    EXPECT_EQ(numa_node_of(segment, 1), -1);
    place(segment, segment.layout().heaps, 1 << 20, 0);
    survey(segment);
    SegmentHeap heap(segment, 0);
    heap.release(heap.allocate(8 << 20));
    EXPECT_EQ(numa.calls, 0);
    PlacementTest const trial = test_placement(numa);
    EXPECT_FALSE(trial.succeeded);
    EXPECT_EQ(trial.message, numa.unavailable_reason());
}

TEST(Placement, NothingIsDoneWithoutNuma) {
    FakeNuma none(std::string("the kernel knows no NUMA nodes"));
    expect_nothing_placed(none);
}

TEST(Placement, NothingIsDoneInACgroupWithOneNode) {
    FakeNuma one(std::string("this process may use memory of one NUMA node only"));
    expect_nothing_placed(one);
}

TEST(Placement, ForbiddenPlacementIsTriedOnceAndReported) {
    for (int refusal : {EPERM, ENOSYS}) {
        topo::Machine const machine = topo::design_machine();
        FakeNuma numa(machine);
        numa.refusal = refusal;
        std::vector<std::vector<int>> const units(16, {63});
        NumaHomes const homes = numa_homes(numa, units);
        Segment const segment = Segment::create(16, "text", {}, {}, SegmentCreator::launcher, &homes);
        EXPECT_EQ(numa.calls, 1);
        EXPECT_EQ(segment.header().placement_refused.load(), static_cast<std::uint32_t>(refusal));
        place(segment, segment.layout().heaps, 1 << 20, 3);
        EXPECT_FALSE(NumaHome(segment, 3).may_move());
        EXPECT_EQ(numa.calls, 1);
        EXPECT_EQ(segment.machine(), "text");
        survey(segment);
        EXPECT_EQ(segment.rank_state(3).placed.refused.read(), static_cast<std::uint64_t>(refusal));
        EXPECT_THAT(test_placement(numa).message, HasSubstr(std::strerror(refusal)));
    }
}

TEST(Placement, AnIsolatedEnomemForbidsNothing) {
    Job job("core", 8);
    job.numa.refusal = ENOMEM;
    place(*job.segment, job.segment->layout().heaps, numa_page, 3);
    job.numa.refusal = 0;
    place(*job.segment, job.segment->layout().heaps, numa_page, 4);
    EXPECT_TRUE(job.numa.all_preferred(job.segment->layout().heaps, numa_page, 4));
}

TEST(Placement, AdjacentPiecesAreOneCallAndASharedPageBelongsToTheFirst) {
    Job job("core", 16);
    std::uint64_t const at = job.segment->layout().heaps;
    int const calls = job.numa.calls;
    std::vector<SegmentRange> const pieces = {{at, 5000, 1},         {at + 5000, 3000, 1},   {at + 8000, 9000, 2},
                                              {at + 17000, 1000, 2}, {at + 18000, 0, 3},     {at + 18000, 2480, -1},
                                              {at + 20480, 4096, 2}, {at + 24576, 4096, -1}, {at + 28672, 4096, 2}};
    place(*job.segment, pieces);
    EXPECT_EQ(job.numa.calls - calls, 3);
    EXPECT_TRUE(job.numa.all_preferred(at, 8192, 1));
    EXPECT_TRUE(job.numa.all_preferred(at + 8192, 12288, 2));
    EXPECT_TRUE(job.numa.all_preferred(at + 20480, 4096, 2));
    EXPECT_TRUE(job.numa.all_preferred(at + 24576, 4096, 0)) << "a piece without a node keeps its placement";
    EXPECT_TRUE(job.numa.all_preferred(at + 28672, 4096, 2));
}

TEST(Placement, AFreedHeapBlockReturnsToTheOwnersNode) {
    Job job("core");
    SegmentHeap heap(*job.segment, 63);
    for (int time = 0; time < 3; ++time) {
        std::uint64_t const block = heap.allocate(64 * numa_page);
        job.segment->at(block)[0] = std::byte{1};
        for (unsigned rank = 0; rank < 64; ++rank)
            place(*job.segment, block + rank * numa_page, numa_page, numa_node_of(*job.segment, rank));
        for (unsigned rank = 0; rank < 64; ++rank)
            EXPECT_TRUE(job.numa.all_preferred(block + rank * numa_page, numa_page, static_cast<int>(rank) / 8));
        heap.release(block);
        EXPECT_EQ(job.share(63, 7), 100.0);
        EXPECT_EQ(job.segment->at(block)[0], std::byte{0}) << "pages on other nodes are kept";
    }
}

blkcnt_t blocks_of(Segment const& segment) {
    struct stat info {};
    EXPECT_EQ(fstat(segment.descriptor(), &info), 0);
    return info.st_blocks;
}

TEST(Survey, InspectsResidentPagesAndCreatesNone) {
    Job job("core", 16);
    Segment const& segment = *job.segment;
    for (unsigned rank : {0u, 15u}) {
        ASSERT_TRUE(segment.open_pairs(rank, 3));
        segment.pair(rank, 3)[0] = std::byte{1};
        std::memset(segment.heap(rank, 1).data(), 1, 200 * numa_page);
    }
    blkcnt_t const before = blocks_of(segment);
    job.numa.all_pages_on = 1;
    survey(segment);
    EXPECT_EQ(blocks_of(segment), before);
    Placed const &first = segment.rank_state(0).placed, &last = segment.rank_state(15).placed;
    for (Placed const* one : {&first, &last}) {
        EXPECT_EQ(one->inspected[1].read(), 1u);
        EXPECT_GE(one->inspected[2].read(), 50u);
        EXPECT_EQ(one->inspected[3].read(), 0u);
        EXPECT_EQ(one->refused.read(), 0u);
    }
    for (std::size_t part = 0; part < Placed::parts; ++part) {
        EXPECT_EQ(first.on_node[part].read(), 0u) << "rank 0 is on node 0";
        EXPECT_EQ(last.on_node[part].read(), last.inspected[part].read()) << "rank 15 is on node 1";
    }
}

/// Writes to all parts of a rank's memory from this process, on any core.
void touch(Segment const& segment, unsigned rank) {
    segment.rank_state(rank).asleep.store(0);
    segment.call_statistics(rank).row("a", 1, "b", "c").record(1, 1);
    for (unsigned sender = 0; sender < segment.ranks(); ++sender) {
        ASSERT_TRUE(segment.open_pairs(rank, sender));
        segment.pair(rank, sender)[0] = std::byte{1};
    }
    std::memset(segment.heap(rank, 0).data(), 1, 1 << 20);
    if (segment.layout().arena_bytes == 0) return;
    ASSERT_EQ(pwrite(segment.descriptor(), "x", 1, static_cast<off_t>(segment.arena(rank))), 1);
}

TEST(Survey, TheKernelPutsEachRanksMemoryOnItsNode) {
    NumaSystem& numa = kernel_numa();
    PlacementTest const trial = test_placement(numa);
    if (!trial.succeeded) GTEST_SKIP() << "real placement cannot be observed here: " << trial.message;
    NumaHomes homes{&numa, {}};
    for (int i = 0; i < 2; ++i)
        homes.node_of_rank.insert(homes.node_of_rank.end(), numa.nodes().begin(), numa.nodes().end());
    auto const ranks = static_cast<unsigned>(homes.node_of_rank.size());
    Segment const segment = Segment::create(ranks, "text", {}, {}, SegmentCreator::launcher, &homes);
    for (unsigned rank = 0; rank < ranks; ++rank) touch(segment, rank);
    survey(segment);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        Placed const& placed = segment.rank_state(rank).placed;
        EXPECT_EQ(placed.refused.read(), 0u);
        for (std::size_t part = 0; part < Placed::parts; ++part) {
            EXPECT_EQ(placed.on_node[part].read(), placed.inspected[part].read())
                << "rank " << rank << ", part " << part;
            EXPECT_EQ(placed.inspected[part].read() == 0, part == 3 && segment.layout().arena_bytes == 0);
        }
    }
}

TEST(Survey, ResidentMemoryIsMovedToTheNodeWhereItsRankStarts) {
    NumaSystem& numa = kernel_numa();
    PlacementTest const trial = test_placement(numa);
    if (!trial.succeeded) GTEST_SKIP() << "real placement cannot be observed here: " << trial.message;
    std::vector<std::vector<int>> const unbound(2);
    NumaHomes const homes = numa_homes(numa, unbound);
    Segment const segment = Segment::create(2, "text", {}, {}, SegmentCreator::launcher, &homes);
    touch(segment, 1);
    NumaHome const home(segment, 1);
    survey(segment);
    Placed const& placed = segment.rank_state(1).placed;
    EXPECT_GT(placed.node.read(), 0u);
    for (std::size_t part = 0; part < 3; ++part)
        EXPECT_EQ(placed.on_node[part].read(), placed.inspected[part].read()) << part;
}

}   // namespace
}   // namespace tutti
