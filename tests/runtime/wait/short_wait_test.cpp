// SPDX-License-Identifier: BSD-3-Clause
// Short waits: a lock whose holder may lose its core, and words whose writers wake no thread.
#include "runtime/wait/short_wait.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr auto no_check = [](std::uint64_t = 0) {};

void enter(ProcessSharedLock& lock, std::uint64_t owner) {
    if (!lock.try_enter(owner)) lock.enter(owner, no_check);
}

TEST(PollBriefly, CallsTheConditionAtMostTheGivenNumberOfTimes) {
    int calls = 0;
    EXPECT_FALSE(poll_briefly(5, [&] { return ++calls == 6; }));
    EXPECT_EQ(calls, 5);
    EXPECT_TRUE(poll_briefly(5, [&] { return ++calls == 7; }));
    EXPECT_EQ(calls, 7);
}

TEST(ProcessSharedLock, ExcludesAndWakesEachThread) {
    constexpr int threads = 4, rounds = 2000;
    std::atomic<std::uint64_t> word{0};
    int inside = 0, entered = 0;
    std::vector<std::thread> all;
    for (int t = 1; t <= threads; ++t)
        all.emplace_back([&, t] {
            ProcessSharedLock lock(word);
            for (int i = 0; i < rounds; ++i) {
                enter(lock, static_cast<std::uint64_t>(t));
                EXPECT_EQ(++inside, 1);
                ++entered;
                if (i % 16 == 0) std::this_thread::yield();   // the others find it held for long, and sleep
                --inside;
                lock.leave();
            }
        });
    for (auto& thread : all) thread.join();
    EXPECT_EQ(entered, threads * rounds);
    EXPECT_EQ(word.load(), 0u);
}

TEST(ProcessSharedLock, SleepsWhileItIsHeldAndIsWokenByItsRelease) {
    std::atomic<std::uint64_t> word{0};
    ProcessSharedLock lock(word);
    enter(lock, 1);
    std::thread other([&] {
        ProcessSharedLock same(word);
        enter(same, 2);
        EXPECT_EQ(word.load() & ~ProcessSharedLock::waiter_bit, 2u) << "the word has the holder's number";
        same.leave();
    });
    while (!(word.load() & ProcessSharedLock::waiter_bit)) std::this_thread::yield();
    lock.leave();
    other.join();
    EXPECT_EQ(word.load(), 0u);
}

TEST(ProcessSharedLock, ChecksWhetherTheHolderIsAlive) {
    std::atomic<std::uint64_t> word{7};   // of a process that has ended
    ProcessSharedLock lock(word);
    int checks = 0;
    EXPECT_THROW(lock.enter(1,
                            [&](std::uint64_t holder) {
                                EXPECT_EQ(holder, 7u);
                                if (++checks == 2) throw std::runtime_error("it has ended");
                            }),
                 std::runtime_error);
    EXPECT_EQ(checks, 2);
}

TEST(WaitBriefly, DetectsAStoreThatWakesNoThread) {
    std::atomic<std::uint64_t> word{0};
    std::thread writer([&] {
        std::this_thread::sleep_for(5ms);
        word.store(3, std::memory_order_release);
    });
    wait_briefly(
        word, [](std::uint64_t value) { return value == 3; }, no_check);
    EXPECT_EQ(word.load(), 3u);
    writer.join();
}

TEST(WaitBriefly, ChecksWhetherTheWriterIsAlive) {
    std::atomic<std::uint64_t> const word{0};
    EXPECT_THROW(
        wait_briefly(
            word, [](std::uint64_t value) { return value == 3; }, [] { throw std::runtime_error("it has ended"); }),
        std::runtime_error);
}

TEST(SleepUntil, ReturnsWhenTheConditionIsTrue) {
    int left = 3;
    EXPECT_TRUE(sleep_until(1'000'000'000'000, [&] { return --left == 0; }));
    EXPECT_EQ(left, 0);
}

TEST(SleepUntil, GivesUpAtTheLimitAfterALastCheck) {
    int checks = 0;
    EXPECT_FALSE(sleep_until(1'000'000, [&] { return ++checks == 1000; }));
    EXPECT_GT(checks, 1);
    EXPECT_TRUE(sleep_until(0, [] { return true; }));
}

}   // namespace
}   // namespace tutti
