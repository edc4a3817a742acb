// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: arenas by load and store, CMA where memory lies outside them, refusals.
#include "runtime/memory/single_copy.hpp"

#include <gtest/gtest.h>

#include <cstdarg>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

namespace {

int permissions = 0;   // to trace this process, given to everybody

}   // namespace

/// In the place of the C library's: counts what nothing else tells.
extern "C" int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    unsigned long a[4];
    for (unsigned long& one : a) one = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_PTRACER && a[0] == PR_SET_PTRACER_ANY) ++permissions;
    return static_cast<int>(syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]));
}

namespace tutti {
namespace {

/// A rank's window as the rank itself sees it.
struct Window {
    Window(Segment const& s, unsigned rank) : bytes(s.header().arena_bytes) {
        base = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                                            s.descriptor(), static_cast<off_t>(s.arena(rank))));
        s.rank_state(rank).arena_base = reinterpret_cast<std::uint64_t>(base);
    }
    ~Window() { munmap(base, bytes); }
    std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(base) + offset; }
    std::byte* base;
    std::size_t bytes;
};

TEST(SingleCopy, LoadsAndStoresInTheArenasOfPeers) {
    Segment s = Segment::create(2);
    Window mine(s, 0), theirs(s, 1);
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier), forbidden(s, 0, {.arena = false}, copier);
    std::byte* there = single_copy.reach(1, theirs.at(5 << 20), 100);
    ASSERT_NE(there, nullptr);
    there[7] = std::byte{42};
    EXPECT_EQ(theirs.base[(5 << 20) + 7], std::byte{42});
    theirs.base[theirs.bytes - 1] = std::byte{43};
    std::byte last{};
    EXPECT_TRUE(single_copy.read(1, theirs.at(theirs.bytes - 1), &last, 1));
    EXPECT_EQ(last, std::byte{43});
    EXPECT_TRUE(single_copy.write(1, theirs.at(0), "x", 1));
    EXPECT_EQ(theirs.base[0], std::byte{'x'});
    EXPECT_EQ(single_copy.reach(1, theirs.at(theirs.bytes - 1), 2), nullptr) << "one byte beyond the window";
    EXPECT_EQ(single_copy.reach(1, theirs.at(0) - 1, 1), nullptr);
    EXPECT_EQ(single_copy.reach(0, mine.at(64), 64), single_copy.reach(0, mine.at(0), 1) + 64);
    EXPECT_EQ(forbidden.reach(1, theirs.at(0), 1), nullptr);
}

TEST(SingleCopy, TellsTheWayToItsOwnMemory) {
    Segment s = Segment::create(2);
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier), without_arena(s, 0, {.arena = false}, copier);
    char outside = 0;
    EXPECT_EQ(single_copy.way(&outside, 1), AccessPath::cma);
    Window mine(s, 0);
    EXPECT_EQ(single_copy.way(mine.base, mine.bytes), AccessPath::load_store);
    EXPECT_EQ(single_copy.way(mine.base + 1, mine.bytes), AccessPath::cma) << "reaches beyond the window";
    EXPECT_EQ(without_arena.way(mine.base, 1), AccessPath::cma);
    s.header().cma_forbidden = 1;
    EXPECT_EQ(single_copy.way(&outside, 1), AccessPath::staged);
    EXPECT_EQ(single_copy.way(mine.base, 1), AccessPath::load_store);
}

TEST(SingleCopy, ReadsAndWritesWhereAllowedAndStepsDownForGoodWhereNot) {
    Segment s = Segment::create(2);
    s.rank_state(1).pid = getpid();
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier), forbidden(s, 0, {.cma = false}, copier), peer(s, 1, {}, copier);
    // Memory outside arenas: the stack.
    char theirs[] = "hello", mine[6] = {};
    EXPECT_FALSE(single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6)) << "it has not been shown";
    EXPECT_TRUE(single_copy.cma()) << "which is no refusal";
    peer.show(theirs, sizeof theirs);
    EXPECT_FALSE(forbidden.cma());
    EXPECT_FALSE(forbidden.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6));
    if (!single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6))
        GTEST_SKIP() << "the system forbids CMA here";
    EXPECT_STREQ(mine, "hello");
    EXPECT_TRUE(single_copy.write(1, reinterpret_cast<std::uint64_t>(theirs), "world", 6));
    EXPECT_STREQ(theirs, "world");
    EXPECT_THROW(single_copy.read(1, 8, mine, 6), Error) << "not in the peer's memory";
    EXPECT_TRUE(single_copy.cma()) << "a wrong address is no refusal";
    s.rank_state(1).pid = 0x3fffffff;   // nobody: as from another pid namespace
    EXPECT_FALSE(single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6));
    EXPECT_FALSE(single_copy.cma());
    EXPECT_EQ(s.header().cma_forbidden.load(), 1u) << "the other ranks must learn of it";
}

TEST(SingleCopy, LetsOthersTraceTheProcessOnlyForMemoryOutsideOfArenas) {
    Segment s = Segment::create(2);
    Copier const copier;
    Window mine(s, 0);
    char outside = 0;
    permissions = 0;
    SingleCopy single_copy(s, 0, {}, copier);
    EXPECT_EQ(single_copy.way(mine.base, mine.bytes), AccessPath::load_store);
    single_copy.show(mine.base, mine.bytes);
    EXPECT_FALSE(single_copy.direct(&outside, 1)) << "only asked";
    SingleCopy forbidden(s, 0, {.cma = false}, copier);
    forbidden.show(&outside, 1);
    EXPECT_EQ(forbidden.way(&outside, 1), AccessPath::staged);
    EXPECT_EQ(permissions, 0);
    EXPECT_EQ(s.rank_state(0).cma_permitted.load(), 0u);
    single_copy.show(&outside, 1);
    EXPECT_EQ(permissions, 1);
    EXPECT_EQ(s.rank_state(0).cma_permitted.load(), 1u);
    EXPECT_EQ(single_copy.way(&outside, 1), AccessPath::cma);
    EXPECT_EQ(permissions, 1) << "once is enough";
}

TEST(SingleCopy, LetsOthersTraceTheProcessWhereAPeerCannotMapArenas) {
    Segment s = Segment::create(2);
    Copier const copier;
    Window mine(s, 0);
    permissions = 0;
    SingleCopy single_copy(s, 0, {}, copier), peer(s, 1, {.arena = false}, copier);
    single_copy.show(mine.base, mine.bytes);
    EXPECT_EQ(permissions, 1);
}

}   // namespace
}   // namespace tutti
