// SPDX-License-Identifier: BSD-3-Clause
// Tests which locks of a window's parts can be held together, with threads that request all of them concurrently.
#include "rma/node_control.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <vector>

using namespace tutti;
using namespace tutti::rma;

namespace {

constexpr int members = 4, turns = 4000;

struct Node {
    std::array<Control, members> control{};
    std::array<Control*, members> all{};
    /// The data that the locks protect; only exclusive holders write it.
    std::array<std::array<long, 2>, members> guarded{};
    Node() {
        for (std::size_t i = 0; i < members; ++i) all[i] = &control[i];
    }
    NodeLockState locks() { return {all, control[0].exclusive_count.word}; }
    void look(std::size_t target) { ASSERT_EQ(guarded[target][0], guarded[target][1]); }
};

void exclusive_turn(Node& node, int me, std::size_t target, long& done) {
    Word& lock = node.control[target].lock.word;
    bool must_wake = false;
    for (int tries = 0; !try_exclusive(lock, me, tries < 10, node.locks(), must_wake); ++tries)
        std::this_thread::yield();
    EXPECT_EQ(exclusive_holder(lock), me);
    ++node.guarded[target][0];
    ++node.guarded[target][1];
    ++done;
    release_exclusive(lock, node.control[0].exclusive_count.word);
}

void shared_turn(Node& node, std::size_t target) {
    Word& lock = node.control[target].lock.word;
    while (!try_shared(lock)) std::this_thread::yield();
    node.look(target);
    release_shared(lock);
}

void all_turn(Node& node, int me) {
    Word &mine = node.control[static_cast<std::size_t>(me)].lock_all.word,
         &exclusive = node.control[0].exclusive_count.word;
    bool must_wake = false;
    start_waiting_for_all(mine);
    while (!try_all(mine, exclusive, must_wake)) std::this_thread::yield();
    for (std::size_t t = 0; t < members; ++t) node.look(t);
    release_all(mine);
}

TEST(Lock, exclusive_locks_exclude_all_others) {
    Node node;
    std::array<long, members> done{};
    std::vector<std::thread> threads;
    for (int me = 0; me < members; ++me)
        threads.emplace_back([&, me] {
            std::minstd_rand random(static_cast<unsigned>(me) + 1);
            for (int i = 0; i < turns; ++i) {
                std::size_t const target = random() % members;
                switch (random() % 3) {
                case 0: exclusive_turn(node, me, target, done[static_cast<std::size_t>(me)]); break;
                case 1: shared_turn(node, target); break;
                default: all_turn(node, me);
                }
            }
        });
    for (auto& t : threads) t.join();
    long written = 0, counted = 0;
    for (std::size_t i = 0; i < members; ++i) {
        written += node.guarded[i][0];
        counted += done[i];
        EXPECT_EQ(node.control[i].lock.word.load(), 0U);
        EXPECT_EQ(node.control[i].lock_all.word.load(), 0U);
    }
    EXPECT_EQ(written, counted);
    EXPECT_EQ(node.control[0].exclusive_count.word.load(), 0U);
}

TEST(Lock, shared_locks_can_be_held_together) {
    Node node;
    Word& lock = node.control[1].lock.word;
    bool must_wake = false;
    EXPECT_TRUE(try_shared(lock));
    EXPECT_TRUE(try_shared(lock));
    EXPECT_EQ(exclusive_holder(lock), -1);
    EXPECT_FALSE(try_exclusive(lock, 2, true, node.locks(), must_wake));
    EXPECT_FALSE(must_wake);   // it saw the shared holders before
    release_shared(lock);
    release_shared(lock);
    EXPECT_TRUE(try_exclusive(lock, 2, true, node.locks(), must_wake));
    EXPECT_FALSE(try_shared(lock));
}

TEST(Lock, lock_all_and_exclusive_locks_exclude_each_other) {
    Node node;
    Word& exclusive = node.control[0].exclusive_count.word;
    bool must_wake = false;
    auto const lock_exclusively = [&](std::size_t part, int holder, bool steps_back = true) {
        return try_exclusive(node.control[part].lock.word, holder, steps_back, node.locks(), must_wake);
    };
    auto const lock_all = [&](Word& all) { return start_waiting_for_all(all), try_all(all, exclusive, must_wake); };
    EXPECT_TRUE(lock_all(node.control[3].lock_all.word));
    EXPECT_TRUE(lock_all(node.control[0].remote_lock_all.word));
    EXPECT_TRUE(lock_all(node.control[0].remote_lock_all.word));
    for (Word* const all : {&node.control[3].lock_all.word, &node.control[0].remote_lock_all.word,
                            &node.control[0].remote_lock_all.word}) {
        EXPECT_FALSE(lock_exclusively(1, 0));
        EXPECT_FALSE(lock_exclusively(1, 0, false));
        release_all(*all);
    }
    EXPECT_TRUE(lock_exclusively(1, 0));
    EXPECT_FALSE(lock_all(node.control[3].lock_all.word));
    // Ranks that wait to lock all do not prevent the holder from a second lock, nor other ranks for long.
    EXPECT_TRUE(lock_exclusively(2, 0));
    EXPECT_FALSE(lock_exclusively(3, 1));
    EXPECT_TRUE(lock_exclusively(3, 1, false));
    release_exclusive(node.control[3].lock.word, exclusive);
    // After the holder has released both, they do.
    release_exclusive(node.control[1].lock.word, exclusive);
    EXPECT_TRUE(lock_exclusively(1, 0));
    release_exclusive(node.control[1].lock.word, exclusive);
    release_exclusive(node.control[2].lock.word, exclusive);
    EXPECT_FALSE(lock_exclusively(2, 0));
    EXPECT_EQ(exclusive.load(), 0U);
}

TEST(Lock, a_lock_all_that_steps_back_keeps_its_turn) {
    Node node;
    Word &all = node.control[2].lock_all.word, &exclusive = node.control[0].exclusive_count.word,
         &lock = node.control[1].lock.word;
    bool must_wake = false;
    start_waiting_for_all(all);
    EXPECT_TRUE(try_all(all, exclusive, must_wake));
    step_back(all);
    EXPECT_FALSE(try_exclusive(lock, 0, true, node.locks(), must_wake));
    EXPECT_TRUE(try_exclusive(lock, 0, false, node.locks(), must_wake));
    EXPECT_FALSE(try_all(all, exclusive, must_wake));
    release_exclusive(lock, exclusive);
    EXPECT_TRUE(try_all(all, exclusive, must_wake));
    release_all(all);
    start_waiting_for_all(all);
    release_all(all, false);
    EXPECT_EQ(all.load(), 0U);
}

}   // namespace
