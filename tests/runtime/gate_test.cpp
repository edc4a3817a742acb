// SPDX-License-Identifier: BSD-3-Clause
// The gate: one inside at a time, entering again, letting go, handing over, sleeping.
#include "runtime/gate.hpp"

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

TEST(Gate, LetsEverybodyPassUntilItIsOpened) {
    Gate gate;
    EXPECT_FALSE(gate.on());
    gate.enter();
    std::thread([&] { Gate::Inside inside(gate); }).join();   // would hang
    EXPECT_EQ(gate.let_go(), 0u);
    gate.leave();
}

TEST(Gate, HasOneThreadInsideAtATime) {
    Gate gate;
    gate.open();
    int inside = 0, most = 0, entries = 0;   // plain: the gate protects them
    in_threads(4, [&](int) {
        for (int i = 0; i < 20000; ++i) {
            gate.enter();
            most = std::max(most, ++inside);
            ++entries;
            --inside;
            gate.leave();
        }
    });
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entries, 80000);
}

TEST(Gate, CanBeEnteredAgainByTheThreadInside) {
    Gate gate;
    gate.open();
    bool other_was_inside = false;
    gate.enter();
    gate.enter();
    gate.enter();
    std::thread other([&] {
        Gate::Inside inside(gate);
        other_was_inside = true;
    });
    gate.leave();
    gate.leave();
    std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(other_was_inside) << "two of three leaves have opened the gate";
    gate.leave();
    other.join();
    EXPECT_TRUE(other_was_inside);
}

TEST(Gate, IsLetGoAndTakenBackHoweverOftenItWasEntered) {
    Gate gate;
    gate.open();
    EXPECT_EQ(gate.let_go(), 0u) << "was not inside";
    gate.enter();
    gate.enter();
    {
        Gate::Outside outside(gate);
        std::thread([&] { Gate::Inside inside(gate); }).join();
        EXPECT_EQ(gate.let_go(), 0u);
    }
    EXPECT_EQ(gate.let_go(), 2u);
    gate.take_back(2);
    gate.leave();
    gate.leave();
    EXPECT_EQ(gate.let_go(), 0u);
    std::thread([&] { Gate::Inside inside(gate); }).join();
}

TEST(Gate, WakesThoseWhoSleepBeforeIt) {
    Gate gate;
    gate.open();
    for (int round = 0; round < 10; ++round) {
        int passed = 0;
        gate.enter();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                Gate::Inside inside(gate);
                ++passed;
            });
        while (!gate.wanted()) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);   // they sleep, and starve
        gate.leave();
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(passed, 4);
        EXPECT_FALSE(gate.wanted());
    }
}

TEST(Gate, IsHandedOverByAThreadThatPolls) {
    Gate gate;
    gate.open();
    int turns = 0;   // plain: the gate protects it
    std::atomic<bool> finished = false;
    gate.enter();
    std::thread other([&] {
        for (int i = 0; i < 100; ++i) {
            Gate::Inside inside(gate);
            ++turns;
        }
        finished = true;
    });
    while (!finished)
        if (gate.wanted()) {
            int const before = turns;
            gate.hand_over();
            EXPECT_GT(turns, before) << "nobody had a turn";
        }
    EXPECT_EQ(turns, 100);
    gate.leave();
    other.join();
}

TEST(Gate, IsNotKeptByAThreadThatAlwaysComesBack) {
    Gate gate;
    gate.open();
    std::atomic<bool> stop = false;
    std::atomic<int> ready = 0;
    in_threads(3, [&](int who) {
        if (who == 2) {   // gets in although the others leave and enter without a pause
            while (ready < 2) std::this_thread::yield();
            for (int i = 0; i < 50; ++i) Gate::Inside inside(gate);
            stop = true;
        } else {
            ++ready;
            while (!stop) Gate::Inside inside(gate);
        }
    });
    EXPECT_FALSE(gate.wanted());
}

TEST(GateEntries, AreThoseOfAllThreadsAndNotTheNestedOnes) {
    Gate gate;
    gate.open();
    Gate::Inside inside(gate);
    unsigned const before = gate.entries();
    { Gate::Inside again(gate); }
    EXPECT_EQ(gate.entries(), before);
    {
        Gate::Outside outside(gate);
        std::thread([&] { for (int i = 0; i < 10; ++i) Gate::Inside other(gate); }).join();
    }
    EXPECT_EQ(gate.entries() - before, 11u) << "ten times the other thread, and once this one coming back";
}

}  // namespace
}  // namespace tutti
