// SPDX-License-Identifier: BSD-3-Clause
// Locks of a window's parts: who may be inside together, with threads that try all of them at once.
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
    /// What locks keep: written by exclusive holders alone.
    std::array<std::array<long, 2>, members> guarded{};
    Node() {
        for (std::size_t i = 0; i < members; ++i) all[i] = &control[i];
    }
    Others others() { return {all, control[0].exclusive.word}; }
    void look(std::size_t target) { ASSERT_EQ(guarded[target][0], guarded[target][1]); }
};

void exclusive_turn(Node& node, int me, std::size_t target, long& done) {
    Word& lock = node.control[target].lock.word;
    bool disturbed = false;
    for (int tries = 0; !try_exclusive(lock, me, tries < 10, node.others(), disturbed); ++tries)
        std::this_thread::yield();
    EXPECT_EQ(exclusive_holder(lock), me);
    ++node.guarded[target][0];
    ++node.guarded[target][1];
    ++done;
    leave_exclusive(lock, node.control[0].exclusive.word);
}

void shared_turn(Node& node, std::size_t target) {
    Word& lock = node.control[target].lock.word;
    while (!try_shared(lock)) std::this_thread::yield();
    node.look(target);
    leave_shared(lock);
}

void all_turn(Node& node, int me) {
    Word &mine = node.control[static_cast<std::size_t>(me)].all.word, &exclusive = node.control[0].exclusive.word;
    bool disturbed = false;
    begin_all(mine);
    while (!try_all(mine, exclusive, disturbed)) std::this_thread::yield();
    for (std::size_t t = 0; t < members; ++t) node.look(t);
    leave_all(mine);
}

TEST(Lock, exclusive_holders_are_alone) {
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
        EXPECT_EQ(node.control[i].all.word.load(), 0U);
    }
    EXPECT_EQ(written, counted);
    EXPECT_EQ(node.control[0].exclusive.word.load(), 0U);
}

TEST(Lock, shared_ones_are_together) {
    Node node;
    Word& lock = node.control[1].lock.word;
    bool disturbed = false;
    EXPECT_TRUE(try_shared(lock));
    EXPECT_TRUE(try_shared(lock));
    EXPECT_EQ(exclusive_holder(lock), -1);
    EXPECT_FALSE(try_exclusive(lock, 2, true, node.others(), disturbed));
    EXPECT_FALSE(disturbed);   // it has seen that beforehand
    leave_shared(lock);
    leave_shared(lock);
    EXPECT_TRUE(try_exclusive(lock, 2, true, node.others(), disturbed));
    EXPECT_FALSE(try_shared(lock));
}

TEST(Lock, all_and_exclusive_keep_each_other_out) {
    Node node;
    Word& exclusive = node.control[0].exclusive.word;
    bool disturbed = false;
    auto const lock_exclusively = [&](std::size_t part, int holder, bool patient = true) {
        return try_exclusive(node.control[part].lock.word, holder, patient, node.others(), disturbed);
    };
    auto const lock_all = [&](Word& all) { return begin_all(all), try_all(all, exclusive, disturbed); };
    EXPECT_TRUE(lock_all(node.control[3].all.word));
    EXPECT_TRUE(lock_all(node.control[0].remote_all.word));
    EXPECT_TRUE(lock_all(node.control[0].remote_all.word));
    for (Word* const all :
         {&node.control[3].all.word, &node.control[0].remote_all.word, &node.control[0].remote_all.word}) {
        EXPECT_FALSE(lock_exclusively(1, 0));
        EXPECT_FALSE(lock_exclusively(1, 0, false));
        leave_all(*all);
    }
    EXPECT_TRUE(lock_exclusively(1, 0));
    EXPECT_FALSE(lock_all(node.control[3].all.word));
    // Ranks that wait to lock all do not keep the holder from a second lock, and no other rank for long.
    EXPECT_TRUE(lock_exclusively(2, 0));
    EXPECT_FALSE(lock_exclusively(3, 1));
    EXPECT_TRUE(lock_exclusively(3, 1, false));
    leave_exclusive(node.control[3].lock.word, exclusive);
    // They do once the holder has given both back.
    leave_exclusive(node.control[1].lock.word, exclusive);
    EXPECT_TRUE(lock_exclusively(1, 0));
    leave_exclusive(node.control[1].lock.word, exclusive);
    leave_exclusive(node.control[2].lock.word, exclusive);
    EXPECT_FALSE(lock_exclusively(2, 0));
    EXPECT_EQ(exclusive.load(), 0U);
}

TEST(Lock, one_that_steps_back_keeps_its_turn) {
    Node node;
    Word &all = node.control[2].all.word, &exclusive = node.control[0].exclusive.word,
         &lock = node.control[1].lock.word;
    bool disturbed = false;
    begin_all(all);
    EXPECT_TRUE(try_all(all, exclusive, disturbed));
    step_back(all);
    EXPECT_FALSE(try_exclusive(lock, 0, true, node.others(), disturbed));
    EXPECT_TRUE(try_exclusive(lock, 0, false, node.others(), disturbed));
    EXPECT_FALSE(try_all(all, exclusive, disturbed));
    leave_exclusive(lock, exclusive);
    EXPECT_TRUE(try_all(all, exclusive, disturbed));
    leave_all(all);
    begin_all(all);
    leave_all(all, false);
    EXPECT_EQ(all.load(), 0U);
}

}   // namespace
