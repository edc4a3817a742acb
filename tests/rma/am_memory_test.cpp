// SPDX-License-Identifier: BSD-3-Clause
// Makes each allocation fail in turn while a target runs its origins' commands: each command must run once, and in
// order, after memory is available again.
#include "runtime/base/error.hpp"
#include "runtime/datatype/datatype.hpp"
#include "tests/coll/world/allocations.hpp"
#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

constexpr std::size_t most = 30;   // more allocations than a round needs

/// Two numbers, `n` apart. The origin describes each such datatype to the target once.
Ref<Datatype> apart(std::int64_t n) {
    Ref<Datatype> const type = type_of(Basic::int64);
    Ref<Datatype> made = TypeBuilder::hvector(2, 1, n * type->extent(), *type);
    TypeBuilder::set_recipe(*made, {Combiner::hvector, {}, {}, {type}});
    return made;
}

/// Polls until rank 0 has sent all its commands and for some time more, while only the first `allowed` allocations
/// succeed. The caller holds the rank's lock, so no other thread polls.
void poll_without_memory(Member& me, std::size_t allowed, std::atomic<bool> const& asked) {
    coll::test::AllocationLimit const ends(allowed);
    for (int behind = 0; behind < 40; behind += asked.load()) {
        unless_out_of_memory([&] { return me.comm.process.waiter.progress(); });   // as the progress thread does
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

/// One round of rank 0: all kinds of operations of a target, and the values that rank 0 fetches.
void use_target(Member& me, std::size_t round, std::atomic<bool>& asked) {
    Ref<Datatype> const type = type_of(Basic::int64), pair = apart(3 + static_cast<std::int64_t>(round));
    Operator const sum(BuiltinOp::sum);
    auto const number = static_cast<std::int64_t>(round);
    std::int64_t const one = 1, next = number + 1, pairs[2] = {number, -number};
    std::int64_t before = -1, swapped = -1, seen[2] = {}, whole = -1;
    lock(me.window, true, 1, {}, "lock");
    fetch_and_op(me.window, &one, &before, *type, 1, 0, sum);
    compare_and_swap(me.window, &next, &number, &swapped, *type, 1, 1);
    put(me.window, Local::of(pairs, 2, *type), {1, 10, 1, *pair});
    accumulate(me.window, Local::of(&one, 1, *type), {1, 2, 1, *type}, sum);
    get(me.window, Local::of(seen, 2, *type), {1, 10, 1, *pair});
    get(me.window, Local::of(&whole, 1, *type), {1, 2, 1, *type});
    asked = true;   // now the commands are sent
    unlock(me.window, 1, "unlock");
    EXPECT_EQ(before, number);
    EXPECT_EQ(swapped, number);
    EXPECT_EQ(seen[0], number);
    EXPECT_EQ(seen[1], -number);
    EXPECT_EQ(whole, number + 1);
}

TEST(MessageMemory, EachCommandRunsOnceAfterMemoryIsAvailableAgain) {
    struct Round {
        std::atomic<bool> polling = false, asked = false;
    };
    std::vector<Round> rounds(most);
    run_windows({"two_nodes", {0, 1}}, 100, [&](Member& me) {
        for (std::size_t round = 0; round < most; ++round) {
            auto& [polling, asked] = rounds[round];
            coll::barrier(me.comm);
            if (me.rank() == 0) {
                me.compute_until(polling);
                use_target(me, round, asked);
            } else {
                polling = true;
                poll_without_memory(me, round, asked);
            }
        }
        coll::barrier(me.comm);
        if (me.rank() == 1) {
            EXPECT_EQ(me.memory[0], most);
            EXPECT_EQ(me.memory[1], most);
            EXPECT_EQ(me.memory[2], most);
        }
        coll::barrier(me.comm);
    });
}

/// Runs `call` with only the first `allowed` allocations succeeding. Returns whether it had enough memory.
template <class Call>
bool enough(std::size_t allowed, Call const& call) {
    coll::test::AllocationLimit const ends(allowed);
    try {
        call();
        return true;
    } catch (std::bad_alloc const&) { return false; }
}

/// Each allocation of an operation or a synchronization at rank 0 fails in turn; then memory is available again. The
/// origin can repeat a failed call, and calls that did not fail run once.
void starve_origin(Member& me) {
    Window& w = me.window;
    Ref<Datatype> const type = type_of(Basic::int64);
    Operator const sum(BuiltinOp::sum);
    std::vector<std::int64_t> large(30000), back(30000), pairs(200);
    std::int64_t const one = 1;
    std::int64_t added = 0, round = 0, old = -1;
    std::size_t failures = 0;
    auto const again_and_again = [&](auto const& call) {
        for (std::size_t allowed = 0; allowed < most; ++allowed, ++round) {
            std::ranges::fill(large, round);
            bool const done = enough(allowed, [&] { call(); });
            failures += !done;
            flush(w, 1, "flush");
            if (!done) call();
            flush(w, 1, "flush");
        }
    };
    auto const expect_large = [&] {
        get(w, Local::of(back.data(), 30000, *type), {1, 0, 30000, *type});
        flush(w, 1, "flush");
        EXPECT_EQ(back, large);
    };
    lock(w, false, 1, {}, "lock");
    again_and_again([&] { put(w, Local::of(large.data(), 30000, *type), {1, 0, 30000, *type}); });
    expect_large();
    again_and_again([&] { put(w, Local::of(large.data(), 3, *type), {1, 0, 3, *type}); });
    std::fill(back.begin(), back.begin() + 3, round - 1);
    again_and_again([&] { get(w, Local::of(back.data(), 3, *type), {1, 0, 3, *type}); });
    EXPECT_EQ(back[2], back[0]);
    again_and_again([&] { get(w, Local::of(back.data(), 30000, *type), {1, 0, 30000, *type}); });
    // Datatypes that the target does not know yet, on both sides.
    again_and_again([&] {
        Ref<Datatype> const gaps = apart(3 + round);
        put(w, Local::of(large.data(), 1, *gaps), {1, 0, 1, *gaps});
        get(w, Local::of(pairs.data(), 1, *apart(2)), {1, 0, 1, *gaps});
    });
    EXPECT_EQ(pairs[0], round - 1);
    EXPECT_EQ(pairs[2], round - 1);
    for (std::size_t allowed = 0; allowed < most; ++allowed) {
        added += enough(allowed, [&] { accumulate(w, Local::of(&one, 1, *type), {1, 39999, 1, *type}, sum); });
        added += enough(allowed, [&] { fetch_and_op(w, &one, &old, *type, 1, 39999, sum); });
        enough(allowed, [&] { flush(w, 1, "flush"); });
    }
    flush(w, 1, "flush");
    fetch_and_op(w, &one, &old, *type, 1, 39999, sum);
    flush(w, 1, "flush");
    EXPECT_EQ(old, added);
    unlock(w, 1, "unlock");
    for (std::size_t allowed = 0; allowed < most; ++allowed) {
        if (!enough(allowed, [&] { lock(w, true, 1, {}, "lock"); })) lock(w, true, 1, {}, "lock");
        if (!enough(allowed, [&] { put(w, Local::of(&one, 1, *type), {1, 1, 1, *type}); })) ++failures;
        if (!enough(allowed, [&] { unlock(w, 1, "unlock"); })) unlock(w, 1, "unlock");
        if (!enough(allowed, [&] { lock_all(w, {}, "lock_all"); })) lock_all(w, {}, "lock_all");
        if (!enough(allowed, [&] { put(w, Local::of(&one, 1, *type), {1, 1, 1, *type}); })) ++failures;
        if (!enough(allowed, [&] { unlock_all(w, "unlock_all"); })) unlock_all(w, "unlock_all");
    }
    EXPECT_GT(failures, 0U);
}

TEST(MessageMemory, AnOriginCanRetryAFailedOperation) {
    for (NodeLayout const& layout : {NodeLayout{"two_nodes", {0, 1}}, NodeLayout{"owners_of_one_node", {0, 0}}}) {
        std::atomic<bool> done = false;
        run_windows(layout, 40000, [&](Member& me) {
            if (me.rank() == 0) starve_origin(me), done = true;
            else me.compute_until(done);
            coll::barrier(me.comm);
        });
    }
}

/// A group's epochs begin and end for all members or for none.
TEST(MessageMemory, AnEpochOfAGroupEndsForAllOrForNone) {
    run_windows({"three_nodes", {0, 1, 2}}, 10, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        auto const group = [&](std::vector<int> ranks) {
            return Ref<Group>::adopt(new Group(std::move(ranks), me.comm.process.rank()));
        };
        for (std::size_t allowed = 0; allowed < most; ++allowed) {
            std::int64_t const value = static_cast<std::int64_t>(allowed) + 1;
            auto const until_done = [&](auto const& call) {
                if (!enough(allowed, call)) call();
            };
            if (me.rank() == 0) {
                until_done([&] { start(me.window, group({1, 2}), {}, "start"); });
                for (int r : {1, 2}) until_done([&] { put(me.window, Local::of(&value, 1, *type), {r, 0, 1, *type}); });
                until_done([&] { complete(me.window, "complete"); });
            } else {
                until_done([&] { post(me.window, group({0}), {}, "post"); });
                wait(me.window, "wait");
                EXPECT_EQ(me.memory[0], value);
            }
        }
        coll::barrier(me.comm);
    });
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads
