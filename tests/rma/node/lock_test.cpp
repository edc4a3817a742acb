// SPDX-License-Identifier: BSD-3-Clause
// Locks of a window's parts: who may be inside together, with threads that try all of them at once.
#include "rma/node/lock.hpp"

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
    Others others(int me) { return {all, &control[static_cast<std::size_t>(me)], control[0].exclusive.word}; }
    void look(std::size_t target) { ASSERT_EQ(guarded[target][0], guarded[target][1]); }
};

void exclusive_turn(Node& node, int me, std::size_t target, long& done) {
    Word& lock = node.control[target].lock.word;
    bool disturbed = false;
    while (!try_exclusive(lock, me, node.others(me), disturbed)) std::this_thread::yield();
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
    if (!begin_all(mine, exclusive))
        while (exclusive.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
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
    EXPECT_FALSE(try_exclusive(lock, 2, node.others(2), disturbed));
    EXPECT_FALSE(disturbed);   // it has seen that beforehand
    leave_shared(lock);
    leave_shared(lock);
    EXPECT_TRUE(try_exclusive(lock, 2, node.others(2), disturbed));
    EXPECT_FALSE(try_shared(lock));
}

TEST(Lock, all_and_exclusive_keep_each_other_out) {
    Node node;
    Word& exclusive = node.control[0].exclusive.word;
    bool disturbed = false;
    EXPECT_TRUE(begin_all(node.control[3].all.word, exclusive));
    EXPECT_TRUE(begin_all(node.control[2].all.word, exclusive));
    EXPECT_FALSE(try_exclusive(node.control[1].lock.word, 0, node.others(0), disturbed));
    leave_all(node.control[3].all.word);
    EXPECT_FALSE(try_exclusive(node.control[1].lock.word, 0, node.others(0), disturbed));
    leave_all(node.control[2].all.word);
    EXPECT_TRUE(try_exclusive(node.control[1].lock.word, 0, node.others(0), disturbed));
    EXPECT_FALSE(begin_all(node.control[3].all.word, exclusive));
    // Who waits to lock everybody does not keep the holder from a second one.
    EXPECT_TRUE(try_exclusive(node.control[2].lock.word, 0, node.others(0), disturbed));
    EXPECT_FALSE(try_exclusive(node.control[3].lock.word, 1, node.others(1), disturbed));
    // It does once the holder has given both back.
    leave_exclusive(node.control[1].lock.word, exclusive);
    EXPECT_TRUE(try_exclusive(node.control[1].lock.word, 0, node.others(0), disturbed));
    leave_exclusive(node.control[1].lock.word, exclusive);
    leave_exclusive(node.control[2].lock.word, exclusive);
    EXPECT_FALSE(try_exclusive(node.control[2].lock.word, 0, node.others(0), disturbed));
    EXPECT_EQ(exclusive.load(), 0U);
}

}   // namespace
