// SPDX-License-Identifier: BSD-3-Clause
// Tests locks of several parts and of all parts on several nodes: the order in which they are acquired, and freedom
// from deadlock.
#include <algorithm>
#include <random>

#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

/// Rank 0 locks rank 1 and then rank 2 exclusively, while `holder` holds a lock that prevents the first of these. Rank
/// 0 must not get the second lock meanwhile: locks that all ranks acquire in the same order must not deadlock, and
/// exclusive locks exclude lock_all.
void expect_locks_in_order(NodeLayout const& layout, int holder, std::function<void(Member&)> const& take,
                           std::function<void(Member&)> const& give_back) {
    std::atomic<bool> taken = false, about_to = false, got = false;
    run_windows(
        layout, 4,
        [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            std::int64_t const one = 1;
            auto const put_one = [&](int rank) { put(me.window, Local::of(&one, 1, *type), {rank, 0, 1, *type}); };
            if (me.rank() == holder) {
                take(me);
                taken = true;
                me.compute_until(about_to);
                let_others_run(me);
                EXPECT_FALSE(got);
                give_back(me);
            } else if (me.rank() == 0) {
                me.compute_until(taken);
                lock(me.window, true, 1, {}, "lock");
                put_one(1);
                about_to = true;
                lock(me.window, true, 2, {}, "lock");
                put_one(2);
                flush(me.window, 2, "flush");
                got = true;
                unlock(me.window, 2, "unlock");
                unlock(me.window, 1, "unlock");
            }
            coll::barrier(me.comm);
            EXPECT_EQ(me.memory[0], me.rank() == 1 || me.rank() == 2);
            coll::barrier(me.comm);
        },
        true);
}

TEST(MessageLocks, AreAcquiredInProgramOrder) {
    for (NodeLayout const& layout : {NodeLayout{"three_nodes", {0, 1, 2}}, NodeLayout{"two_nodes", {0, 1, 1}}})
        expect_locks_in_order(
            layout, 1, [](Member& me) { lock(me.window, true, 1, {}, "lock"); },
            [](Member& me) { unlock(me.window, 1, "unlock"); });
}

TEST(MessageLocks, OfTwoPartsOfANodeExcludeALockOfAll) {
    expect_locks_in_order(
        {"two_nodes", {0, 1, 1, 1}}, 3, [](Member& me) { lock_all(me.window, {}, "lock_all"); },
        [](Member& me) { unlock_all(me.window, "unlock_all"); });
}

/// Rank 3 holds rank 2's exclusive lock and then requests rank 1's, while rank 0 requests all: rank 0 must not hold
/// rank 1's lock while it waits for rank 2's.
TEST(MessageLocks, OfAllHoldNothingWhileTheyWait) {
    for (NodeLayout const& layout : {NodeLayout{"four_nodes", {0, 1, 2, 3}}, NodeLayout{"two_nodes", {0, 0, 1, 1}}}) {
        std::atomic<bool> second_held = false, first_reached = false;
        run_windows(
            layout, 4,
            [&](Member& me) {
                Ref<Datatype> const type = type_of(Basic::int64);
                Operator const sum(BuiltinOp::sum);
                std::int64_t const one = 1;
                auto const add_one = [&](int rank) {
                    accumulate(me.window, Local::of(&one, 1, *type), {rank, 0, 1, *type}, sum);
                    flush(me.window, rank, "flush");
                };
                if (me.rank() == 0) {
                    me.compute_until(second_held);
                    lock_all(me.window, {}, "lock_all");
                    add_one(1);
                    first_reached = true;
                    add_one(2);
                    unlock_all(me.window, "unlock_all");
                } else if (me.rank() == 3) {
                    lock(me.window, true, 2, {}, "lock");
                    add_one(2);
                    second_held = true;
                    for (int i = 0; i < 100 && !first_reached; ++i) sleep_briefly(me);
                    lock(me.window, true, 1, {}, "lock");
                    add_one(1);
                    unlock(me.window, 1, "unlock");
                    unlock(me.window, 2, "unlock");
                }
                coll::barrier(me.comm);
                EXPECT_EQ(me.memory[0], me.rank() == 1 || me.rank() == 2 ? 2 : 0);
                coll::barrier(me.comm);
            },
            true);
    }
}

/// Rank 0 locks all parts exclusively, in random order; the other ranks lock all, or one part at a time.
TEST(MessageLocks, OfAllAndExclusiveOnesMixInAnyOrder) {
    constexpr int rounds = 60;
    for (NodeLayout const& layout : {NodeLayout{"four_nodes", {0, 1, 2, 3}}, NodeLayout{"two_by_two", {0, 0, 1, 1}},
                                     NodeLayout{"in_turn", {0, 1, 0}}})
        run_windows(
            layout, 4,
            [&](Member& me) {
                Ref<Datatype> const type = type_of(Basic::int64);
                Operator const sum(BuiltinOp::sum);
                std::int64_t const one = 1;
                std::minstd_rand random(static_cast<unsigned>(me.rank()) + 1);
                std::vector<int> targets(static_cast<std::size_t>(me.size()));
                std::iota(targets.begin(), targets.end(), 0);
                for (int round = 0; round < rounds; ++round) {
                    std::ranges::shuffle(targets, random);
                    if (me.rank() == 0) {
                        for (int r : targets) {
                            lock(me.window, true, r, {}, "lock");
                            increment(me, *type, r);
                        }
                        for (int r : targets) unlock(me.window, r, "unlock");
                    } else if ((me.rank() + round) % 3 != 0) {
                        lock_all(me.window, {}, "lock_all");
                        for (int r : targets) {
                            accumulate(me.window, Local::of(&one, 1, *type), {r, 0, 1, *type}, sum);
                            if (round % 2) flush(me.window, r, "flush");
                        }
                        unlock_all(me.window, "unlock_all");
                    } else {
                        for (int r : targets) {
                            lock(me.window, true, r, {}, "lock");
                            increment(me, *type, r);
                            unlock(me.window, r, "unlock");
                        }
                    }
                }
                coll::barrier(me.comm);
                EXPECT_EQ(me.memory[0], rounds * me.size()) << layout.name;
                coll::barrier(me.comm);
            },
            true);
}

/// Rank 0 waits to lock all because rank 1 holds a lock, which it releases only after rank 2 has acquired a free one.
TEST(MessageLocks, ThatAreFreeDoNotWaitForRanksThatLockAll) {
    for (NodeLayout const& layout : {NodeLayout{"one_node", {0, 0, 0}}, NodeLayout{"three_nodes", {0, 1, 2}}}) {
        std::atomic<bool> held = false, wanted = false, passed = false;
        run_windows(
            layout, 4,
            [&](Member& me) {
                if (me.rank() == 0) {
                    me.compute_until(held);
                    wanted = true;
                    lock_all(me.window, {}, "lock_all");
                    unlock_all(me.window, "unlock_all");
                } else if (me.rank() == 1) {
                    lock(me.window, true, 1, {}, "lock");
                    held = true;
                    me.compute_until(passed);
                    unlock(me.window, 1, "unlock");
                } else {
                    me.compute_until(wanted);
                    let_others_run(me);
                    lock(me.window, true, 0, {}, "lock");
                    flush(me.window, 0, "flush");
                    unlock(me.window, 0, "unlock");
                    passed = true;
                }
                coll::barrier(me.comm);
            },
            true);
    }
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads
