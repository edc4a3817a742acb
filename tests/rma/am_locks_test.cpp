// SPDX-License-Identifier: BSD-3-Clause
// Locks of several parts and of all, on several nodes: in which order they are taken, and that no circle comes of them.
#include <algorithm>
#include <random>

#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

/// Rank 0 locks rank 1 and then rank 2 exclusively, while `holder` holds what keeps rank 0 from the first lock. It must
/// not get the second one meanwhile: locks that are taken in one order everywhere must not end in a circle, and
/// exclusive locks exclude lock_all.
void expect_locks_in_order(Where const& where, int holder, std::function<void(Member&)> const& take,
                           std::function<void(Member&)> const& give_back) {
    std::atomic<bool> taken = false, about_to = false, got = false;
    run_windows(
        where, 4,
        [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            std::int64_t const one = 1;
            auto const put_one = [&](int rank) { put(me.window, Local::of(&one, 1, *type), {rank, 0, 1, *type}); };
            if (me.rank() == holder) {
                take(me);
                taken = true;
                me.compute_until(about_to);
                give_a_chance(me);
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

TEST(MessageLocks, AreTakenInTheOrderOfTheProgram) {
    for (Where const& where : {Where{"three_nodes", {0, 1, 2}}, Where{"two_nodes", {0, 1, 1}}})
        expect_locks_in_order(
            where, 1, [](Member& me) { lock(me.window, true, 1, {}, "lock"); },
            [](Member& me) { unlock(me.window, 1, "unlock"); });
}

TEST(MessageLocks, OfTwoPartsOfANodeExcludeALockOfAll) {
    expect_locks_in_order(
        {"two_nodes", {0, 1, 1, 1}}, 3, [](Member& me) { lock_all(me.window, {}, "lock_all"); },
        [](Member& me) { unlock_all(me.window, "unlock_all"); });
}

/// Rank 3 has locked rank 2 exclusively and then wants rank 1, while rank 0 wants all: rank 0 may not have rank 1 while
/// it waits for rank 2.
TEST(MessageLocks, OfAllHoldNothingWhileTheyWait) {
    for (Where const& where : {Where{"four_nodes", {0, 1, 2, 3}}, Where{"two_nodes", {0, 0, 1, 1}}}) {
        std::atomic<bool> second_held = false, first_reached = false;
        run_windows(
            where, 4,
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
                    for (int i = 0; i < 100 && !first_reached; ++i) give_a_moment(me);
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

/// Rank 0 holds all parts exclusively, which it takes in any order, the others lock all, or one part at a time.
TEST(MessageLocks, OfAllAndExclusiveOnesComeInAllOrders) {
    constexpr int rounds = 60;
    for (Where const& where :
         {Where{"four_nodes", {0, 1, 2, 3}}, Where{"two_by_two", {0, 0, 1, 1}}, Where{"in_turn", {0, 1, 0}}})
        run_windows(
            where, 4,
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
                EXPECT_EQ(me.memory[0], rounds * me.size()) << where.name;
                coll::barrier(me.comm);
            },
            true);
}

/// Rank 0 waits to lock all, and what it waits for waits for an exclusive lock that comes later.
TEST(MessageLocks, ThatAreFreeDoNotWaitForThoseWhoWaitForAll) {
    for (Where const& where : {Where{"one_node", {0, 0, 0}}, Where{"three_nodes", {0, 1, 2}}}) {
        std::atomic<bool> held = false, wanted = false, passed = false;
        run_windows(
            where, 4,
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
                    give_a_chance(me);
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
