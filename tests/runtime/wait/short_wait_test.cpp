// SPDX-License-Identifier: BSD-3-Clause
// Short waits: a lock whose holder loses its core, and words whose writers wake no rank.
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

void enter(ShortLock& lock, std::uint64_t number) {
    if (!lock.try_enter(number)) lock.enter(number, no_check);
}

TEST(PollBriefly, CallsTheConditionAtMostSoOften) {
    int calls = 0;
    EXPECT_FALSE(poll_briefly(5, [&] { return ++calls == 6; }));
    EXPECT_EQ(calls, 5);
    EXPECT_TRUE(poll_briefly(5, [&] { return ++calls == 7; }));
    EXPECT_EQ(calls, 7);
}

TEST(ShortLock, ExcludesAndWakesEachThread) {
    constexpr int threads = 4, rounds = 2000;
    std::atomic<std::uint64_t> word{0};
    int inside = 0, entered = 0;
    std::vector<std::thread> all;
    for (int t = 1; t <= threads; ++t)
        all.emplace_back([&, t] {
            ShortLock lock(word);
            for (int i = 0; i < rounds; ++i) {
                enter(lock, static_cast<std::uint64_t>(t));
                EXPECT_EQ(++inside, 1);
                ++entered;
                if (i % 16 == 0) std::this_thread::yield();   // others find it held for long, and sleep
                --inside;
                lock.leave();
            }
        });
    for (auto& thread : all) thread.join();
    EXPECT_EQ(entered, threads * rounds);
    EXPECT_EQ(word.load(), 0u);
}

TEST(ShortLock, SleepsWhileItIsHeldAndIsWokenByLeaving) {
    std::atomic<std::uint64_t> word{0};
    ShortLock lock(word);
    enter(lock, 1);
    std::thread other([&] {
        ShortLock same(word);
        enter(same, 2);
        EXPECT_EQ(word.load() & ~ShortLock::awaited, 2u) << "the word has the holder's number";
        same.leave();
    });
    while (!(word.load() & ShortLock::awaited)) std::this_thread::yield();
    lock.leave();
    other.join();
    EXPECT_EQ(word.load(), 0u);
}

TEST(ShortLock, AsksWhetherTheHolderIsAlive) {
    std::atomic<std::uint64_t> word{7};   // of a process that has ended
    ShortLock lock(word);
    int asked = 0;
    EXPECT_THROW(lock.enter(1,
                            [&](std::uint64_t holder) {
                                EXPECT_EQ(holder, 7u);
                                if (++asked == 2) throw std::runtime_error("it has ended");
                            }),
                 std::runtime_error);
    EXPECT_EQ(asked, 2);
}

TEST(WaitBriefly, SeesAStoreThatWakesNoThread) {
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

TEST(WaitBriefly, AsksWhetherTheWriterIsAlive) {
    std::atomic<std::uint64_t> const word{0};
    EXPECT_THROW(
        wait_briefly(
            word, [](std::uint64_t value) { return value == 3; }, [] { throw std::runtime_error("it has ended"); }),
        std::runtime_error);
}

}   // namespace
}   // namespace tutti
