// SPDX-License-Identifier: BSD-3-Clause
// The node segment and the heaps in it.
#include "runtime/memory/segment.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/heap.hpp"

namespace tutti {
namespace {

TEST(Segment, IsZeroAndHasDisjointParts) {
    Segment s = Segment::create(3, "machine text", "tuning text");
    EXPECT_EQ(s.ranks(), 3u);
    EXPECT_EQ(s.machine(), "machine text");
    EXPECT_EQ(s.tuning(), "tuning text");
    EXPECT_EQ(s.rank_state(2).state.load(), RankPhase::absent);
    EXPECT_EQ(s.rank_state(2).world_rank, 2);
    auto end_of_inboxes = s.pair(2, 2) + s.layout().pair_bytes;
    EXPECT_LE(s.pair(0, 1) + s.layout().pair_bytes, s.pair(0, 2));
    EXPECT_LE(end_of_inboxes, s.world_area().data());
    EXPECT_LE(s.bells(1) + s.ranks(), s.ring_start(1, 0));
    EXPECT_EQ(s.ring_start(1, 0) + Segment::ring_start_bytes, s.ring_start(1, 1));
    EXPECT_LE(s.ring_start(1, 2) + Segment::ring_start_bytes, s.bells(2));
    EXPECT_LE(s.ring_start(2, 2) + Segment::ring_start_bytes, s.pair(0, 0));
    EXPECT_LE(reinterpret_cast<std::byte*>(&s.wait_target(2) + 1), s.bells(0));
    EXPECT_LE(s.world_area().data() + s.world_area().size(), s.heap(0, 0).data());
    std::byte const* end = s.heap(0, 0).data();
    std::uint64_t bytes = 0;
    for (unsigned level = 0; level < s.heap_levels(); ++level) {
        for (unsigned rank = 0; rank < 3; ++rank) {
            EXPECT_EQ(s.heap(rank, level).data(), end);
            end += s.heap(rank, level).size();
        }
        bytes += s.heap(0, level).size();
    }
    EXPECT_EQ(bytes, s.layout().heap_bytes);
    EXPECT_EQ(s.heap(0, s.heap_levels() - 1).size(), bytes / 2);
    EXPECT_EQ(s.offset(end), s.layout().bytes);
    EXPECT_EQ(s.world_area()[0], std::byte{0});
}

TEST(Segment, SupportsMaxRanksAndFailsForMore) {
    Segment s = Segment::create(Segment::max_ranks);
    EXPECT_EQ(s.ranks(), Segment::max_ranks);
    EXPECT_EQ(s.rank_state(Segment::max_ranks - 1).world_rank, static_cast<int>(Segment::max_ranks) - 1);
    try {
        Segment::create(5000);
        FAIL() << "a segment for 5000 ranks was created";
    } catch (Error const& e) {
        EXPECT_STREQ(e.what(),
                     "5000 ranks on one node exceed the maximum of 3072 ranks that can share memory; use more nodes");
    }
}

mode_t permissions_of(int descriptor) {
    struct stat info {};
    EXPECT_EQ(fstat(descriptor, &info), 0);
    return info.st_mode & 07777;
}

TEST(Segment, IsAccessibleToItsUserOnly) {
    EXPECT_EQ(permissions_of(Segment::create(1).descriptor()), 0600u);
    EXPECT_EQ(permissions_of(Segment::create(1, {}, {}, {}, SegmentCreator::rank).descriptor()), 0600u);
    std::size_t bytes = min_window_bytes;
    int const arena = create_window_file(bytes);
    EXPECT_EQ(permissions_of(arena), 0600u);
    close(arena);
}

/// Can the file be opened through the descriptor that another rank holds?
bool opens(int descriptor) {
    int const opened = open_memory_file(memory_file(descriptor));
    if (opened >= 0) close(opened);
    return opened >= 0;
}

TEST(MemoryFile, IsOpenedOnlyIfItBelongsToThisUser) {
    int const made = create_memory_file("made", MFD_CLOEXEC), device = open("/dev/null", O_RDWR);
    EXPECT_TRUE(opens(made));
    EXPECT_FALSE(opens(device));
    FILE* const named = std::fopen("/proc/self/exe", "rb");
    EXPECT_FALSE(opens(fileno(named)));
    MemoryFile other = memory_file(made);
    ++other.inode;
    EXPECT_EQ(open_memory_file(other), -1);
    EXPECT_EQ(errno, 0);
    if (geteuid() == 0) {   // only root may open descriptors of other users
        EXPECT_EQ(fchown(made, 65534, 65534), 0);
        EXPECT_FALSE(opens(made));
    }
    std::fclose(named);
    close(device);
    close(made);
}

TEST(Segment, IsInheritedFromTheLauncherOnly) {
    Segment const launchers = Segment::create(1), ranks = Segment::create(1, {}, {}, {}, SegmentCreator::rank);
    EXPECT_FALSE(fcntl(launchers.descriptor(), F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(fcntl(ranks.descriptor(), F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(ranks.layout().arena_bytes, 0u);
    EXPECT_EQ(ranks.rank_state(0).arena_bytes.load(), 0u);
}

TEST(Segment, IsSharedWithProcessesThatMapItsDescriptor) {
    Segment mine = Segment::create(2);
    Segment theirs = Segment::attach(dup(mine.descriptor()));
    EXPECT_TRUE(mine.open_pairs(1, 0) && theirs.open_pairs(0, 1));
    mine.pair(1, 0)[5] = std::byte{42};
    EXPECT_EQ(theirs.pair(1, 0)[5], std::byte{42});
    EXPECT_NE(fcntl(theirs.descriptor(), F_GETFD) & FD_CLOEXEC, 0)
        << "programs that a rank starts would inherit the segment";
}

TEST(Segment, RefusesInvalidDescriptors) {
    int empty = memfd_create("empty", 0);
    EXPECT_THROW(Segment::attach(empty), Error);
    ASSERT_EQ(ftruncate(empty, 1 << 20), 0);
    EXPECT_THROW(Segment::attach(empty), Error) << "no magic number";
    close(empty);
    EXPECT_THROW(Segment::attach(-1), Error);
}

/// Returns whether a rank that attaches now maps the parts where they were created, or detects the corruption.
bool attaches_as(Segment const& made) {
    int const descriptor = dup(made.descriptor());
    try {
        SegmentLayout const layout = Segment::attach(descriptor).layout(), &whole = made.layout();
        return layout.bytes == whole.bytes && layout.heaps == whole.heaps &&
               layout.wait_targets == whole.wait_targets && layout.ring_rows == whole.ring_rows &&
               layout.ranks == whole.ranks;
    } catch (Error const& e) {
        close(descriptor);
        EXPECT_NE(std::string(e.what()).find("through a wrong pointer"), std::string::npos) << e.what();
        return true;
    }
}

TEST(Segment, IsAttachedByItsOriginalLayoutWhateverOverwritesIt) {
    Segment const s = Segment::create(3, "machine", "tuning", {}, SegmentCreator::launcher, nullptr, 16);
    RankState const* const state = &s.rank_state(2);
    Trace const* const trace = s.trace(1);
    auto* const words = reinterpret_cast<std::uint64_t*>(&s.header());
    for (std::size_t i = 0; i < sizeof(SegmentLayout) / sizeof *words; ++i) {
        std::uint64_t const before = words[i];
        for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, before + 1, before + 4096,
                                    before * 2, before ^ std::uint64_t{1} << 40, before << 32}) {
            words[i] = value;
            EXPECT_TRUE(attaches_as(s)) << "word " << i << " is " << value << " instead of " << before;
            EXPECT_EQ(&s.rank_state(2), state);
            EXPECT_EQ(s.trace(1), trace);
            EXPECT_EQ(s.machine(), "machine");
            EXPECT_EQ(s.ranks(), 3u);
        }
        words[i] = before;
    }
    EXPECT_EQ(Segment::attach(dup(s.descriptor())).tuning(), "tuning");
}

TEST(Segment, OfAnotherBuildIsDistinguishedFromAnOverwrittenOne) {
    Segment const s = Segment::create(3, "machine", "tuning", {}, SegmentCreator::launcher, nullptr, 16);
    SegmentLayout& layout = s.header();
    std::uint64_t const states = layout.call_statistics - layout.rank_states;
    layout.rank_state_bytes += layout.rank_state_bytes;
    std::uint64_t const more = (layout.ranks * layout.rank_state_bytes + 4095) / 4096 * 4096 - states;
    layout.call_statistics += more;
    layout.machine += more;
    try {
        Segment::attach(dup(s.descriptor()));
        FAIL() << "a segment of another build was attached";
    } catch (Error const& e) {
        EXPECT_NE(std::string(e.what()).find("different builds"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.help).find("ldd"), std::string::npos) << e.help;
    }
}

TEST(Segment, PunchedPagesReadAsZero) {
    Segment s = Segment::create(1);
    std::byte* heap = s.heap(0, 0).data();
    std::memset(heap, 1, 3 * 4096);
    s.punch_hole(s.offset(heap) + 100, 2 * 4096);   // frees only whole pages inside the range
    EXPECT_EQ(heap[0], std::byte{1});
    EXPECT_EQ(heap[4096], std::byte{0});
    EXPECT_EQ(heap[2 * 4096 + 200], std::byte{1});
}

/// Allocates the whole heap in one block per level, the longest first.
std::vector<std::uint64_t> all_of(Segment const& s, SegmentHeap& heap) {
    std::vector<std::uint64_t> blocks;
    for (unsigned level = s.heap_levels(); level-- > 0;)
        blocks.push_back(heap.allocate(s.layout().heap_level_bytes(level)));
    return blocks;
}

/// The number of readable bytes of the segment's file in this process's mappings.
std::uint64_t readable(Segment const& s) {
    struct stat info {};
    EXPECT_EQ(fstat(s.descriptor(), &info), 0);
    std::ifstream maps("/proc/self/maps");
    std::uint64_t sum = 0;
    for (std::string line; std::getline(maps, line);) {
        unsigned long from = 0, to = 0, offset = 0, inode = 0;
        char rights[8] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %lu", &from, &to, rights, &offset, &inode) == 5 &&
            inode == info.st_ino && rights[0] == 'r')
            sum += to - from;
    }
    return sum;
}

TEST(SegmentHeap, IsAccessibleOnlyAsFarAsItIsUsed) {
    Segment s = Segment::create(4);
    std::uint64_t const pairs = s.layout().world_area - s.layout().inboxes, level5 = s.layout().heap_level(5) - pairs,
                        beginning = s.layout().heap_level(1) - pairs;
    EXPECT_EQ(readable(s), beginning) << "mlockall would fill the rest";
    SegmentHeap heap(s, 2);
    std::uint64_t const large = heap.allocate(5 << 20);   // larger than the largest block of the first three levels
    EXPECT_EQ(readable(s), level5) << "up to the level of 8 MiB";
    Segment const peer = Segment::attach(dup(s.descriptor()));
    std::uint64_t const with_peer = readable(s);
    EXPECT_EQ(with_peer, level5 + beginning);
    s.at(large)[0] = std::byte{7};
    EXPECT_EQ(peer.at(large)[0], std::byte{7});
    EXPECT_EQ(readable(s), 2 * level5);
}

TEST(Segment, MakesOnlyUsedPairsAccessible) {
    for (unsigned ranks : {4u, 128u}) {
        Segment const s = Segment::create(ranks);
        std::uint64_t const before = readable(s), pair = s.layout().pair_bytes;
        EXPECT_TRUE(s.open_pairs(1, ranks - 1));
        EXPECT_EQ(readable(s), before + 2 * pair) << ranks << " ranks: mlockall would fill the rest";
        s.pair(1, ranks - 1)[pair - 1] = s.pair(ranks - 1, 1)[0] = std::byte{5};
        s.world_area().front() = s.world_area().back() = s.ring_start(ranks - 1, ranks - 1)[0] = std::byte{6};
        EXPECT_TRUE(s.open_pairs(1, ranks - 1));
        EXPECT_TRUE(s.open_pairs(2, 2));
        EXPECT_EQ(readable(s), before + 3 * pair);
        s.heap(0, 2)[0] = std::byte{7};   // opens a level of the heaps, and no pair
        EXPECT_EQ(readable(s), before + 3 * pair + s.layout().heap_level(3) - s.layout().heap_level(1));
    }
}

/// Runs `body` in a child with that limit and returns its exit code.
template <class Body>
int with_limit(LimitKind what, rlim_t bytes, Body body) {
    pid_t const child = fork();
    if (child == 0) {
        rlimit const limit{bytes, bytes};
        if (setrlimit(what, &limit) != 0) _exit(1);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Segment, ARankWithALimitedAddressSpaceMapsFewerLevelsAndNoRankUsesTheOthers) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer has mapped more than the limit";
#endif
    Segment s = Segment::create(4);
    EXPECT_EQ(with_limit(RLIMIT_AS, 1 << 30,
                         [&] {
                             int const descriptor = dup(s.descriptor());
                             { Segment const unmapped = std::move(s); }
                             try {
                                 Segment const rank = Segment::attach(descriptor);
                                 return rank.heap_levels() < rank.layout().heap_levels() ? 42 : 2;
                             } catch (Error const&) { return 3; }
                         }),
              42);
    EXPECT_LT(s.heap_levels(), s.layout().heap_levels());
    EXPECT_GE(s.heap_levels(), 3u);
    SegmentHeap heap(s, 1);
    all_of(s, heap);
    EXPECT_THROW(heap.allocate(1), Error);
}

TEST(Segment, NamesTheLimitThatItExceeds) {
    struct {
        LimitKind what;
        rlim_t limit;
        char const* words;
    } const cases[] = {{RLIMIT_NOFILE, 3, "the limit on open files (ulimit -n) is 3"},
                       {RLIMIT_FSIZE, 1 << 20, "the limit on the length of files (ulimit -f) is 1024 KiB"}};
    for (auto const& c : cases)
        EXPECT_EQ(with_limit(c.what, c.limit,
                             [&] {
                                 try {
                                     Segment::create(4);
                                     return 2;
                                 } catch (Error const& e) { return std::strstr(e.what(), c.words) ? 42 : 3; }
                             }),
                  42)
            << c.words;
}

TEST(SegmentHeap, AllocatesDisjointPagesAndReusesThem) {
    Segment s = Segment::create(2);
    SegmentHeap heap(s, 1);
    std::span<std::byte> const first = s.heap(1, 0);
    auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
        return offset >= s.offset(first.data()) && offset + bytes <= s.offset(first.data()) + first.size();
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
    EXPECT_EQ(heap.allocate(first.size()), a) << "adjacent blocks were not joined";
}

TEST(SegmentHeap, CachesAFewSmallBlocksAndReturnsTheOthers) {
    Segment s = Segment::create(1);
    SegmentHeap heap(s, 0);
    auto const pages = [&] {
        struct stat info {};
        EXPECT_EQ(fstat(s.descriptor(), &info), 0);
        return info.st_blocks / 8;
    };
    heap.release(heap.allocate(1 << 20));   // from now on the state that the heap reads is resident
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
    for (std::uint64_t all : all_of(s, heap)) heap.release(all);   // cached blocks must not prevent larger allocations
}

TEST(SegmentHeap, ReportsExhaustionAndRecovers) {
    Segment s = Segment::create(1);
    SegmentHeap heap(s, 0);
    std::vector<std::uint64_t> const all = all_of(s, heap);
    EXPECT_THROW(heap.allocate(1), Error);
    bool unused = false;
    heap.release_when(all.back(), [&] { return unused; });
    EXPECT_THROW(heap.allocate(1), Error);
    unused = true;
    EXPECT_EQ(heap.allocate(1), all.back());
}

}   // namespace
}   // namespace tutti
