// SPDX-License-Identifier: BSD-3-Clause
// The lock: one inside at a time, entering again, letting go, handing over, sleeping.
#include "runtime/wait/rank_lock.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

template <class Body>
void in_threads(int n, Body const& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
    for (std::thread& t : threads) t.join();
}

TEST(RankLock, LetsEverybodyPassUntilItIsOpened) {
    RankLock lock;
    EXPECT_FALSE(lock.on());
    lock.enter();
    std::thread([&] { RankLock::Inside inside(lock); }).join();   // would hang
    EXPECT_EQ(lock.let_go(), 0u);
    lock.leave();
}

TEST(RankLock, HasOneThreadInsideAtATime) {
    RankLock lock;
    lock.open();
    int inside = 0, most = 0, entries = 0;   // plain: the lock protects them
    in_threads(4, [&](int) {
        for (int i = 0; i < 20000; ++i) {
            lock.enter();
            most = std::max(most, ++inside);
            ++entries;
            --inside;
            lock.leave();
        }
    });
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entries, 80000);
}

TEST(RankLock, CanBeEnteredAgainByTheThreadInside) {
    RankLock lock;
    lock.open();
    bool other_was_inside = false;
    lock.enter();
    lock.enter();
    lock.enter();
    std::thread other([&] {
        RankLock::Inside inside(lock);
        other_was_inside = true;
    });
    lock.leave();
    lock.leave();
    std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(other_was_inside) << "two of three leaves have opened the lock";
    lock.leave();
    other.join();
    EXPECT_TRUE(other_was_inside);
}

TEST(RankLock, IsLetGoAndTakenBackHoweverOftenItWasEntered) {
    RankLock lock;
    lock.open();
    EXPECT_EQ(lock.let_go(), 0u) << "was not inside";
    lock.enter();
    lock.enter();
    {
        RankLock::Outside outside(lock);
        std::thread([&] { RankLock::Inside inside(lock); }).join();
        EXPECT_EQ(lock.let_go(), 0u);
    }
    EXPECT_EQ(lock.let_go(), 2u);
    lock.take_back(2);
    lock.leave();
    lock.leave();
    EXPECT_EQ(lock.let_go(), 0u);
    std::thread([&] { RankLock::Inside inside(lock); }).join();
}

TEST(RankLock, WakesThoseWhoSleepBeforeIt) {
    RankLock lock;
    lock.open();
    for (int round = 0; round < 10; ++round) {
        int passed = 0;
        lock.enter();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                RankLock::Inside inside(lock);
                ++passed;
            });
        while (!lock.wanted()) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);   // they sleep, and starve
        lock.leave();
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(passed, 4);
        EXPECT_FALSE(lock.wanted());
    }
}

TEST(RankLock, IsHandedOverByAThreadThatPolls) {
    RankLock lock;
    lock.open();
    int turns = 0;   // plain: the lock protects it
    std::atomic<bool> finished = false;
    lock.enter();
    std::thread other([&] {
        for (int i = 0; i < 100; ++i) {
            RankLock::Inside inside(lock);
            ++turns;
        }
        finished = true;
    });
    while (!finished)
        if (lock.wanted()) {
            int const before = turns;
            lock.hand_over();
            EXPECT_GT(turns, before) << "nobody had a turn";
        }
    EXPECT_EQ(turns, 100);
    lock.leave();
    other.join();
}

TEST(RankLock, IsNotKeptByAThreadThatAlwaysComesBack) {
    RankLock lock;
    lock.open();
    std::atomic<bool> stop = false;
    std::atomic<int> ready = 0;
    in_threads(3, [&](int who) {
        if (who == 2) {   // gets in although the others leave and enter without a pause
            while (ready < 2) std::this_thread::yield();
            for (int i = 0; i < 50; ++i) RankLock::Inside inside(lock);
            stop = true;
        } else {
            ++ready;
            while (!stop) RankLock::Inside inside(lock);
        }
    });
    EXPECT_FALSE(lock.wanted());
}

TEST(RankLockEntries, AreThoseOfAllThreadsAndNotTheNestedOnes) {
    RankLock lock;
    lock.open();
    RankLock::Inside inside(lock);
    unsigned const before = lock.entries();
    { RankLock::Inside again(lock); }
    EXPECT_EQ(lock.entries(), before);
    {
        RankLock::Outside outside(lock);
        std::thread([&] {
            for (int i = 0; i < 10; ++i) RankLock::Inside other(lock);
        }).join();
    }
    EXPECT_EQ(lock.entries() - before, 11u) << "ten times the other thread, and once this one coming back";
}

}   // namespace
}   // namespace tutti
