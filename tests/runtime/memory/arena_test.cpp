// SPDX-License-Identifier: BSD-3-Clause
// Arenas: blocks, access by peers, return of memory to the system, claims.
#include "runtime/memory/arena/arena.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/process_identity.hpp"
#include "runtime/memory/single_copy.hpp"
#include "tests/runtime/memory/own_arena.hpp"

namespace tutti::arena {
namespace {

constexpr std::size_t mega = 1 << 20;

struct Owner {
    Owner(Segment const& s, unsigned rank, std::size_t keep = 64 * mega) {
        EXPECT_EQ(arena.open(s.descriptor(), rank, {.keep = keep, .huge_pages = false}), State::open);
    }
    ~Owner() { arena.close(); }
    Arena arena;
};

std::size_t memory_of(Segment const& s) {
    struct stat info {};
    fstat(s.descriptor(), &info);
    return static_cast<std::size_t>(info.st_blocks) * 512;
}

TEST(Arena, PeersLoadAndStoreInItsBlocks) {
    Segment s = Segment::create(2);
    Owner owner(s, 1);
    Copier const copier;
    SingleCopy peer(s, 0, {}, copier);
    char* block = static_cast<char*>(owner.arena.allocate(3 * mega));
    ASSERT_NE(block, nullptr);
    std::strcpy(block + 2 * mega, "from the owner");
    std::byte* there = peer.local_address(1, reinterpret_cast<std::uint64_t>(block), 3 * mega);
    ASSERT_NE(there, nullptr);
    EXPECT_STREQ(reinterpret_cast<char*>(there + 2 * mega), "from the owner");
    std::strcpy(reinterpret_cast<char*>(there), "from the peer");
    EXPECT_STREQ(block, "from the peer");
}

TEST(Arena, IsOpenedOnceAndByOneProcess) {
    Segment s = Segment::create(2);
    Owner owner(s, 0);
    Arena again;
    EXPECT_EQ(owner.arena.open(s.descriptor(), 0, {}), State::open);
    EXPECT_EQ(again.open(s.descriptor(), 5, {}), State::refused) << "no such rank";
    Arena outside;
    EXPECT_EQ(outside.open(0, 0, {}), State::refused) << "not a segment";
    EXPECT_EQ(outside.allocate(100), nullptr);
    s.rank_state(1).arena_pid_namespace = pid_namespace();
    s.rank_state(1).arena_pid = 1;   // a process that exists
    Arena taken;
    EXPECT_EQ(taken.open(s.descriptor(), 1, {}), State::refused);
    s.rank_state(1).arena_pid = 0x3fffffff;   // one that does not
    Arena inherited;
    EXPECT_EQ(inherited.open(s.descriptor(), 1, {}), State::open);
    inherited.close();
}

// A PID of another namespace is no evidence that its process has ended, or that it is this process.
TEST(Arena, IsNotOpenedFromAProcessInAnotherNamespace) {
    for (std::uint64_t other : {std::uint64_t{0}, pid_namespace() + 1})
        for (std::int32_t owner : {0x3fffffff, getpid()}) {
            Segment s = Segment::create(1);
            s.rank_state(0).arena_pid = owner;
            s.rank_state(0).arena_pid_namespace = other;
            Arena taken;
            EXPECT_EQ(taken.open(s.descriptor(), 0, {}), State::refused);
            EXPECT_EQ(s.rank_state(0).arena_pid.load(), owner);
        }
}

TEST(Arena, PeersLoadAndStoreInOneWithItsOwnFile) {
    OwnFile first, third;   // created before the segment
    char* block = static_cast<char*>(third.arena.allocate(3 * mega));
    ASSERT_NE(block, nullptr);
    std::strcpy(block + 2 * mega, "from the owner");
    Segment s = Segment::create(3, {}, {}, {}, SegmentCreator::rank);
    s.publish_arena(0, first.arena.window());
    s.publish_arena(1, {});   // without an arena
    s.publish_arena(2, third.arena.window());
    Copier const copier;
    SingleCopy peer(s, 0, {}, copier), without_arena(s, 1, {}, copier);
    for (SingleCopy* single_copy : {&peer, &without_arena}) {
        std::byte* there = single_copy->local_address(2, reinterpret_cast<std::uint64_t>(block), 3 * mega);
        ASSERT_NE(there, nullptr);
        EXPECT_STREQ(reinterpret_cast<char*>(there + 2 * mega), "from the owner");
        std::strcpy(reinterpret_cast<char*>(there), "from the peer");
        EXPECT_STREQ(block, "from the peer");
        EXPECT_EQ(single_copy->local_address(1, reinterpret_cast<std::uint64_t>(block), 1), nullptr)
            << "rank 1 has none";
    }
    void* mine = first.arena.allocate(mega);
    EXPECT_EQ(peer.access_path(mine, mega), AccessPath::load_store);
    EXPECT_NE(without_arena.access_path(mine, mega), AccessPath::load_store);
}

TEST(Arena, WithItsOwnFileIsUnnamedAndOpenedOnce) {
    OwnFile owner;
    ArenaWindow const window = owner.arena.window();
    EXPECT_EQ(window.file.process, getpid());
    EXPECT_EQ(owner.arena.open({}), State::open);
    EXPECT_EQ(owner.arena.window(), window);
    struct stat info {};
    ASSERT_EQ(fstat(window.file.descriptor, &info), 0);
    EXPECT_EQ(info.st_nlink, 0u);
    EXPECT_TRUE(fcntl(window.file.descriptor, F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(info.st_blocks, 0) << "an unused arena has no pages";
}

/// The number of bytes of the window that a core file contains.
std::size_t dumped(ArenaWindow const& window) {
    std::ifstream maps("/proc/self/smaps");
    std::size_t sum = 0, from = 0, to = 0;
    bool ours = false;
    for (std::string line; std::getline(maps, line);) {
        std::size_t begin = 0, end = 0;   // "Anonymous:" begins with a hexadecimal digit, too
        if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) {
            from = begin, to = end;
            ours = from >= window.base && to <= window.base + window.bytes;
        }
        if (ours && line.starts_with("VmFlags:") && line.find(" dd") == std::string::npos) sum += to - from;
    }
    return sum;
}

TEST(Arena, CoreFilesContainUsedMemoryAndNotTheWindow) {
    OwnFile owner;
    ArenaWindow const window = owner.arena.window();
    EXPECT_EQ(dumped(window), 0u);
    void* block = owner.arena.allocate(100 * mega);
    EXPECT_GE(dumped(window), 100 * mega);
    EXPECT_LE(dumped(window), 120 * mega);
    ASSERT_TRUE(owner.arena.resize(block, 200 * mega));
    EXPECT_GE(dumped(window), 200 * mega);
    EXPECT_LE(dumped(window), 240 * mega);
}

/// The number of bytes of our memory files that this process can read, over all mappings.
std::size_t readable() {
    std::ifstream maps("/proc/self/maps");
    std::size_t sum = 0;
    for (std::string line; std::getline(maps, line);) {
        std::size_t from = 0, to = 0;
        char rights[8] = {};
        if (std::sscanf(line.c_str(), "%zx-%zx %7s", &from, &to, rights) == 3 && rights[0] == 'r' &&
            line.find("memfd:tutti") != std::string::npos)
            sum += to - from;
    }
    return sum;
}

TEST(Arena, IsAccessibleOnlyAsFarAsItIsUsed) {
    std::size_t const before = readable();
    OwnFile owner;
    EXPECT_EQ(readable(), before) << "mlockall would fill it";
    void* const block = owner.arena.allocate(100 * mega);
    EXPECT_GE(readable(), before + 100 * mega);
    EXPECT_LE(readable(), before + 120 * mega);
    Segment s = Segment::create(2, {}, {}, {}, SegmentCreator::rank);
    s.publish_arena(1, owner.arena.window());
    Copier const copier;
    SingleCopy peer(s, 0, {}, copier);
    std::size_t const alone = readable();
    EXPECT_EQ(peer.local_address(1, reinterpret_cast<std::uint64_t>(block) + 50 * mega, 5)[0], std::byte{0});
    EXPECT_LE(readable(), alone + 4 * mega);
    ASSERT_NE(peer.local_address(1, reinterpret_cast<std::uint64_t>(block) + 5, 100 * mega - 10), nullptr);
    EXPECT_GE(readable(), alone + 100 * mega - 10);
    EXPECT_LE(readable(), alone + 104 * mega);
}

/// The KiB on a line of /proc/self/status.
std::size_t status_kib(char const* name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stoul(line.substr(line.find(':') + 1));
    return 0;
}

TEST(Arena, LockingAllMemoryDoesNotFillIt) {
    pid_t const child = fork();
    if (child == 0) {
        Segment s = Segment::create(4);
        Owner owner(s, 1);
        Copier const copier;
        SingleCopy peer(s, 0, {}, copier);
        char* const block = static_cast<char*>(owner.arena.allocate(5 * mega));
        bool const reached = peer.local_address(1, reinterpret_cast<std::uint64_t>(block), 5 * mega) != nullptr;
        if (!reached || readable() > 100 * mega) _exit(1);
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) _exit(errno == ENOMEM || errno == EPERM ? 3 : 4);
        std::size_t const locked = status_kib("RssShmem");
        OwnFile later;
        if (!later.arena.allocate(5 * mega)) _exit(5);
        _exit(locked < 100 * 1024 && status_kib("RssShmem") < 150 * 1024 ? 42 : 6);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "this user may not lock enough memory";
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Arena, BlocksAreWholePagesOfASystemWithLargePages) {
    constexpr std::size_t page = 64 << 10;
    Arena arena;
    ASSERT_EQ(arena.open({.keep = 0, .huge_pages = false, .system_page = page}), State::open);
    std::vector<char*> blocks;
    for (std::size_t bytes : {1ul, 5000ul, page, page + 1, 3 * mega}) {
        char* const block = static_cast<char*>(arena.allocate(bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % page, 0u);
        EXPECT_EQ(arena.usable_size(block), (bytes + page - 1) / page * page);
        ASSERT_TRUE(arena.resize(block, bytes + page));
        EXPECT_EQ(arena.usable_size(block) % page, 0u);
        std::memset(block, 1, bytes);
        blocks.push_back(block);
    }
    for (char* block : blocks) arena.release(block);
    EXPECT_EQ(arena.usage().kept, 0u);
    arena.close();
}

TEST(Arena, IsNotUsedIfAPeerCannotOpenIt) {
    OwnFile published, closed;
    ArenaWindow const gone = closed.arena.window();
    close(gone.file.descriptor);   // as programs do that close all descriptors
    EXPECT_EQ(closed.arena.window(), ArenaWindow{});
    Segment s = Segment::create(2, {}, {}, {}, SegmentCreator::rank);
    s.publish_arena(0, published.arena.window());
    s.publish_arena(1, gone);   // closed after its publication
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier);
    EXPECT_NE(single_copy.access_path(published.arena.allocate(mega), mega), AccessPath::load_store)
        << "all or nothing";
}

TEST(Arena, WindowsAreLimitedByTheAddressSpace) {
    OwnFile owner;
    Segment s = Segment::create(2, {}, {}, {}, SegmentCreator::rank);
    ArenaWindow window = owner.arena.window();
    s.publish_arena(0, window);
    EXPECT_EQ(s.rank_state(0).arena_bytes, window.bytes);
    window.bytes = std::uint64_t{1} << 46;
    s.publish_arena(0, window);
    EXPECT_EQ(s.rank_state(0).arena_bytes, std::uint64_t{1} << 45);
}

TEST(Arena, AReusedWindowReadsAsZero) {
    Segment s = Segment::create(1);
    {
        Arena before;
        before.open(s.descriptor(), 0, {});
        std::memset(before.allocate(mega), 7, mega);
        before.close();
        s.rank_state(0).arena_pid = getpid();   // as after an exec
    }
    Owner after(s, 0);
    char* block = static_cast<char*>(after.arena.allocate_zeroed(mega));
    for (std::size_t i = 0; i < mega; ++i) ASSERT_EQ(block[i], 0);
}

TEST(Arena, ZeroedBlocksLeaveFreshPagesUntouched) {
    Segment s = Segment::create(1);
    Owner owner(s, 0);
    std::size_t const before = memory_of(s);
    char* fresh = static_cast<char*>(owner.arena.allocate_zeroed(512 * mega));
    ASSERT_NE(fresh, nullptr);
    EXPECT_LT(memory_of(s), before + mega);
    std::memset(fresh + 5000, 1, 300000);
    owner.arena.release(fresh);
    char* used = static_cast<char*>(owner.arena.allocate_zeroed(512 * mega));
    EXPECT_EQ(used, fresh);
    for (std::size_t i = 0; i < mega; ++i) ASSERT_EQ(used[i], 0) << i;
}

TEST(Arena, ZeroesEveryOneOfManyDirtyPieces) {
    constexpr std::size_t page = page_bytes;
    Segment s = Segment::create(1);
    Owner owner(s, 0, 120 * page);
    Arena& arena = owner.arena;
    auto soiled = [&](std::size_t pages) { return std::memset(arena.allocate(pages * page), 9, pages * page); };
    std::vector<void*> single;
    for (int i = 0; i < 200; ++i) single.push_back(soiled(1));
    void* other = soiled(100);
    // Every second page is free and dirty; the limit then cleans some of them, those with the lowest addresses.
    for (int i = 198; i >= 0; i -= 2) arena.release(single[static_cast<std::size_t>(i)]);
    arena.release(other);
    ASSERT_EQ(arena.usage().kept, 60 * page);
    ASSERT_EQ(arena.allocate(100 * page), other);
    for (int i = 1; i < 100; i += 2) arena.release(single[static_cast<std::size_t>(i)]);
    ASSERT_EQ(arena.usage().kept, 110 * page) << "clean and dirty pages must alternate now";
    char* whole = static_cast<char*>(arena.allocate_zeroed(101 * page));
    ASSERT_EQ(whole, single[0]);
    for (std::size_t i = 0; i < 101 * page; ++i) ASSERT_EQ(whole[i], 0) << i;
}

TEST(Arena, ReturnsPagesBeyondItsLimit) {
    Segment s = Segment::create(1);
    Owner owner(s, 0, 8 * mega);
    std::size_t const before = memory_of(s);
    void* large = owner.arena.allocate(64 * mega);
    std::memset(large, 1, 64 * mega);
    EXPECT_GE(memory_of(s), before + 64 * mega);
    owner.arena.release(large);
    EXPECT_LT(memory_of(s), before + 9 * mega);
    std::vector<void*> small;
    for (int i = 0; i < 256; ++i) small.push_back(std::memset(owner.arena.allocate(100000), 1, 100000));
    for (void* b : small) owner.arena.release(b);
    EXPECT_LT(memory_of(s), before + 9 * mega);
    EXPECT_LE(owner.arena.usage().kept, 8 * mega);
    EXPECT_EQ(owner.arena.usage().in_use, 0u);
}

TEST(Arena, AlignsUpToTheSizeOfHugePages) {
    Segment s = Segment::create(1);
    Owner owner(s, 0);
    for (std::size_t a = 16; a <= 2 * mega; a *= 2) {
        void* p = owner.arena.allocate(20000, a);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % a, 0u);
    }
    EXPECT_EQ(owner.arena.allocate(20000, 4 * mega), nullptr) << "left to the C library";
}

TEST(Arena, RefusesMoreThanItsWindow) {
    Segment s = Segment::create(1);
    Owner owner(s, 0);
    EXPECT_EQ(owner.arena.allocate(~std::size_t{0}), nullptr);
    EXPECT_EQ(owner.arena.allocate(s.layout().arena_bytes + 1), nullptr);
}

using ArenaDeathTest = testing::Test;

TEST(ArenaDeathTest, NamesAWrongPointer) {
    Segment s = Segment::create(1);
    Owner owner(s, 0);
    char* block = static_cast<char*>(owner.arena.allocate(mega));
    EXPECT_DEATH(owner.arena.release(block + 64), "free\\(\\): 0x[0-9a-f]+ is not an allocated block");
    EXPECT_DEATH(
        {
            owner.arena.release(block);
            owner.arena.release(block);
        },
        "is not an allocated block");
}

TEST(Arena, ThreadsAllocateAndFreeEachOthersBlocks) {
    Segment s = Segment::create(1);
    Owner owner(s, 0, 4 * mega);
    struct Slot {
        std::atomic<unsigned char*> block{nullptr};
    };
    std::vector<Slot> slots(64);
    std::atomic<int> wrong{0};
    auto body = [&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 4000; ++i) {
            std::size_t const bytes = 4096 + random() % 200000;
            auto* mine = static_cast<unsigned char*>(owner.arena.allocate(bytes));
            if (!mine) return void(++wrong);
            mine[0] = mine[bytes - 1] = static_cast<unsigned char>(seed);
            mine[1] = static_cast<unsigned char>(seed);
            unsigned char* theirs = slots[random() % slots.size()].block.exchange(mine, std::memory_order_acq_rel);
            if (!theirs) continue;
            wrong += theirs[0] != theirs[1];
            owner.arena.release(theirs);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t <= 4; ++t) threads.emplace_back(body, t);
    for (auto& t : threads) t.join();
    for (Slot& slot : slots)
        if (unsigned char* left = slot.block) owner.arena.release(left);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(owner.arena.usage().in_use, 0u);
}

}   // namespace
}   // namespace tutti::arena
