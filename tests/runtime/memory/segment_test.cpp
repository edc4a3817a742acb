// SPDX-License-Identifier: BSD-3-Clause
// The node segment and the heaps in it.
#include "runtime/memory/segment.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/memory/heap.hpp"
#include "runtime/memory/map_window.hpp"

namespace tutti {
namespace {

TEST(Segment, IsZeroAndLaidOutWithoutOverlap) {
    Segment s = Segment::create(3, "machine text", "tuning text");
    EXPECT_EQ(s.ranks(), 3u);
    EXPECT_EQ(s.machine(), "machine text");
    EXPECT_EQ(s.tuning(), "tuning text");
    EXPECT_EQ(s.rank_state(2).state.load(), RankPhase::absent);
    EXPECT_EQ(s.rank_state(2).world_rank, 2);
    auto end_of_inboxes = s.pair(2, 2) + s.header().pair_bytes;
    EXPECT_LE(s.pair(0, 1) + s.header().pair_bytes, s.pair(0, 2));
    EXPECT_LE(end_of_inboxes, s.commons().data());
    EXPECT_LE(s.bells(1) + s.ranks(), s.ring_start(1, 0));
    EXPECT_EQ(s.ring_start(1, 0) + Segment::ring_start_bytes, s.ring_start(1, 1));
    EXPECT_LE(s.ring_start(1, 2) + Segment::ring_start_bytes, s.bells(2));
    EXPECT_LE(s.ring_start(2, 2) + Segment::ring_start_bytes, s.pair(0, 0));
    EXPECT_LE(reinterpret_cast<std::byte*>(&s.watched(2) + 1), s.bells(0));
    EXPECT_LE(s.commons().data() + s.commons().size(), s.heap(0).data());
    EXPECT_LE(s.heap(0).data() + s.heap(0).size(), s.heap(1).data());
    EXPECT_EQ(s.offset(s.heap(2).data()) + s.heap(2).size(), s.header().bytes);
    EXPECT_EQ(s.commons()[0], std::byte{0});
}

TEST(Segment, ThereIsOneForTheMostRanksAndASentenceForMore) {
    Segment s = Segment::create(Segment::most_ranks);
    EXPECT_EQ(s.ranks(), Segment::most_ranks);
    EXPECT_EQ(s.rank_state(Segment::most_ranks - 1).world_rank, static_cast<int>(Segment::most_ranks) - 1);
    try {
        Segment::create(5000);
        FAIL() << "5000 ranks have a segment";
    } catch (Error const& e) {
        EXPECT_STREQ(e.what(),
                     "5000 ranks on one node are more than the 3072 that its shared memory can be laid "
                     "out for; use more nodes");
    }
}

mode_t permissions_of(int descriptor) {
    struct stat info {};
    EXPECT_EQ(fstat(descriptor, &info), 0);
    return info.st_mode & 07777;
}

TEST(Segment, IsForItsOwnUserAlone) {
    EXPECT_EQ(permissions_of(Segment::create(1).descriptor()), 0600u);
    EXPECT_EQ(permissions_of(Segment::create(1, {}, {}, {}, Maker::rank).descriptor()), 0600u);
    std::size_t bytes = least_window;
    int const arena = window_file(bytes);
    EXPECT_EQ(permissions_of(arena), 0600u);
    close(arena);
}

/// Whether it can be opened as the file that a rank holds.
bool opens(int descriptor) {
    int const opened = open_memory_file(memory_file(descriptor));
    if (opened >= 0) close(opened);
    return opened >= 0;
}

TEST(MemoryFile, IsOpenedOnlyIfItIsOneOfThisUser) {
    int const made = make_memory_file("made", MFD_CLOEXEC), device = open("/dev/null", O_RDWR);
    EXPECT_TRUE(opens(made));
    EXPECT_FALSE(opens(device));
    FILE* const named = std::fopen("/proc/self/exe", "rb");
    EXPECT_FALSE(opens(fileno(named)));
    MemoryFile other = memory_file(made);
    ++other.inode;
    EXPECT_EQ(open_memory_file(other), -1);
    EXPECT_EQ(errno, 0);
    if (geteuid() == 0) {   // who may open what others hold
        EXPECT_EQ(fchown(made, 65534, 65534), 0);
        EXPECT_FALSE(opens(made));
    }
    std::fclose(named);
    close(device);
    close(made);
}

TEST(Segment, IsInheritedFromTheLauncherOnly) {
    Segment const launchers = Segment::create(1), ranks = Segment::create(1, {}, {}, {}, Maker::rank);
    EXPECT_FALSE(fcntl(launchers.descriptor(), F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(fcntl(ranks.descriptor(), F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(ranks.header().arena_bytes, 0u);
    EXPECT_EQ(ranks.rank_state(0).arena_bytes.load(), 0u);
}

TEST(Segment, IsSharedWithWhoeverMapsItsDescriptor) {
    Segment mine = Segment::create(2);
    Segment theirs = Segment::attach(dup(mine.descriptor()));
    mine.pair(1, 0)[5] = std::byte{42};
    EXPECT_EQ(theirs.pair(1, 0)[5], std::byte{42});
    EXPECT_NE(fcntl(theirs.descriptor(), F_GETFD) & FD_CLOEXEC, 0)
        << "programs that a rank starts would inherit the segment";
}

TEST(Segment, RefusesADescriptorThatIsNone) {
    int empty = memfd_create("empty", 0);
    EXPECT_THROW(Segment::attach(empty), Error);
    ASSERT_EQ(ftruncate(empty, 1 << 20), 0);
    EXPECT_THROW(Segment::attach(empty), Error) << "no magic number";
    close(empty);
    EXPECT_THROW(Segment::attach(-1), Error);
}

TEST(Segment, GivesForgottenPagesBackAsZero) {
    Segment s = Segment::create(1);
    std::byte* heap = s.heap(0).data();
    std::memset(heap, 1, 3 * 4096);
    s.forget(s.offset(heap) + 100, 2 * 4096);   // only whole pages inside
    EXPECT_EQ(heap[0], std::byte{1});
    EXPECT_EQ(heap[4096], std::byte{0});
    EXPECT_EQ(heap[2 * 4096 + 200], std::byte{1});
}

TEST(SegmentHeap, HandsOutPagesThatDoNotOverlapAndTakesThemBack) {
    Segment s = Segment::create(2);
    SegmentHeap heap(s, 1);
    auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
        return offset >= s.offset(s.heap(1).data()) && offset + bytes <= s.offset(s.heap(1).data()) + s.heap(1).size();
    };
    std::uint64_t a = heap.allocate(1), b = heap.allocate(10000), c = heap.allocate(4096);
    EXPECT_TRUE(inside(a, 1) && inside(b, 10000) && inside(c, 4096));
    EXPECT_EQ(a % 4096, 0u);
    EXPECT_GE(b, a + 4096);
    EXPECT_GE(c, b + 10000);
    heap.release(b);
    EXPECT_EQ(heap.allocate(10000), b) << "the gap fits";
    heap.release(a);
    heap.release(b);
    heap.release(c);
    EXPECT_EQ(heap.allocate(s.heap(1).size()), a) << "neighbours were not joined";
}

TEST(SegmentHeap, KeepsAFewSmallBlocksAndGivesTheOthersBack) {
    Segment s = Segment::create(1);
    SegmentHeap heap(s, 0);
    auto const pages = [&] {
        struct stat info {};
        EXPECT_EQ(fstat(s.descriptor(), &info), 0);
        return info.st_blocks / 8;
    };
    heap.release(heap.allocate(1 << 20));   // what it reads of the rank's state is there from now on
    for (std::uint64_t const bytes : {8192, 1 << 20}) {
        std::uint64_t const block = heap.allocate(bytes);
        std::memset(s.at(block), 1, bytes);
        auto const before = pages();
        heap.release(block);
        bool const kept = bytes == 8192 && !s.numa();
        EXPECT_EQ(before - pages(), kept ? 0 : static_cast<blkcnt_t>(bytes / 4096));
        std::byte const* const again = s.at(heap.allocate(bytes));
        EXPECT_EQ(s.offset(again), block);
        EXPECT_TRUE(std::all_of(again, again + bytes, [](std::byte b) { return b == std::byte{0}; }));
        heap.release(block);
    }
    auto const before = pages();
    std::vector<std::uint64_t> many;
    for (int i = 0; i < 100; ++i) std::memset(s.at(many.emplace_back(heap.allocate(8192))), 1, 8192);
    for (std::uint64_t block : many) heap.release(block);
    EXPECT_LE(pages() - before, 8);
    std::uint64_t const all = heap.allocate(s.heap(0).size());   // what was kept is no obstacle
    heap.release(all);
}

TEST(SegmentHeap, SaysWhenItIsFullAndRecovers) {
    Segment s = Segment::create(1);
    SegmentHeap heap(s, 0);
    std::uint64_t all = heap.allocate(s.heap(0).size());
    EXPECT_THROW(heap.allocate(1), Error);
    bool unused = false;
    heap.release_when(all, [&] { return unused; });
    EXPECT_THROW(heap.allocate(1), Error);
    unused = true;
    EXPECT_EQ(heap.allocate(1), all);
}

}   // namespace
}   // namespace tutti
