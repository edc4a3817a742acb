// SPDX-License-Identifier: BSD-3-Clause
// The shared memory of a communicator's collectives: allocation at creation and on first use, placement, and release.
#include "coll/env/area.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <numeric>

#include "coll/comm/create.hpp"
#include "coll/env/operation_sequence.hpp"
#include "tests/runtime/memory/watched_numa.hpp"
#include "tests/topo/machines.hpp"
#include "topo/binding.hpp"

namespace tutti::coll {
namespace {

TEST(Area, OfTheWorldFitsIntoTheSegmentForUpToMaxRanks) {
    for (unsigned ranks : {1u, 2u, 64u, 65u, 170u, 171u, 1000u, Segment::max_ranks}) {
        Segment const segment = Segment::create(ranks);
        EXPECT_LE(Area::bytes(static_cast<int>(ranks)), segment.world_area().size()) << ranks;
    }
}

/// Two ranks, each with a view of an area in rank 0's heap.
class AreaOfTwo : public testing::Test {
protected:
    static constexpr int members = 2;

    /// Returns the bytes of the ranks' heaps that occupy memory. The ranks' states precede the heaps.
    long long bytes_in_use() {
        long long bytes = 0;
        off_t end = static_cast<off_t>(segment.offset(segment.heap(0, 0).data()));
        for (off_t begin; (begin = lseek(segment.descriptor(), end, SEEK_DATA)) >= 0; bytes += end - begin)
            end = lseek(segment.descriptor(), begin, SEEK_HOLE);
        return bytes;
    }
    std::byte* allocate() {
        offset = ranks[0].heap.allocate(Area::bytes(members));
        Area(segment.at(offset), members).place_pages();
        return segment.at(offset);
    }

    Segment segment = Segment::create(members);
    Process ranks[members] = {Process(segment, 0, {}), Process(segment, 1, {})};
    std::uint64_t offset = 0;
    std::byte* const base = allocate();
    Area views[members] = {Area(base, members, &ranks[0]), Area(base, members, &ranks[1])};
};

TEST_F(AreaOfTwo, AllocatesARegionOnceWhicheverRankNeedsItFirst) {
    long long const before = bytes_in_use();
    std::byte* const slot = views[1].slot(0, 12, 4096);
    EXPECT_EQ(slot, views[0].slot(0, 12, 4096));
    EXPECT_EQ(views[0].owned_region_offset(static_cast<int>(AreaRegion::slots)), 0u);
    EXPECT_GE(views[1].owned_region_offset(static_cast<int>(AreaRegion::slots)),
              segment.offset(segment.heap(1, 0).data()));
    EXPECT_LE(bytes_in_use() - before, 2 * 4096) << "unused slots occupy memory";
    EXPECT_EQ(&views[0].sent(1, 12, 0).value, &views[1].sent(1, 12, 0).value);
    EXPECT_EQ(&views[0].ready(1, 12, inner_levels).value, &views[1].ready(1, 12, inner_levels).value);
    EXPECT_NE(&views[0].ready(1, 12, inner_levels).value, &views[0].ack(1, 12, inner_levels).value);
}

TEST_F(AreaOfTwo, SmallSlotsOfAChannelAreAdjacent) {
    std::byte* const first = views[1].slot(0, 8, small_slot_bytes);
    EXPECT_EQ(segment.offset(first) % area_page, 0u);
    long long const before = bytes_in_use();
    for (std::uint64_t op = 8; op < 8 + channel_depth; ++op)
        for (int m = 0; m < members; ++m) {
            std::byte* const slot = views[m].slot(m, op, small_slot_bytes);
            EXPECT_EQ(slot, first + ((op - 8) * members + static_cast<unsigned>(m)) * small_slot_bytes);
            EXPECT_EQ(views[1 - m].slot(m, op, 57), slot);
            std::memset(slot, 1, small_slot_bytes);
        }
    EXPECT_EQ(views[0].slot(1, 8, 57) - first, static_cast<std::ptrdiff_t>(views[0].slot_distance(57)));
    EXPECT_EQ(bytes_in_use() - before, members * 4096);
    EXPECT_NE(views[0].slot(1, 8, small_slot_bytes + 1), views[0].slot(1, 8, small_slot_bytes));
}

TEST(Area, OfACommunicatorThatIsUsedOnceOccupiesFewPages) {
    constexpr unsigned members = 64;
    Segment segment = Segment::create(members);
    Process process(segment, 0, {});
    Area const area(segment.at(process.heap.allocate(Area::bytes(members))), members, &process);
    auto const pages_in_use = [&] {
        struct stat info {};
        EXPECT_EQ(fstat(segment.descriptor(), &info), 0);
        return info.st_blocks / 8;
    };
    long long const before = pages_in_use();
    for (int m = 0; m < static_cast<int>(members); ++m) {
        area.channel(m, 1).cell.stamp.store(stamp(1, 1));
        area.first_records(m)[0] = std::byte{1};
        area.done(m).publish(1);
    }
    EXPECT_LE(pages_in_use() - before, 3 + members / 8);
}

/// The world's area is the segment's world_area.
TEST(Area, OfASmallWorldPopulatesAMembersSlotsAtTheirFirstUse) {
    auto const pages_of_slots = [](unsigned members, bool world) {
        Segment segment = Segment::create(members);
        Process process(segment, 0, {});
        std::vector<int> all(members);
        std::iota(all.begin(), all.end(), 0);
        auto const group = Ref<Group>::adopt(new Group(all, 0));
        std::byte* const base = world ? segment.world_area().data()
                                      : segment.at(process.heap.allocate(Area::bytes(static_cast<int>(members))));
        Area const area(base, *group, process);
        auto const in_use = [&] {
            struct stat info {};
            EXPECT_EQ(fstat(segment.descriptor(), &info), 0);
            return info.st_blocks / 8;
        };
        area.slot(0, 8, 1);
        long long const before = in_use();
        area.slot(0, 8, area.slot_bytes());
        return in_use() - before;
    };
    EXPECT_EQ(pages_of_slots(4, true), channel_depth * 2);
    EXPECT_EQ(pages_of_slots(4, false), 0) << "other communicators populate only the pages that they use";
    EXPECT_EQ(pages_of_slots(64, true), 0);
}

TEST_F(AreaOfTwo, ALateRegionsFlagsShowNoProgressOfPendingOperations) {
    for (std::uint64_t op : {std::uint64_t{1}, std::uint64_t{9}, std::uint64_t{1} << 15, (std::uint64_t{1} << 15) + 5,
                             std::uint64_t{50'000}, (std::uint64_t{1} << 16) + 3}) {
        Area const late(ranks[0].segment.at(ranks[0].heap.allocate(Area::bytes(members))), members, &ranks[0]);
        for (std::uint64_t other = op > channel_depth ? op - channel_depth + 1 : 1; other < op + channel_depth;
             ++other) {
            Area::Word const flag = late.sent(1, op, 0), word = late.sent(1, other, 0);
            EXPECT_FALSE(has_reached(flag.value.load(), stamp(flag.op, 1))) << op;
            EXPECT_FALSE(has_reached(word.value.load(), stamp(word.op, 1))) << op << " " << other;
        }
    }
}

TEST_F(AreaOfTwo, IsReleasedWithItsRegionsWhenAllHaveLeft) {
    long long const before = bytes_in_use();
    {
        OperationSequence first(ranks[0], views[0], 0), second(ranks[1], views[1], 1);
        first.owned_offset = offset;
        std::memset(second.area.slot(1, 1, second.area.slot_bytes()), 1, second.area.slot_bytes());
        std::memset(first.area.channel(0, 1).cell.payload, 1, Cell::inline_bytes);
        std::memset(second.area.channel(1, 1).cell.payload, 1, Cell::inline_bytes);
        EXPECT_GT(bytes_in_use(), before);
    }
    auto look_for_unused = [](Process& rank) { rank.heap.release(rank.heap.allocate(1)); };
    look_for_unused(ranks[0]);
    EXPECT_FALSE(views[1].is_unused()) << "rank 1 has not released its slots";
    std::uint64_t const other = ranks[0].heap.allocate(1);
    EXPECT_NE(other, offset) << "rank 1 would read memory of another owner";
    ranks[0].heap.release(other);
    look_for_unused(ranks[1]);
    EXPECT_TRUE(views[0].is_unused());
    look_for_unused(ranks[0]);
    // The heap keeps small blocks for reuse until a larger allocation needs their memory.
    for (Process* rank : {&ranks[0], &ranks[1]}) EXPECT_THROW(rank->heap.allocate(1ULL << 50), Error);
    EXPECT_LE(bytes_in_use(), before);
}

TEST_F(AreaOfTwo, IsRetainedWhileAMemberUsesIt) {
    auto first = std::make_unique<OperationSequence>(ranks[0], views[0], 0);
    OperationSequence second(ranks[1], views[1], 1);
    first->owned_offset = offset;
    first.reset();
    std::uint64_t const next = ranks[0].heap.allocate(1);
    EXPECT_NE(next, offset);
    EXPECT_FALSE(views[1].is_unused());
}

/// Sockets of 4 NUMA nodes of 8 cores with a rank bound to each of 64 cores, in the view of the first rank.
TEST(Area, IsPlacedOnEachMembersNumaNodeAlsoWhenItsMemoryIsReused) {
    constexpr int ranks = 64;
    FakeNuma numa(topo::design_machine());
    topo::Machine machine = topo::design_machine();
    machine.simulated = false;
    auto const plan = topo::plan_ranks(machine, ranks, {}, *topo::parse_bind_to("core"), ranks);
    NumaHomes const homes = numa_homes(numa, plan->cpus);
    Segment segment = Segment::create(ranks, {}, {}, {}, SegmentCreator::launcher, &homes);
    Process process(segment, 0, {});
    std::vector<int> backwards(ranks);
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    std::swap(backwards.front(), backwards.back());   // the allocating rank must be the first member
    auto const group = Ref<Group>::adopt(new Group(backwards, 0));
    for (int round = 0; round < 3; ++round) {
        int const calls = numa.calls;
        ContextAllocation const made = allocate_context(process, *group);
        EXPECT_LE(numa.calls - calls, 10) << "adjacent members on one node are placed together";
        Area const area(segment.at(made.area), *group, process);
        std::size_t const row = channel_depth * area.slot_bytes(), counters = channel_depth * 2 * ranks * 8;
        for (int m = 0; m < ranks; ++m) {
            int const node = backwards[static_cast<std::size_t>(m)] / 8;
            EXPECT_EQ(numa.preferred_bytes(made.area + static_cast<unsigned>(m) * 4096u, 4096, node), 4096u) << m;
            EXPECT_GE(numa.preferred_bytes(segment.offset(area.slot(m, 8, row)), row, node), row - 4096)
                << m << ": slots";
            EXPECT_EQ(numa.preferred_bytes(segment.offset(area.slot(m, 8, 1)), 4096, node), 4096u)
                << m << ": small slots";
            EXPECT_GE(numa.preferred_bytes(segment.offset(&area.sent(m, 8, 0).value), counters, node), counters - 4096)
                << m;
        }
        for (int region = 0; region < area_regions; ++region)
            if (area.owned_region_offset(region) != 0) process.heap.release(area.owned_region_offset(region));
        process.heap.release(made.area);
    }
}

}   // namespace
}   // namespace tutti::coll
