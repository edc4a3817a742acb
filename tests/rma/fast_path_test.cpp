// SPDX-License-Identifier: BSD-3-Clause
// Tests which operations have a fast form, by epoch, displacement and elements, that both forms have the same effect,
// and when a flush needs a full fence.
#include "rma/fast_path.hpp"

#include <functional>
#include <limits>

#include "runtime/wait/progress_thread.hpp"
#include "tests/rma/world.hpp"

using namespace tutti;
using namespace tutti::rma;
using namespace tutti::rma::ranks_as_threads;

namespace {

constexpr int n = 4;

/// Checks for each target whether accesses to the window's `n` longs have a fast form.
void expect_fast(Window& w, std::function<bool(int rank)> const& expected) {
    for (int r = 0; r < w.size(); ++r) {
        EXPECT_EQ(fast::target_memory(w, r, 0, 8), expected(r) ? w.target(r).memory : nullptr) << "rank " << r;
        EXPECT_EQ(fast::target_memory(w, r, 3, 8), expected(r) ? w.target(r).memory + 24 : nullptr) << "rank " << r;
    }
}
bool to_all(int) { return true; }
bool to_none(int) { return false; }

TEST(FastPath, only_in_open_epochs) {
    run(3, [](Comm& comm) {
        Ref<Window> const made = allocate(comm, n * 8, 8, nullptr);
        Window& w = *made;
        int const next = (comm.rank() + 1) % 3, last = (comm.rank() + 2) % 3;
        expect_fast(w, to_none);
        lock_all(w, {}, "lock_all");
        expect_fast(w, to_all);
        EXPECT_TRUE(fast::flush_all(w) && fast::flush(w, next) && fast::flush_local(w, next));
        EXPECT_FALSE(fast::flush(w, -1) || fast::flush_local(w, 3));
        unlock_all(w, "unlock_all");
        expect_fast(w, to_none);
        lock(w, false, next, {}, "lock");
        expect_fast(w, [&](int r) { return r == next; });
        EXPECT_TRUE(fast::flush(w, next));
        EXPECT_FALSE(fast::flush(w, last));
        lock(w, false, last, {}, "lock");
        unlock(w, last, "unlock");
        EXPECT_EQ(fast::target_memory(w, last, 0, 8), nullptr);
        unlock(w, next, "unlock");
        expect_fast(w, to_none);
        fence(w, {}, "fence");
        expect_fast(w, to_all);
        EXPECT_FALSE(fast::flush_all(w) || fast::flush(w, next) || fast::flush_local(w, next));
        fence(w, {.no_succeed = true}, "fence");
        expect_fast(w, to_none);
        fence(w, {}, "fence");
        Ref<Group> const all = Ref<Group>::adopt(new Group({0, 1, 2}, w.process.rank()));
        post(w, all, {}, "post");
        start(w, all, {}, "start");
        expect_fast(w, to_none);   // the fast path does not check which targets have posted
        complete(w, "complete");
        wait(w, "wait");
        expect_fast(w, to_none);
        free(made);
    });
}

TEST(FastPath, accepts_only_accesses_within_the_target_s_part) {
    run(2, [](Comm& comm) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        Ref<Window> const made = allocate(comm, comm.rank() == 0 ? n * 8 : 0, 8, nullptr);
        Window& w = *made;
        lock_all(w, {}, "lock_all");
        EXPECT_NE(fast::target_memory(w, 0, 0, n * 8), nullptr);
        for (std::int64_t disp : {std::int64_t{n}, std::int64_t{-1}, -most / 8, most / 8, most / 8 + 1, most, -most})
            EXPECT_EQ(fast::target_memory(w, 0, disp, 8), nullptr) << disp;
        EXPECT_EQ(fast::target_memory(w, 0, 0, n * 8 + 1), nullptr);
        EXPECT_EQ(fast::target_memory(w, 0, n - 1, 9), nullptr);
        EXPECT_EQ(fast::target_memory(w, 1, 0, 1), nullptr);   // rank 1 has no memory in the window
        unlock_all(w, "unlock_all");
        free(made);
    });
}

TEST(FastPath, not_for_dynamic_windows_and_other_nodes) {
    run(2, [](Comm& comm) {
        Ref<Window> const made = create_dynamic(comm, nullptr);
        long room = 0;
        attach(*made, &room, sizeof room);
        lock_all(*made, {}, "lock_all");
        EXPECT_EQ(fast::target_memory(*made, comm.rank(), reinterpret_cast<std::int64_t>(&room), 8), nullptr);
        unlock_all(*made, "unlock_all");
        free(made);
    });
    coll::test::run_on_nodes({0, 1}, [](Comm& comm) {
        Ref<Window> made = allocate(comm, n * 8, 8, nullptr);
        RankLock::ScopedLock const guard(comm.process.lock);   // as in an MPI call: the progress thread runs, too
        lock_all(*made, {}, "lock_all");
        expect_fast(*made, [&](int r) { return r == comm.rank(); });
        EXPECT_FALSE(fast::flush_all(*made));
        unlock_all(*made, "unlock_all");
        free(std::move(made));
        comm.process.progress_thread.reset();
    });
}

TEST(FastPath, a_full_fence_follows_stores) {
    run(2, [](Comm& comm) {
        Ref<Window> const made = allocate(comm, n * 8, 8, nullptr);
        Window& w = *made;
        int const me = comm.rank();   // each rank uses its own part, so that the ranks do not collide
        auto const type = type_of(Basic::int64), numbers = type_of(Basic::float64);
        Operator const sum(BuiltinOp::sum);
        std::int64_t one = 1, old = 0;
        double half = 0.5;
        Remote const there{me, 1, 1, *type};
        auto const fenced = [&] {
            bool const needed = w.stored;
            flush(w, me, "flush");
            EXPECT_FALSE(w.stored);
            return needed;
        };
        lock_all(w, {}, "lock_all");
        flush(w, me, "flush");
        put(w, Local::of(&one, 1, *type), there);
        EXPECT_TRUE(fenced());
        get(w, Local::of(&old, 1, *type), there);
        EXPECT_FALSE(fenced());
        accumulate(w, Local::of(&half, 1, *numbers), {me, 2, 1, *numbers}, sum);
        EXPECT_TRUE(fenced());
        put(w, Local::of(&one, 1, *type), there);
        EXPECT_TRUE(fast::combine(w, {8, 8, Basic::int64}, &one, &old, me, 1, BuiltinOp::sum, fast::Size::word));
        EXPECT_EQ(fenced(), !atomics_are_fences);
        put(w, Local::of(&one, 1, *type), there);
        EXPECT_TRUE(fast::compare_and_swap(w, Basic::int64, &old, &one, &old, me, 1));
        EXPECT_EQ(fenced(), !atomics_are_fences);
        put(w, Local::of(&one, 1, *type), there);
        sync(w);
        EXPECT_FALSE(fenced());
        unlock_all(w, "unlock_all");
        free(made);
    });
}

/// Runs `body` on a window of `longs` longs while its only rank holds all locks.
void with_locked_window(int longs, std::function<void(Window&)> const& body) {
    run(1, [&](Comm& comm) {
        Ref<Window> const made = allocate(comm, longs * 8, 1, nullptr);
        lock_all(*made, {}, "lock_all");
        body(*made);
        unlock_all(*made, "unlock_all");
        free(made);
    });
}

TEST(FastPath, copies_up_to_max_bytes) {
    with_locked_window(2048, [](Window& w) {
        auto* const part = static_cast<char*>(w.base);
        std::vector<char> from(fast::max_bytes + 1), to(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 127 + 1);
        std::int64_t copied = 0;
        auto const check = [&](std::int64_t bytes) {
            auto const size = static_cast<std::size_t>(bytes);
            std::fill_n(part, 8192, 'x');
            std::fill(to.begin(), to.end(), 'y');
            ASSERT_TRUE(fast::copy<Operation::put>(w, from.data(), bytes, 0, 3, fast::Size::any)) << bytes;
            EXPECT_EQ(std::memcmp(part + 3, from.data(), size), 0) << bytes;
            EXPECT_TRUE(part[2] == 'x' && part[3 + bytes] == 'x') << bytes;
            ASSERT_TRUE(fast::copy<Operation::get>(w, to.data(), bytes, 0, 3, fast::Size::any)) << bytes;
            EXPECT_EQ(std::memcmp(to.data(), from.data(), size), 0) << bytes;
            EXPECT_EQ(to[size], 'y') << bytes;
            copied += bytes;
        };
        for (std::int64_t bytes = 1; bytes <= 40; ++bytes) check(bytes);
        check(fast::max_bytes);
        for (std::int64_t bytes = 0; bytes <= 16; ++bytes)
            EXPECT_EQ(fast::copy<Operation::get>(w, to.data(), bytes, 0, 0, fast::Size::word),
                      bytes == 4 || bytes == 8);
        std::fill(to.begin(), to.end(), 'y');
        for (std::int64_t bytes : {std::int64_t{0}, std::int64_t{-8}, fast::max_bytes + 1}) {
            EXPECT_FALSE(fast::copy<Operation::put>(w, from.data(), bytes, 0, 0, fast::Size::any)) << bytes;
            EXPECT_FALSE(fast::copy<Operation::get>(w, to.data(), bytes, 0, 0, fast::Size::any)) << bytes;
        }
        EXPECT_EQ(part[0], 'x');
        EXPECT_EQ(to[0], 'y');
        auto const counted = [&](Operation o) {
            return w.counts.bytes[static_cast<std::size_t>(o)][static_cast<std::size_t>(AccessMethod::load_store)]
                .read();
        };
        EXPECT_EQ(counted(Operation::put), static_cast<std::uint64_t>(copied));
        EXPECT_EQ(counted(Operation::get), static_cast<std::uint64_t>(copied + 4 + 8));
    });
}

/// Combines elements at displacement 8 by both forms, from the same memory, and compares the effects.
void expect_same_effect(Window& w, Basic kind, BuiltinOp builtin, std::size_t count, std::int64_t disp) {
    std::size_t const size = basic_size(kind), bytes = count * size;
    auto const type = type_of(kind);
    auto* const there = static_cast<std::byte*>(w.base) + disp;
    std::vector<std::byte> in(bytes), start(bytes), old(bytes), fast_old(bytes), fast_result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) in[i] = std::byte(i % 2), start[i] = std::byte(i % 3 == 0);
    std::memcpy(there, start.data(), bytes);
    Operator const op(builtin);
    bool defined = true;
    try {
        get_accumulate(w, Local::of(in.data(), static_cast<std::int64_t>(count), *type),
                       Local::of(old.data(), static_cast<std::int64_t>(count), *type),
                       {0, disp, static_cast<std::int64_t>(count), *type}, op);
    } catch (Error const&) { defined = false; }
    std::vector<std::byte> const result(there, there + bytes);
    fast::Elements const elements{static_cast<std::int64_t>(bytes), static_cast<std::uint8_t>(size), kind};
    for (bool fetches : {true, false}) {
        SCOPED_TRACE(testing::Message() << "kind " << int(kind) << " op " << int(builtin) << " count " << count
                                        << " displacement " << disp << " fetches " << fetches);
        std::memcpy(there, start.data(), bytes);
        std::byte* const to = fetches ? fast_old.data() : nullptr;
        EXPECT_EQ(fast::combine(w, elements, in.data(), to, 0, disp, builtin, fast::Size::any), defined);
        EXPECT_EQ(std::memcmp(there, defined ? result.data() : start.data(), bytes), 0);
        if (fetches && defined) { EXPECT_EQ(fast_old, old); }
    }
}

TEST(FastPath, combines_as_the_general_form_does) {
    with_locked_window(2048, [](Window& w) {
        std::memset(w.base, 0, 8);
        for (auto kind : {Basic::int64, Basic::uint64, Basic::int32, Basic::uint32, Basic::float64, Basic::float32,
                          Basic::int16, Basic::byte_, Basic::c_bool, Basic::fortran_logical, Basic::complex64})
            for (int op = int(BuiltinOp::max); op <= int(BuiltinOp::no_op); ++op)
                // Many elements come last, because they change integers to stripes. At 4090 elements cross a granule.
                for (std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{100}})
                    for (std::int64_t disp : {8, 9, 4090}) expect_same_effect(w, kind, BuiltinOp(op), count, disp);
        long one = 1;
        EXPECT_FALSE(fast::combine(w, {0, 8, Basic::int64}, &one, nullptr, 0, 8, BuiltinOp::sum, fast::Size::any));
        EXPECT_FALSE(fast::combine(w, {fast::max_bytes + 8, 8, Basic::int64}, &one, nullptr, 0, 8, BuiltinOp::sum,
                                   fast::Size::any));
        EXPECT_FALSE(
            fast::combine(w, {8, 8, Basic::int64}, &one, nullptr, 0, 2048 * 8, BuiltinOp::sum, fast::Size::any));
        EXPECT_FALSE(fast::combine(w, {8, 8, Basic::float64}, &one, nullptr, 0, -8, BuiltinOp::sum, fast::Size::any));
    });
}

TEST(FastPath, compares_and_swaps_aligned_integers_only) {
    with_locked_window(4, [](Window& w) {
        auto* const part = static_cast<std::int64_t*>(w.base);
        std::int64_t five = 5, six = 6, old = 0;
        part[0] = part[1] = 5;
        EXPECT_TRUE(fast::compare_and_swap(w, Basic::int64, &six, &five, &old, 0, 0));
        EXPECT_TRUE(part[0] == 6 && old == 5);
        EXPECT_TRUE(fast::compare_and_swap(w, Basic::uint64, &five, &five, &old, 0, 0));
        EXPECT_TRUE(part[0] == 6 && old == 6);
        old = 0;
        EXPECT_TRUE(fast::compare_and_swap(w, Basic::fortran_logical, &six, &five, &old, 0, 8));
        EXPECT_TRUE(part[1] == 6 && old == 5);
        for (Basic kind : {Basic::byte_, Basic::int16, Basic::float64, Basic::none})
            EXPECT_FALSE(fast::compare_and_swap(w, kind, &five, &six, &old, 0, 8)) << int(kind);
        EXPECT_FALSE(fast::compare_and_swap(w, Basic::int64, &five, &six, &old, 0, 4));    // not aligned
        EXPECT_FALSE(fast::compare_and_swap(w, Basic::int64, &five, &six, &old, 0, 32));   // beyond the end
        EXPECT_EQ(part[1], 6);
        disable_atomics(w.members, 0);   // integers are combined under stripes from now on
        EXPECT_FALSE(fast::compare_and_swap(w, Basic::int64, &five, &six, &old, 0, 8));
        EXPECT_EQ(part[1], 6);
        EXPECT_TRUE(fast::combine(w, {8, 8, Basic::int64}, &five, &old, 0, 8, BuiltinOp::sum, fast::Size::any));
        EXPECT_TRUE(part[1] == 11 && old == 6);
    });
}

}   // namespace
