// SPDX-License-Identifier: BSD-3-Clause
// Tests operations on targets that are reached by active messages.
#include <cerrno>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/datatype/datatype.hpp"
#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

constexpr long unlimited = 1L << 40;
std::atomic<long> copies_left = unlimited;   // by the kernel, of all ranks; then the kernel refuses copies

class MessageOperations : public testing::TestWithParam<NodeLayout> {};
INSTANTIATE_TEST_SUITE_P(, MessageOperations, all_layouts, name_of);

Local local(std::vector<std::int64_t> const& v, Datatype const& type) {
    return Local::of(v.data(), static_cast<std::int64_t>(v.size()), type);
}

std::vector<std::int64_t> counted(std::size_t n, std::int64_t from) {
    std::vector<std::int64_t> v(n);
    std::iota(v.begin(), v.end(), from);
    return v;
}

/// Every n-th element of `type`.
Ref<Datatype> every(std::int64_t n, std::int64_t count, Datatype& type) {
    Ref<Datatype> made = TypeBuilder::hvector(count, 1, n * type.extent(), type);
    TypeBuilder::set_recipe(*made, {Combiner::hvector, {}, {}, {Ref<Datatype>::share(&type)}});
    return made;
}

TEST_P(MessageOperations, PutAndGetOfAllSizes) {
    run_windows(GetParam(), 40000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        lock_all(me.window, {}, "lock_all");
        for (std::size_t n : {1u, 5u, 1000u, 1022u, 1500u, 9000u, 40000u}) {
            std::vector<std::int64_t> const mine = counted(n, 1000 * me.rank());
            put(me.window, local(mine, *type), {me.right(), 0, static_cast<std::int64_t>(n), *type});
            flush(me.window, me.right(), "flush");
            std::vector<std::int64_t> back(n);
            get(me.window, local(back, *type), {me.right(), 0, static_cast<std::int64_t>(n), *type});
            flush(me.window, me.right(), "flush");
            EXPECT_EQ(back, mine);
            coll::barrier(me.comm);
            int const left = (me.rank() + me.size() - 1) % me.size();
            EXPECT_EQ(std::vector<std::int64_t>(me.memory.begin(), me.memory.begin() + static_cast<std::ptrdiff_t>(n)),
                      counted(n, 1000 * left));
            coll::barrier(me.comm);
        }
        unlock_all(me.window, "unlock_all");
    });
}

TEST_P(MessageOperations, AComputingTargetStillMakesProgress) {
    std::atomic<bool> done = false;
    run_windows(GetParam(), 8, [&](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        if (me.rank() != 0) return me.compute_until(done);
        std::int64_t const mine = 42;
        std::int64_t back = 0, old = -1;
        lock(me.window, true, 1, {}, "lock");
        put(me.window, Local::of(&mine, 1, *type), {1, 3, 1, *type});
        get(me.window, Local::of(&back, 1, *type), {1, 3, 1, *type});
        flush(me.window, 1, "flush");
        fetch_and_op(me.window, &mine, &old, *type, 1, 3, Operator(BuiltinOp::sum));
        unlock(me.window, 1, "unlock");
        EXPECT_EQ(back, 42);
        EXPECT_EQ(old, 42);
        done = true;
    });
}

TEST_P(MessageOperations, DerivedTypesOnBothSides) {
    run_windows(GetParam(), 60000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        for (std::int64_t blocks : {3, 400, 15000}) {
            Ref<Datatype> const strided = every(3, blocks, *type);
            Ref<Datatype> const pairs = every(2, blocks, *type);
            std::vector<std::int64_t> mine(static_cast<std::size_t>(2 * blocks), -1);
            for (std::int64_t i = 0; i < blocks; ++i) mine[static_cast<std::size_t>(2 * i)] = i + 100 * me.rank();
            fence(me.window, {}, "fence");
            put(me.window, Local::of(mine.data(), 1, *pairs), {me.right(), 1, 1, *strided});
            fence(me.window, {}, "fence");
            int const left = (me.rank() + me.size() - 1) % me.size();
            for (std::int64_t i = 0; i < blocks; ++i) {
                ASSERT_EQ(me.memory[static_cast<std::size_t>(3 * i + 1)], i + 100 * left) << i;
                ASSERT_EQ(me.memory[static_cast<std::size_t>(3 * i)], 0) << i;
            }
            std::vector<std::int64_t> back(mine.size(), -1);
            get(me.window, Local::of(back.data(), 1, *pairs), {me.right(), 1, 1, *strided});
            fence(me.window, {}, "fence");
            EXPECT_EQ(back, mine);
            Operator const sum(BuiltinOp::sum);
            accumulate(me.window, Local::of(mine.data(), 1, *pairs), {me.right(), 1, 1, *strided}, sum);
            fence(me.window, {}, "fence");
            for (std::int64_t i = 0; i < blocks; ++i)
                ASSERT_EQ(me.memory[static_cast<std::size_t>(3 * i + 1)], 2 * (i + 100 * left)) << i;
            std::ranges::fill(me.memory, 0);
        }
        fence(me.window, {.no_succeed = true}, "fence");
    });
}

TEST_P(MessageOperations, AccumulatesOfAllOriginsAddUp) {
    constexpr std::size_t most = 30000;
    run_windows(GetParam(), most, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64), real = type_of(Basic::float64);
        Operator const sum(BuiltinOp::sum);
        for (std::size_t n : {1u, 7u, 1024u, 5000u, 30000u}) {
            std::ranges::fill(me.memory, 0);
            fence(me.window, {}, "fence");
            std::vector<double> const ones(n, 1.0);
            for (int round = 0; round < 3; ++round)
                for (int r = 0; r < me.size(); ++r)
                    accumulate(me.window, Local::of(ones.data(), static_cast<std::int64_t>(n), *real),
                               {r, 0, static_cast<std::int64_t>(n), *real}, sum);
            fence(me.window, {}, "fence");
            auto const* values = reinterpret_cast<double const*>(me.memory.data());
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(values[i], 3.0 * me.size()) << i;
            fence(me.window, {.no_succeed = true}, "fence");
        }
    });
}

TEST_P(MessageOperations, AccumulatesOfOneOriginKeepTheirOrder) {
    run_windows(GetParam(), 20000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        Operator const replace(BuiltinOp::replace), sum(BuiltinOp::sum), none(BuiltinOp::no_op);
        std::vector<std::int64_t> const first(20000, 5);
        std::int64_t const one = 1;
        std::vector<std::int64_t> seen(20000, -1);
        if (me.rank() == 0) {
            lock(me.window, false, 1, {}, "lock");
            accumulate(me.window, local(first, *type), {1, 0, 20000, *type}, replace);
            accumulate(me.window, Local::of(&one, 1, *type), {1, 19999, 1, *type}, sum);
            get_accumulate(me.window, Local::of(nullptr, 0, *type), local(seen, *type), {1, 0, 20000, *type}, none);
            accumulate(me.window, Local::of(&one, 1, *type), {1, 19999, 1, *type}, replace);
            unlock(me.window, 1, "unlock");
            EXPECT_EQ(seen[0], 5);
            EXPECT_EQ(seen[19999], 6);
        }
        coll::barrier(me.comm);
        if (me.rank() == 1) { EXPECT_EQ(me.memory[19999], 1); }
        coll::barrier(me.comm);
    });
}

TEST_P(MessageOperations, CompareAndSwapMakesOneWinnerEachTime) {
    run_windows(GetParam(), 2, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        lock_all(me.window, {}, "lock_all");
        for (int wins = 0; wins < 20;) {
            std::int64_t seen = 0;
            get(me.window, Local::of(&seen, 1, *type), {0, 0, 1, *type});
            flush(me.window, 0, "flush");
            std::int64_t const next = seen + 1;
            std::int64_t was = -1;
            compare_and_swap(me.window, &next, &seen, &was, *type, 0, 0);
            flush(me.window, 0, "flush");
            wins += was == seen;
        }
        coll::barrier(me.comm);
        if (me.rank() == 0) { EXPECT_EQ(me.memory[0], 20 * me.size()); }
        unlock_all(me.window, "unlock_all");
    });
}

TEST_P(MessageOperations, RequestsCompleteByThemselves) {
    run_windows(GetParam(), 20000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        Waiter& waiter = me.comm.process.waiter;
        lock_all(me.window, {}, "lock_all");
        for (std::size_t n : {1u, 20000u}) {
            std::vector<std::int64_t> const mine = counted(n, me.rank());
            std::vector<std::int64_t> back(n);
            Ref<Request> request;
            put(me.window, local(mine, *type), {me.right(), 0, static_cast<std::int64_t>(n), *type}, &request);
            waiter.wait_until([&] { return request->complete; }, {"wait"});
            flush(me.window, me.right(), "flush");
            get(me.window, local(back, *type), {me.right(), 0, static_cast<std::int64_t>(n), *type}, &request);
            waiter.wait_until([&] { return request->complete; }, {"wait"});
            EXPECT_EQ(back, mine);
            coll::barrier(me.comm);
        }
        unlock_all(me.window, "unlock_all");
    });
}

std::uint64_t bytes_of_accumulates(Member& me, AccessMethod method) {
    return me.window.counts.bytes[static_cast<std::size_t>(Operation::accumulate)][static_cast<std::size_t>(method)]
        .read();
}

/// The system forbids the kernel's copies (CMA) after the window was created, here during an accumulate, before it
/// reads or before it writes: each element is combined once, and later operations use messages.
TEST(MessagesInsteadOfTheKernel, CombineEachElementOnce) {
    constexpr std::int64_t numbers = 20'000;
    for (int const what : {0, 1, 2, 3}) {
        bool const with_gaps = what % 2;
        run_windows(
            {"one_node", {0, 0, 0}}, 2 * numbers,
            [&](Member& me) {
                Ref<Datatype> const type = type_of(Basic::int64), apart = every(2, numbers, *type);
                Operator const sum(BuiltinOp::sum);
                std::vector<std::int64_t> const mine = counted(numbers, 1);
                std::vector<std::int64_t> old(numbers, -1), back(numbers, -1);
                Remote const there = with_gaps ? Remote{1, 0, 1, *apart} : Remote{1, 0, numbers, *type};
                ASSERT_EQ(me.window.target(1).method, AccessMethod::cma);
                coll::barrier(me.comm);
                if (me.rank() == 0) {
                    lock(me.window, false, 1, {}, "lock");
                    copies_left = (with_gaps ? 1000 : 30) + what / 2;   // within an element or a page
                    get_accumulate(me.window, local(mine, *type), local(old, *type), there, sum);
                    EXPECT_LT(copies_left, 0);
                    copies_left = unlimited;
                    flush(me.window, 1, "flush");
                    EXPECT_EQ(std::ranges::count(old, 0), numbers);
                    EXPECT_EQ(bytes_of_accumulates(me, AccessMethod::active_messages), 8u * numbers);
                    std::int64_t const one = 1, two = 2;
                    std::int64_t seen = -1, swapped = -1;
                    fetch_and_op(me.window, &one, &seen, *type, 1, 0, sum);
                    flush(me.window, 1, "flush");
                    compare_and_swap(me.window, &one, &two, &swapped, *type, 1, 0);
                    get(me.window, local(back, *type), there);
                    flush(me.window, 1, "flush");
                    EXPECT_EQ(seen, 1);
                    EXPECT_EQ(swapped, 2);
                    EXPECT_EQ(back, mine);
                    put(me.window, local(old, *type), there);
                    unlock(me.window, 1, "unlock");
                }
                coll::barrier(me.comm);
                if (me.rank() == 1) { EXPECT_EQ(std::ranges::count(me.memory, 0), 2 * numbers); }
                coll::barrier(me.comm);
            },
            true);
    }
}

/// Puts and gets that the system refuses in the middle are repeated as a whole.
TEST(MessagesInsteadOfTheKernel, TransferAllData) {
    constexpr std::int64_t numbers = 5000;
    run_windows(
        {"one_node", {0, 0}}, 3 * numbers,
        [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64), apart = every(3, numbers, *type);
            std::vector<std::int64_t> const mine = counted(numbers, 1);
            std::vector<std::int64_t> back(numbers, -1);
            coll::barrier(me.comm);
            if (me.rank() == 0) {
                lock(me.window, true, 1, {}, "lock");
                copies_left = 1000;
                put(me.window, local(mine, *type), {1, 0, 1, *apart});
                EXPECT_LT(copies_left, 0);
                copies_left = unlimited;
                flush(me.window, 1, "flush");
                get(me.window, local(back, *type), {1, 0, 1, *apart});
                unlock(me.window, 1, "unlock");
                EXPECT_EQ(back, mine);
            }
            coll::barrier(me.comm);
        },
        true);
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads

// Replaces the C library's function.

static ssize_t copy(long call, pid_t pid, iovec const* here, iovec const* there) {
    if (--tutti::rma::ranks_as_threads::copies_left < 0) return errno = EPERM, -1;
    return syscall(call, pid, here, 1UL, there, 1UL, 0UL);
}
extern "C" ssize_t process_vm_readv(pid_t pid, iovec const* here, unsigned long, iovec const* there, unsigned long,
                                    unsigned long) noexcept {
    return copy(SYS_process_vm_readv, pid, here, there);
}
extern "C" ssize_t process_vm_writev(pid_t pid, iovec const* here, unsigned long, iovec const* there, unsigned long,
                                     unsigned long) noexcept {
    return copy(SYS_process_vm_writev, pid, here, there);
}
