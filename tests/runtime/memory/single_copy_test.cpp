// SPDX-License-Identifier: BSD-3-Clause
// The single-copy methods: arenas by load and store, CMA where memory lies outside them, refusals.
#include "runtime/memory/single_copy.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/process_identity.hpp"

namespace {

std::vector<unsigned long> tracers;   // processes that were permitted to trace this one, in order
int readings = 0, writings = 0;       // CMA calls
int refusals = 0, refusal = 0;        // number of the next CMA calls that fail, and their error
std::size_t refused_from = 0;         // only calls that move at least this many bytes fail

bool refused(iovec const* there) {
    if (refusals == 0 || there->iov_len < refused_from) return false;
    --refusals;
    errno = refusal;
    return true;
}

void refuse(int error, int times, std::size_t from = 0) { refusal = error, refusals = times, refused_from = from; }

}   // namespace

/// Replace the functions of the C library.
extern "C" ssize_t process_vm_readv(pid_t pid, iovec const* here, unsigned long n, iovec const* there, unsigned long m,
                                    unsigned long flags) {
    ++readings;
    return refused(there) ? -1 : syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

extern "C" ssize_t process_vm_writev(pid_t pid, iovec const* here, unsigned long n, iovec const* there, unsigned long m,
                                     unsigned long flags) {
    ++writings;
    return refused(there) ? -1 : syscall(SYS_process_vm_writev, pid, here, n, there, m, flags);
}

extern "C" int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    unsigned long a[4];
    for (unsigned long& one : a) one = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_PTRACER) tracers.push_back(a[0]);
    return static_cast<int>(syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]));
}

namespace tutti {
namespace {

/// A rank's arena window, mapped as the rank maps it.
struct Window {
    Window(Segment const& s, unsigned rank) : bytes(s.layout().arena_bytes) {
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
    std::byte* there = single_copy.local_address(1, theirs.at(5 << 20), 100);
    ASSERT_NE(there, nullptr);
    there[7] = std::byte{42};
    EXPECT_EQ(theirs.base[(5 << 20) + 7], std::byte{42});
    theirs.base[theirs.bytes - 1] = std::byte{43};
    std::byte last{};
    EXPECT_TRUE(single_copy.read(1, theirs.at(theirs.bytes - 1), &last, 1));
    EXPECT_EQ(last, std::byte{43});
    EXPECT_TRUE(single_copy.write(1, theirs.at(0), "x", 1));
    EXPECT_EQ(theirs.base[0], std::byte{'x'});
    EXPECT_EQ(single_copy.local_address(1, theirs.at(theirs.bytes - 1), 2), nullptr) << "one byte beyond the window";
    EXPECT_EQ(single_copy.local_address(1, theirs.at(0) - 1, 1), nullptr);
    EXPECT_EQ(single_copy.local_address(0, mine.at(64), 64), single_copy.local_address(0, mine.at(0), 1) + 64);
    EXPECT_EQ(forbidden.local_address(1, theirs.at(0), 1), nullptr);
}

TEST(SingleCopy, KnowsTheAccessPathToItsOwnMemory) {
    Segment s = Segment::create(2);
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier), without_arena(s, 0, {.arena = false}, copier);
    char outside = 0;
    EXPECT_EQ(single_copy.access_path(&outside, 1), AccessPath::cma);
    Window mine(s, 0);
    EXPECT_EQ(single_copy.access_path(mine.base, mine.bytes), AccessPath::load_store);
    EXPECT_EQ(single_copy.access_path(mine.base + 1, mine.bytes), AccessPath::cma) << "reaches beyond the window";
    EXPECT_EQ(without_arena.access_path(mine.base, 1), AccessPath::cma);
    s.header().cma_forbidden = 1;
    EXPECT_EQ(single_copy.access_path(&outside, 1), AccessPath::staged);
    EXPECT_EQ(single_copy.access_path(mine.base, 1), AccessPath::load_store);
}

/// Rank 1, in this process, has exposed memory outside arenas; rank 0 accesses it.
struct TwoRanks {
    explicit TwoRanks(SegmentCreator maker = SegmentCreator::launcher) : s(Segment::create(2, {}, {}, {}, maker)) {
        s.rank_state(1).pid = getpid();
        tracers.clear();
        readings = writings = refusals = 0;
        peer.expose(theirs, sizeof theirs);
    }
    ~TwoRanks() { refusals = 0; }
    bool read(std::size_t bytes = 6) { return me.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, bytes); }
    bool write() { return me.write(1, reinterpret_cast<std::uint64_t>(theirs), "world", 6); }
    bool forbidden() const { return s.header().cma_forbidden != 0; }

    Segment s;
    Copier const copier;
    SingleCopy me{s, 0, {}, copier}, peer{s, 1, {}, copier};
    char theirs[300'000] = "hello", mine[300'000] = {};
};

bool system_allows_cma() { return TwoRanks().read(); }

TEST(SingleCopy, ReadsAndWritesWhereAllowed) {
    Segment s = Segment::create(2);
    s.rank_state(1).pid = getpid();
    Copier const copier;
    SingleCopy single_copy(s, 0, {}, copier), forbidden(s, 0, {.cma = false}, copier), peer(s, 1, {}, copier);
    // Memory outside arenas: the stack.
    char theirs[] = "hello", mine[6] = {};
    EXPECT_FALSE(single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6)) << "not exposed by the peer";
    EXPECT_TRUE(single_copy.cma()) << "not a refusal by the system";
    peer.expose(theirs, sizeof theirs);
    EXPECT_FALSE(forbidden.cma());
    EXPECT_FALSE(forbidden.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6));
    if (!single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6))
        GTEST_SKIP() << "the system forbids CMA here";
    EXPECT_STREQ(mine, "hello");
    EXPECT_TRUE(single_copy.write(1, reinterpret_cast<std::uint64_t>(theirs), "world", 6));
    EXPECT_STREQ(theirs, "world");
    EXPECT_THROW(single_copy.read(1, 8, mine, 6), Error) << "not in the peer's memory";
    EXPECT_TRUE(single_copy.cma()) << "a wrong address is no refusal";
    peer.revoke_cma();
    EXPECT_FALSE(single_copy.read(1, reinterpret_cast<std::uint64_t>(theirs), mine, 6)) << "it is exposed no more";
}

TEST(SingleCopy, FallsBackPermanentlyIfTheSystemForbidsCma) {
    if (!system_allows_cma()) GTEST_SKIP() << "the system forbids CMA here";
    for (int error : {EPERM, ENOSYS}) {
        TwoRanks two;
        EXPECT_TRUE(two.read());
        refuse(error, 1);
        EXPECT_FALSE(two.read());
        EXPECT_TRUE(two.forbidden()) << "the other ranks must be notified";
        EXPECT_FALSE(two.me.cma());
        EXPECT_FALSE(two.read());
        EXPECT_EQ(two.peer.access_path(two.theirs, 6), AccessPath::staged);
        EXPECT_EQ(tracers.back(), 0u) << "no rank needs to trace the peer any longer";
    }
}

TEST(SingleCopy, FallsBackForOneCopyThatTheSystemRefuses) {
    if (!system_allows_cma()) GTEST_SKIP() << "the system forbids CMA here";
    for (int error : {ESRCH, ENOMEM, EAGAIN}) {
        TwoRanks two;
        refuse(error, 1);
        EXPECT_FALSE(two.read()) << "before the identity of the peer is verified";
        EXPECT_TRUE(two.read());
        refuse(error, 1);
        EXPECT_FALSE(two.write());
        EXPECT_FALSE(two.forbidden());
        EXPECT_TRUE(two.write());
        EXPECT_STREQ(two.theirs, "world");
    }
}

TEST(SingleCopy, CopiesInSmallPartsIfTheKernelLacksMemoryForALargeCopy) {
    if (!system_allows_cma()) GTEST_SKIP() << "the system forbids CMA here";
    TwoRanks two;
    two.theirs[sizeof two.theirs - 1] = 'x';
    ASSERT_TRUE(two.read());
    readings = 0;
    refuse(ENOMEM, 1000, 100'000);
    EXPECT_TRUE(two.read(sizeof two.theirs));
    EXPECT_EQ(two.mine[sizeof two.mine - 1], 'x');
    EXPECT_EQ(readings, 1 + 5);
}

TEST(SingleCopy, CopiesBetweenListsOfSegmentsInOneCall) {
    if (!system_allows_cma()) GTEST_SKIP() << "the system forbids CMA here";
    TwoRanks two;
    ASSERT_TRUE(two.read());
    std::uint64_t const counted = two.s.rank_state(0).counters.cma.read();
    readings = 0;
    std::memcpy(two.theirs, "abcdefghijkl", 12);
    std::memset(two.mine, 0, 12);
    std::vector<iovec> const theirs{{two.theirs + 8, 4}, {two.theirs, 3}, {two.theirs + 4, 1}},
        mine{{two.mine, 2}, {two.mine + 3, 6}};
    auto there = theirs, here = mine;   // the calls modify the lists
    EXPECT_TRUE(two.me.read_segments(1, there, here));
    EXPECT_EQ(std::string_view(two.mine, 9), std::string_view("ij\0klabce", 9));
    EXPECT_EQ(readings, 1);
    std::memcpy(two.mine, "12-345678", 9);
    there = theirs, here = mine;
    EXPECT_TRUE(two.me.write_segments(1, there, here));
    EXPECT_EQ(std::string_view(two.theirs, 12), "567d8fgh1234");
    EXPECT_EQ(writings, 1);
    EXPECT_EQ(two.s.rank_state(0).counters.cma.read(), counted + 16);
    two.peer.revoke_cma();
    there = theirs, here = mine;
    EXPECT_FALSE(two.me.read_segments(1, there, here)) << "it is exposed no more";
}

TEST(SingleCopy, CopiesSegmentsInSmallPartsIfTheKernelLacksMemory) {
    if (!system_allows_cma()) GTEST_SKIP() << "the system forbids CMA here";
    TwoRanks two;
    ASSERT_TRUE(two.read());
    two.theirs[99'999] = 'x', two.theirs[200'000] = 'y';
    readings = 0;
    refuse(ENOMEM, 1);
    iovec theirs[] = {{two.theirs, 100'000}, {two.theirs + 200'000, 1}}, mine[] = {{two.mine, 100'001}};
    EXPECT_TRUE(two.me.read_segments(1, theirs, mine));
    EXPECT_EQ(std::string_view(two.mine + 99'999, 2), "xy");
    EXPECT_EQ(readings, 1 + 2 + 1);
}

TEST(SingleCopy, ReadsNothingOfAProcessInAnotherNamespace) {
    for (std::uint64_t other : {std::uint64_t{0}, pid_namespace() + 1}) {
        TwoRanks two;
        two.s.rank_state(1).pid_namespace = other;
        EXPECT_FALSE(two.read());
        EXPECT_FALSE(two.write());
        EXPECT_EQ(readings + writings, 0);
        EXPECT_FALSE(two.forbidden()) << "other ranks may be in the namespace of this one";
    }
}

TEST(SingleCopy, BothRanksKnowWhetherTheKernelMayCopyBetweenThem) {
    if (!cma_works()) GTEST_SKIP() << "the system forbids CMA here";
    Segment s = Segment::create(3);
    Copier const copier;
    SingleCopy one(s, 0, {}, copier), other(s, 1, {}, copier), denied(s, 2, {.cma = false}, copier);
    EXPECT_FALSE(one.has_started(1));
    s.rank_state(1).state = RankPhase::initialised;
    EXPECT_TRUE(one.has_started(1));
    EXPECT_TRUE(one.may_copy_by_kernel(0));
    EXPECT_TRUE(one.may_copy_by_kernel(1));
    EXPECT_FALSE(one.may_copy_by_kernel(2));
    EXPECT_FALSE(denied.may_copy_by_kernel(0));
    s.rank_state(1).pid_namespace.fetch_add(1);
    EXPECT_FALSE(one.may_copy_by_kernel(1));
    refuse(EPERM, 1);
    SingleCopy filtered(s, 1, {}, copier);
    EXPECT_FALSE(filtered.may_copy_by_kernel(0));
    EXPECT_FALSE(one.may_copy_by_kernel(1));
}

TEST(SingleCopy, AccessesNoProcessWhoseIdentityIsNotVerified) {
    TwoRanks two;
    two.s.rank_state(1).identity_value.fetch_add(2);   // the process with the peer's PID has another value
    EXPECT_FALSE(two.write());
    EXPECT_FALSE(two.read());
    EXPECT_EQ(readings, 1) << "the identity value only, and once";
    EXPECT_EQ(writings, 0);
    TwoRanks other;
    other.s.rank_state(1).identity_address = 8;   // nothing is mapped there
    EXPECT_FALSE(other.write());
    EXPECT_FALSE(other.read());
    EXPECT_EQ(readings, 1);
    EXPECT_EQ(writings, 0);
    EXPECT_FALSE(other.forbidden());
}

TEST(SingleCopy, ExposesNothingWhereAllOthersAreInOtherNamespaces) {
    Segment s = Segment::create(3);
    Copier const copier;
    SingleCopy me(s, 0, {}, copier), first(s, 1, {}, copier), second(s, 2, {}, copier);
    char outside = 0;
    for (unsigned rank : {1u, 2u}) s.rank_state(rank).pid_namespace = pid_namespace() + rank;
    s.rank_state(1).state = RankPhase::initialised;
    EXPECT_TRUE(me.cma()) << "one rank has not started";
    s.rank_state(2).state = RankPhase::initialised;
    tracers.clear();
    EXPECT_FALSE(me.cma());
    EXPECT_EQ(me.access_path(&outside, 1), AccessPath::staged);
    me.expose(&outside, 1);
    EXPECT_TRUE(tracers.empty());
    s.rank_state(2).pid_namespace = pid_namespace();
    SingleCopy with_one(s, 0, {}, copier);
    EXPECT_EQ(with_one.access_path(&outside, 1), AccessPath::cma);
}

TEST(SingleCopy, PermitsTracingOnlyForMemoryOutsideArenas) {
    Segment s = Segment::create(2);
    Copier const copier;
    Window mine(s, 0);
    char outside = 0;
    tracers.clear();
    SingleCopy single_copy(s, 0, {}, copier);
    EXPECT_EQ(single_copy.access_path(mine.base, mine.bytes), AccessPath::load_store);
    single_copy.expose(mine.base, mine.bytes);
    EXPECT_FALSE(single_copy.direct(&outside, 1)) << "a query";
    SingleCopy forbidden(s, 0, {.cma = false}, copier);
    forbidden.expose(&outside, 1);
    EXPECT_EQ(forbidden.access_path(&outside, 1), AccessPath::staged);
    single_copy.revoke_cma();
    EXPECT_TRUE(tracers.empty());
    EXPECT_EQ(s.rank_state(0).cma_granted.load(), 0u);
    single_copy.expose(&outside, 1);
    EXPECT_EQ(tracers.size(), 1u);
    EXPECT_EQ(s.rank_state(0).cma_granted.load(), 1u);
    EXPECT_EQ(single_copy.access_path(&outside, 1), AccessPath::cma);
    EXPECT_EQ(tracers.size(), 1u) << "permitted once only";
    single_copy.revoke_cma();
    ASSERT_EQ(tracers.size(), 2u);
    EXPECT_EQ(tracers.back(), 0u) << "revoked";
}

TEST(SingleCopy, PermitsTracingToTheLaunchersProcessesOrToAllIfItsPidIsUnknown) {
    auto const tracer = [](TwoRanks& two) {
        char outside = 0;
        tracers.clear();
        two.me.expose(&outside, 1);
        return tracers.empty() ? 0 : tracers.front();
    };
    TwoRanks launched, alone(SegmentCreator::rank), contained;
    EXPECT_EQ(tracer(launched), static_cast<unsigned long>(getpid()));
    EXPECT_EQ(tracer(alone), PR_SET_PTRACER_ANY) << "another launcher may not be an ancestor of all ranks";
    contained.s.header().launcher_namespace = pid_namespace() + 1;
    EXPECT_EQ(tracer(contained), PR_SET_PTRACER_ANY);
}

TEST(SingleCopy, PermitsTracingIfAPeerCannotMapArenas) {
    Segment s = Segment::create(2);
    Copier const copier;
    Window mine(s, 0);
    tracers.clear();
    SingleCopy single_copy(s, 0, {}, copier), peer(s, 1, {.arena = false}, copier);
    single_copy.expose(mine.base, mine.bytes);
    EXPECT_EQ(tracers.size(), 1u);
}

}   // namespace
}   // namespace tutti
