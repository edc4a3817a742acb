// SPDX-License-Identifier: BSD-3-Clause
// Tests synchronization of windows that use active messages, and the number of messages that it needs.
#include <algorithm>

#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

class MessageEpochs : public testing::TestWithParam<NodeLayout> {};
INSTANTIATE_TEST_SUITE_P(, MessageEpochs, all_layouts, name_of);

struct Count {
    std::uint64_t commands, answers, data;
    bool operator==(Count const&) const = default;
};
void PrintTo(Count const& c, std::ostream* out) {
    *out << c.commands << " messages of commands, " << c.answers << " answers, " << c.data << " of data";
}
Count since(ActiveMessages::Sent const& before, ActiveMessages::Sent const& now) {
    return {now.commands - before.commands, now.answers - before.answers, now.data - before.data};
}

TEST_P(MessageEpochs, ALockExcludesAllOthersWhereverTheyAre) {
    std::atomic<int> inside = 0;
    run_windows(
        GetParam(), 4,
        [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            for (int round = 0; round < 30; ++round) {
                std::int64_t value = 0;
                lock(me.window, true, 0, {}, "lock");
                get(me.window, Local::of(&value, 1, *type), {0, 0, 1, *type});
                flush(me.window, 0, "flush");
                EXPECT_EQ(++inside, 1);
                ++value;
                put(me.window, Local::of(&value, 1, *type), {0, 0, 1, *type});
                EXPECT_EQ(--inside, 0);
                unlock(me.window, 0, "unlock");
            }
            coll::barrier(me.comm);
            if (me.rank() == 0) { EXPECT_EQ(me.memory[0], 30 * me.size()); }
            coll::barrier(me.comm);
        },
        true);
}

TEST_P(MessageEpochs, LocksOfOneAndLocksOfAllExcludeEachOther) {
    run_windows(
        GetParam(), 4,
        [](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            Operator const sum(BuiltinOp::sum);
            std::int64_t const one = 1;
            for (int round = 0; round < 20; ++round) {
                if ((me.rank() + round) % 2) {
                    lock_all(me.window, {}, "lock_all");
                    for (int r = 0; r < me.size(); ++r)
                        accumulate(me.window, Local::of(&one, 1, *type), {r, 0, 1, *type}, sum);
                    unlock_all(me.window, "unlock_all");
                } else {
                    for (int r = 0; r < me.size(); ++r) {
                        lock(me.window, true, r, {}, "lock");
                        increment(me, *type, r);
                        unlock(me.window, r, "unlock");
                    }
                }
            }
            coll::barrier(me.comm);
            EXPECT_EQ(me.memory[0], 20 * me.size());
            coll::barrier(me.comm);
        },
        true);
}

TEST_P(MessageEpochs, OneRankHoldsSeveralExclusiveLocks) {
    run_windows(
        GetParam(), 4,
        [](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            for (int round = 0; round < 20; ++round) {
                for (int r = 0; r < me.size(); ++r) {
                    lock(me.window, true, r, {}, "lock");
                    if (round % 2) increment(me, *type, r);   // or the lock is requested later
                }
                for (int r = 0; r < me.size(); ++r) {
                    if (round % 2 == 0) increment(me, *type, r);
                    unlock(me.window, r, "unlock");
                }
            }
            coll::barrier(me.comm);
            EXPECT_EQ(me.memory[0], 20 * me.size());
            coll::barrier(me.comm);
        },
        true);
}

TEST_P(MessageEpochs, PostStartCompleteWaitInARing) {
    run_windows(GetParam(), 3000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        int const left = (me.rank() + me.size() - 1) % me.size();
        auto const group = [&](int rank) {
            return Ref<Group>::adopt(new Group({me.comm.world_rank(rank)}, me.comm.process.rank()));
        };
        for (int round = 1; round <= 20; ++round) {
            std::vector<std::int64_t> const mine(round % 2 ? 3000 : 10, round * 10 + me.rank());
            post(me.window, group(left), {}, "post");
            start(me.window, group(me.right()), {}, "start");
            put(me.window, Local::of(mine.data(), static_cast<std::int64_t>(mine.size()), *type),
                {me.right(), 0, static_cast<std::int64_t>(mine.size()), *type});
            complete(me.window, "complete");
            wait(me.window, "wait");
            for (std::size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(me.memory[i], round * 10 + left) << i;
        }
    });
}

TEST_P(MessageEpochs, AnExposureEndsAfterAllRequestedDataHasBeenRead) {
    std::int64_t const numbers = 300'000;
    run_windows(GetParam(), static_cast<std::size_t>(numbers), [&](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        int const last = me.size() - 1;
        auto const group = [&](int rank) {
            return Ref<Group>::adopt(new Group({me.comm.world_rank(rank)}, me.comm.process.rank()));
        };
        std::vector<std::int64_t> seen(me.memory.size());
        for (int round = 0; round < 10; ++round) {
            if (me.rank() == 0) {
                start(me.window, group(last), {}, "start");
                get(me.window, Local::of(seen.data(), numbers, *type), {last, 0, numbers, *type});
                complete(me.window, "complete");
                EXPECT_EQ(std::ranges::count(seen, round), numbers);
            } else if (me.rank() == last) {
                post(me.window, group(0), {}, "post");
                wait(me.window, "wait");
                std::ranges::fill(me.memory, round + 1);
            }
        }
        coll::barrier(me.comm);
    });
}

TEST_P(MessageEpochs, ALockIsHeldUntilAllRequestedDataHasBeenRead) {
    std::int64_t const numbers = 300'000;
    run_windows(
        GetParam(), static_cast<std::size_t>(numbers),
        [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            std::vector<std::int64_t> seen(me.memory.size());
            for (int round = 0; round < 6; ++round) {
                lock(me.window, true, 0, {}, "lock");
                get(me.window, Local::of(seen.data(), numbers, *type), {0, 0, numbers, *type});
                unlock(me.window, 0, "unlock");
                EXPECT_EQ(std::ranges::count(seen, seen.front()), numbers);
                std::ranges::fill(seen, 10 * round + me.rank());
                lock(me.window, true, 0, {}, "lock");
                put(me.window, Local::of(seen.data(), numbers, *type), {0, 0, numbers, *type});
                unlock(me.window, 0, "unlock");
            }
            coll::barrier(me.comm);
        },
        true);
}

TEST_P(MessageEpochs, UseTheLeastNumberOfMessages) {
    run_windows(GetParam(), 3000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        int const last = me.size() - 1;
        std::int64_t one = 1;
        std::vector<std::int64_t> const many(3000, 7);
        auto const put_one = [&] { put(me.window, Local::of(&one, 1, *type), {last, 0, 1, *type}); };
        bool const here = me.window.target(last).control != nullptr;
        coll::barrier(me.comm);
        if (me.rank() == 0) {
            ActiveMessages::Sent before = me.sent();
            auto const expect = [&](char const* what, Count const& expected) {
                EXPECT_EQ(since(before, me.sent()), expected) << what;
                before = me.sent();
            };
            lock(me.window, true, last, {}, "lock");
            for (int i = 0; i < 50; ++i) put_one();
            unlock(me.window, last, "unlock");
            expect("a lock, fifty puts, unlock", {1, 0, 0});
            lock(me.window, false, last, {}, "lock");
            flush(me.window, last, "flush");
            expect("a flush of nothing", {0, 0, 0});
            get(me.window, Local::of(&one, 1, *type), {last, 0, 1, *type});
            flush(me.window, last, "flush");
            flush(me.window, last, "flush");
            expect("a get and two flushes", {1, 0, 0});
            put(me.window, Local::of(many.data(), 3000, *type), {last, 0, 3000, *type});
            flush(me.window, last, "flush");
            expect("a large put and a flush", {2, 0, 1});
            unlock(me.window, last, "unlock");
            expect("an unlock", {here ? 0u : 1u, 0, 0});
            unsigned const other_nodes = me.window.multi_node;   // at most one other node
            lock_all(me.window, {}, "lock_all");
            unlock_all(me.window, "unlock_all");
            expect("a lock of all", {2 * other_nodes, 0, 0});
            lock_all(me.window, {}, "lock_all");
            put_one();
            flush_all(me.window, "flush_all");
            unlock_all(me.window, "unlock_all");
            expect("a lock of all and a put", {1 + 2 * other_nodes, 0, 0});
            lock_all(me.window, {.no_check = true}, "lock_all");
            unlock_all(me.window, "unlock_all");
            expect("a lock of all that no rank could refuse", {0, 0, 0});
        }
        coll::barrier(me.comm);
        ActiveMessages::Sent const before = me.sent();
        fence(me.window, {}, "fence");
        fence(me.window, {}, "fence");
        EXPECT_EQ(since(before, me.sent()), (Count{0, 0, 0})) << "fences with nothing between";
        coll::barrier(me.comm);
        if (me.rank() == 0) put_one();
        fence(me.window, {.no_succeed = true}, "fence");
        EXPECT_EQ(me.sent().commands - before.commands, me.rank() == 0) << "a put between fences";
        EXPECT_EQ(me.sent().answers - before.answers, me.rank() == last) << "a put between fences";
        coll::barrier(me.comm);
    });
}

/// Small answers to one command message are sent in one message; a message holds eight answers of 1 KiB.
TEST_P(MessageEpochs, AnswersAreGathered) {
    run_windows(GetParam(), 8000, [](Member& me) {
        Ref<Datatype> const type = type_of(Basic::int64);
        int const last = me.size() - 1;
        std::iota(me.memory.begin(), me.memory.end(), 1000 * me.rank());
        coll::barrier(me.comm);
        std::vector<std::int64_t> got(8000);
        auto const get_blocks = [&](std::int64_t blocks, std::int64_t each) {
            std::ranges::fill(got, -1);
            for (std::int64_t i = 0; i < blocks; ++i)
                get(me.window, Local::of(got.data() + i * each, each, *type), {last, i * each, each, *type});
        };
        auto const check = [&](std::int64_t numbers) {
            for (std::int64_t i = 0; i < numbers; ++i)
                ASSERT_EQ(got[static_cast<std::size_t>(i)], 1000 * last + i) << numbers;
        };
        // Rank 0 requests this in one message; `answers` is the number of messages in which the last rank answers.
        auto const answered = [&](char const* what, std::uint64_t answers, auto ask) {
            coll::barrier(me.comm);
            ActiveMessages::Sent const before = me.sent();
            coll::barrier(me.comm);
            if (me.rank() == 0) ask();
            coll::barrier(me.comm);
            if (me.rank() == 0) { EXPECT_EQ(me.sent().commands - before.commands, 1u) << what; }
            if (me.rank() == last) { EXPECT_EQ(me.sent().answers - before.answers, answers) << what; }
            coll::barrier(me.comm);   // before rank 0 sends other requests
        };
        lock_all(me.window, {}, "lock_all");
        if (me.rank() == 0) get_blocks(1, 1), flush(me.window, last, "flush");   // acquires the lock
        std::int64_t one = 1, old = -1;
        answered("fifty gets", 1, [&] {
            get_blocks(50, 1);
            flush(me.window, last, "flush");
            check(50);
        });
        answered("fifty gets of 1 KiB", 7, [&] {
            get_blocks(50, 128);
            flush(me.window, last, "flush");
            check(50 * 128);
        });
        answered("small gets around a large one", 2, [&] {
            get_blocks(3, 1);
            get(me.window, Local::of(got.data() + 3, 6000, *type), {last, 3, 6000, *type});
            get(me.window, Local::of(got.data() + 6003, 5, *type), {last, 6003, 5, *type});
            flush(me.window, last, "flush");
            check(6008);
        });
        answered("a fetch, a put and a flush", 1, [&] {
            fetch_and_op(me.window, &one, &old, *type, last, 10, Operator(BuiltinOp::sum));
            put(me.window, Local::of(&one, 1, *type), {last, 11, 1, *type});
            flush(me.window, last, "flush");
            EXPECT_EQ(old, 1000 * last + 10);
        });
        unlock_all(me.window, "unlock_all");
    });
}

/// While a rank waits for all its targets, a rank that it had no contact with before becomes its origin.
TEST(MessageEpochsOfFourNodes, AnOriginMayAppearWhileARankWaitsForAllTargets) {
    using Call = void (*)(Window&);
    for (Call const wait_for_all : {+[](Window& w) { flush_all(w, "flush_all"); },
                                    +[](Window& w) { flush_local_all(w, "flush_local_all"); }, +[](Window&) {}}) {
        std::atomic<bool> locked = false, waiting = false, accessed = false;
        run_windows({"four_nodes", {0, 1, 2, 3}}, 4, [&](Member& me) {
            Ref<Datatype> const type = type_of(Basic::int64);
            std::int64_t one = 1, seen = -1;
            switch (me.rank()) {
            case 0:
                me.compute_until(locked);
                lock(me.window, false, 1, {}, "lock");
                get(me.window, Local::of(&seen, 1, *type), {1, 0, 1, *type});   // rank 1 has locked itself
                waiting = true;
                wait_for_all(me.window);
                unlock(me.window, 1, "unlock");
                EXPECT_EQ(seen, 0);
                break;
            case 1:
                lock(me.window, true, 1, {}, "lock");
                locked = true;
                me.compute_until(accessed);
                unlock(me.window, 1, "unlock");
                break;
            case 2:
                me.compute_until(waiting);
                lock(me.window, false, 0, {}, "lock");
                put(me.window, Local::of(&one, 1, *type), {0, 0, 1, *type});
                unlock(me.window, 0, "unlock");
                accessed = true;
                break;
            default: break;
            }
            coll::barrier(me.comm);
        });
    }
}

TEST(MessageEpochsOfOneNode, NeedNoThreadAndNoMessages) {
    run_windows(
        {"one_node", {0, 0}}, 4,
        [](Member& me) {
            lock_all(me.window, {}, "lock_all");
            unlock_all(me.window, "unlock_all");
            EXPECT_EQ(since({}, me.sent()), (Count{0, 0, 0}));
            EXPECT_FALSE(me.comm.process.progress_thread);
            EXPECT_FALSE(me.comm.process.lock.is_enabled());
        },
        true);
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads
