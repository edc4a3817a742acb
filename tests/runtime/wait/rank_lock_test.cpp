// SPDX-License-Identifier: BSD-3-Clause
// The rank's lock: mutual exclusion, reentry, release at any depth, handover, sleeping waiters.
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

TEST(RankLock, DoesNotLockUntilItIsEnabled) {
    RankLock lock;
    EXPECT_FALSE(lock.is_enabled());
    lock.enter();
    std::thread([&] { RankLock::ScopedLock guard(lock); }).join();   // would hang
    EXPECT_EQ(lock.release(), 0u);
    lock.leave();
}

TEST(RankLock, HasOneThreadInsideAtATime) {
    RankLock lock;
    lock.enable();
    int inside = 0, most = 0, entries = 0;   // not atomic: protected by the lock
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

TEST(RankLock, IsReentrant) {
    RankLock lock;
    lock.enable();
    bool other_was_inside = false;
    lock.enter();
    lock.enter();
    lock.enter();
    std::thread other([&] {
        RankLock::ScopedLock guard(lock);
        other_was_inside = true;
    });
    lock.leave();
    lock.leave();
    std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(other_was_inside) << "two of three leaves have released the lock";
    lock.leave();
    other.join();
    EXPECT_TRUE(other_was_inside);
}

TEST(RankLock, IsReleasedAndReacquiredAtAnyDepth) {
    RankLock lock;
    lock.enable();
    EXPECT_EQ(lock.release(), 0u) << "was not locked";
    lock.enter();
    lock.enter();
    {
        RankLock::ScopedUnlock unlocked(lock);
        std::thread([&] { RankLock::ScopedLock guard(lock); }).join();
        EXPECT_EQ(lock.release(), 0u);
    }
    EXPECT_EQ(lock.release(), 2u);
    lock.reacquire(2);
    lock.leave();
    lock.leave();
    EXPECT_EQ(lock.release(), 0u);
    std::thread([&] { RankLock::ScopedLock guard(lock); }).join();
}

TEST(RankLock, WakesThreadsThatSleepForIt) {
    RankLock lock;
    lock.enable();
    for (int round = 0; round < 10; ++round) {
        int passed = 0;
        lock.enter();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                RankLock::ScopedLock guard(lock);
                ++passed;
            });
        while (!lock.has_waiters()) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);   // they sleep, and starve
        lock.leave();
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(passed, 4);
        EXPECT_FALSE(lock.has_waiters());
    }
}

TEST(RankLock, IsHandedOverByAThreadThatPolls) {
    RankLock lock;
    lock.enable();
    int turns = 0;   // not atomic: protected by the lock
    std::atomic<bool> finished = false;
    lock.enter();
    std::thread other([&] {
        for (int i = 0; i < 100; ++i) {
            RankLock::ScopedLock guard(lock);
            ++turns;
        }
        finished = true;
    });
    while (!finished)
        if (lock.has_waiters()) {
            int const before = turns;
            lock.hand_over();
            EXPECT_GT(turns, before) << "no thread had a turn";
        }
    EXPECT_EQ(turns, 100);
    lock.leave();
    other.join();
}

TEST(RankLock, IsNotMonopolizedByAThreadThatReenters) {
    RankLock lock;
    lock.enable();
    std::atomic<bool> stop = false;
    std::atomic<int> ready = 0;
    in_threads(3, [&](int who) {
        if (who == 2) {   // must enter although the others leave and enter without a pause
            while (ready < 2) std::this_thread::yield();
            for (int i = 0; i < 50; ++i) RankLock::ScopedLock guard(lock);
            stop = true;
        } else {
            ++ready;
            while (!stop) RankLock::ScopedLock guard(lock);
        }
    });
    EXPECT_FALSE(lock.has_waiters());
}

TEST(RankLockEntries, CountAllThreadsButNotNestedOnes) {
    RankLock lock;
    lock.enable();
    RankLock::ScopedLock guard(lock);
    unsigned const before = lock.entries();
    { RankLock::ScopedLock again(lock); }
    EXPECT_EQ(lock.entries(), before);
    {
        RankLock::ScopedUnlock unlocked(lock);
        std::thread([&] {
            for (int i = 0; i < 10; ++i) RankLock::ScopedLock other(lock);
        }).join();
    }
    EXPECT_EQ(lock.entries() - before, 11u) << "ten by the other thread, and one by this thread's return";
}

}   // namespace
}   // namespace tutti
