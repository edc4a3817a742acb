// SPDX-License-Identifier: BSD-3-Clause
// Tests which operations take the fast path, by epoch and displacement, and when a flush needs a full fence.
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

/// Checks for each target whether accesses to the window's `n` longs take the fast path.
void expect_direct(Window& w, std::function<bool(int rank)> const& expected) {
    for (int r = 0; r < w.size(); ++r) {
        EXPECT_EQ(direct_address(w, r, 0, 8), expected(r) ? w.target(r).memory : nullptr) << "rank " << r;
        EXPECT_EQ(direct_address(w, r, 3, 8), expected(r) ? w.target(r).memory + 24 : nullptr) << "rank " << r;
    }
}
bool to_all(int) { return true; }
bool to_none(int) { return false; }

TEST(Direct, only_in_open_epochs) {
    run(3, [](Comm& comm) {
        Ref<Window> const made = allocate(comm, n * 8, 8, nullptr);
        Window& w = *made;
        int const next = (comm.rank() + 1) % 3, last = (comm.rank() + 2) % 3;
        expect_direct(w, to_none);
        lock_all(w, {}, "lock_all");
        expect_direct(w, to_all);
        EXPECT_TRUE(w.open_targets.flush_is_fence);
        unlock_all(w, "unlock_all");
        expect_direct(w, to_none);
        lock(w, false, next, {}, "lock");
        expect_direct(w, [&](int r) { return r == next; });
        EXPECT_TRUE(w.open_targets.flush_is_fence);
        lock(w, false, last, {}, "lock");
        unlock(w, last, "unlock");
        EXPECT_EQ(direct_address(w, last, 0, 8), nullptr);
        unlock(w, next, "unlock");
        expect_direct(w, to_none);
        fence(w, {}, "fence");
        expect_direct(w, to_all);
        EXPECT_FALSE(w.open_targets.flush_is_fence);
        fence(w, {.no_succeed = true}, "fence");
        expect_direct(w, to_none);
        fence(w, {}, "fence");
        Ref<Group> const all = Ref<Group>::adopt(new Group({0, 1, 2}, w.process.rank()));
        post(w, all, {}, "post");
        start(w, all, {}, "start");
        expect_direct(w, to_none);   // the fast path does not check which targets have posted
        complete(w, "complete");
        wait(w, "wait");
        expect_direct(w, to_none);
        free(made);
    });
}

TEST(Direct, accepts_only_accesses_within_the_target_s_part) {
    run(2, [](Comm& comm) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        Ref<Window> const made = allocate(comm, comm.rank() == 0 ? n * 8 : 0, 8, nullptr);
        Window& w = *made;
        lock_all(w, {}, "lock_all");
        EXPECT_NE(direct_address(w, 0, 0, n * 8), nullptr);
        for (std::int64_t disp : {std::int64_t{n}, std::int64_t{-1}, -most / 8, most / 8, most / 8 + 1, most, -most})
            EXPECT_EQ(direct_address(w, 0, disp, 8), nullptr) << disp;
        EXPECT_EQ(direct_address(w, 0, 0, n * 8 + 1), nullptr);
        EXPECT_EQ(direct_address(w, 0, n - 1, 9), nullptr);
        EXPECT_EQ(direct_address(w, 1, 0, 1), nullptr);   // rank 1 has no memory in the window
        unlock_all(w, "unlock_all");
        free(made);
    });
}

TEST(Direct, not_for_dynamic_windows_and_other_nodes) {
    run(2, [](Comm& comm) {
        Ref<Window> const made = create_dynamic(comm, nullptr);
        long room = 0;
        attach(*made, &room, sizeof room);
        lock_all(*made, {}, "lock_all");
        EXPECT_EQ(direct_address(*made, comm.rank(), reinterpret_cast<std::int64_t>(&room), 8), nullptr);
        unlock_all(*made, "unlock_all");
        free(made);
    });
    coll::test::run_on_nodes({0, 1}, [](Comm& comm) {
        Ref<Window> made = allocate(comm, n * 8, 8, nullptr);
        RankLock::ScopedLock const guard(comm.process.lock);   // as in an MPI call: the progress thread runs, too
        lock_all(*made, {}, "lock_all");
        expect_direct(*made, [&](int r) { return r == comm.rank(); });
        EXPECT_FALSE(made->open_targets.flush_is_fence);
        unlock_all(*made, "unlock_all");
        free(std::move(made));
        comm.process.progress_thread.reset();
    });
}

TEST(Direct, a_full_fence_follows_stores) {
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
        fetch_and_op(w, &one, &old, *type, me, 1, sum);
        EXPECT_EQ(fenced(), !atomics_are_fences);
        put(w, Local::of(&one, 1, *type), there);
        sync(w);
        EXPECT_FALSE(fenced());
        unlock_all(w, "unlock_all");
        free(made);
    });
}

TEST(Direct, copies_any_number_of_bytes) {
    for (std::size_t bytes = 1; bytes <= 40; ++bytes) {
        std::vector<char> from(bytes), to(bytes + 1, 'x');
        for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(i + 1);
        copy_direct(to.data(), from.data(), bytes);
        EXPECT_EQ(std::memcmp(to.data(), from.data(), bytes), 0) << bytes;
        EXPECT_EQ(to[bytes], 'x') << bytes;
    }
}

}   // namespace
