// SPDX-License-Identifier: BSD-3-Clause
// The progress thread: when it polls, when it sleeps, how it ends.
#include "runtime/wait/progress_thread.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>

#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/process.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Is pending until it has been polled `left` times.
struct Work : Pollable {
    int left = 0, polled = 0;   // not atomic: protected by the lock
    bool poll() override { return ++polled, left > 0 && (--left, true); }
    bool is_quiescent() const override { return left == 0; }
};

Variables waiting(char const* how) {
    Variables v;
    v.wait = how;
    v.sleep_after = 1;
    return v;
}

class ProgressThreads : public ::testing::TestWithParam<char const*> {};
INSTANTIATE_TEST_SUITE_P(Policies, ProgressThreads, ::testing::Values("dedicated", "shared"));

/// Fails with bad_alloc `refusals` times before it makes progress.
struct Starved : Pollable {
    int refusals = 0, left = 0;
    bool poll() override {
        if (left > 0 && refusals > 0) --refusals, throw std::bad_alloc();
        return left > 0 && (--left, true);
    }
    bool is_quiescent() const override { return left == 0; }
};

TEST_P(ProgressThreads, ContinueWhenMemoryIsAvailable) {
    Segment s = Segment::create(1);
    Process process(s, 0, waiting(GetParam()));
    Starved work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    for (int round = 0; round < 3; ++round) {
        process.waiter.enter();
        work.refusals = 3;
        work.left = 10;
        process.waiter.announce_operation();
        process.waiter.leave();
        for (bool rest = false; !rest; std::this_thread::yield()) {
            RankLock::ScopedLock guard(process.lock);
            rest = work.is_quiescent();
        }
    }
    process.progress_thread.reset();
    EXPECT_EQ(work.refusals, 0);
    process.waiter.detach(&work);
}

TEST_P(ProgressThreads, FinishStartedOperations) {
    Segment s = Segment::create(1);
    Process process(s, 0, waiting(GetParam()));
    Work work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    for (int round = 1; round <= 20; ++round) {
        process.waiter.enter();
        work.left = 50;
        process.waiter.announce_operation();
        process.waiter.leave();
        for (bool rest = false; !rest; std::this_thread::yield()) {
            RankLock::ScopedLock guard(process.lock);
            rest = work.is_quiescent();
        }
    }
    process.progress_thread.reset();
    EXPECT_EQ(work.left, 0);
    EXPECT_EQ(process.rank_state().asleep.load(), 0u);
    EXPECT_EQ(s.header().sleeping(), 0u);
    process.waiter.detach(&work);
}

TEST(ProgressThread, PollsByItselfIfThereAreMoreRanksThanCores) {
    Segment s = Segment::create(2);
    s.header().usable_cores = 1;
    Process process(s, 0, waiting("auto"));
    Work work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    for (int round = 1; round <= 20; ++round) {
        {
            RankLock::ScopedLock guard(process.lock);
            work.left = 50;
            process.waiter.announce_operation();
        }
        for (bool rest = false; !rest; std::this_thread::yield()) {
            RankLock::ScopedLock guard(process.lock);
            rest = work.is_quiescent();
        }
        if (round == 10) std::this_thread::sleep_for(50ms);   // until the thread sleeps and must be woken
    }
    process.progress_thread.reset();
    EXPECT_EQ(work.left, 0);
    process.waiter.detach(&work);
}

TEST_P(ProgressThreads, SleepWithoutPendingOperations) {
    Segment s = Segment::create(1);
    Process process(s, 0, waiting(GetParam()));
    Work work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    std::this_thread::sleep_for(20ms);
    process.progress_thread.reset();
    EXPECT_EQ(work.polled, 0);
    process.waiter.detach(&work);
}

TEST_P(ProgressThreads, LeaveProgressToAWaitingThread) {
    Segment s = Segment::create(1);
    Process process(s, 0, waiting(GetParam()));
    Work work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    for (int round = 0; round < 50; ++round) {
        process.waiter.enter();
        work.left = 20;
        process.waiter.announce_operation();
        process.waiter.wait_until([&] { return work.is_quiescent(); }, {"test"});
        EXPECT_EQ(work.left, 0);
        process.waiter.leave();
    }
    process.waiter.enter();
    process.progress_thread.reset();   // also with the lock held
    process.waiter.leave();
    process.waiter.detach(&work);
}

TEST_P(ProgressThreads, AreWokenByOtherRanks) {
    Segment s = Segment::create(2);
    Process process(s, 0, waiting(GetParam())), other(s, 1, waiting(GetParam()));
    struct FlagWork : Work {
        Flag flag;
        std::uint64_t seen = 0;
        bool poll() override { return left > 0 && flag.reached(seen + 1) && (++seen, --left, true); }
    } work;
    process.waiter.attach(&work);
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    process.waiter.enter();
    work.left = 30;
    process.waiter.announce_operation();
    process.waiter.leave();
    for (std::uint64_t i = 1; i <= 30; ++i) {
        while (s.rank_state(0).asleep.load() == 0) std::this_thread::yield();
        work.flag.publish(i);
        other.waiter.wake_sleepers();
        for (bool seen = false; !seen; std::this_thread::yield()) {
            RankLock::ScopedLock guard(process.lock);
            seen = work.seen == i;
        }
    }
    process.progress_thread.reset();
    EXPECT_EQ(work.left, 0);
    process.waiter.detach(&work);
}

TEST(ProgressThread, GetsNoSignals) {
    static thread_local bool here = false;
    static std::atomic<int> right = 0, wrong = 0;
    here = true;
    struct sigaction count {
    }, before{};
    count.sa_handler = [](int) { ++(here ? right : wrong); };
    sigaction(SIGUSR1, &count, &before);
    Segment s = Segment::create(1);
    Process process(s, 0, waiting("shared"));
    process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    for (int i = 0; i < 20; ++i) kill(getpid(), SIGUSR1);
    while (right + wrong == 0) std::this_thread::sleep_for(1ms);
    process.progress_thread.reset();
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_GT(right, 0);
    EXPECT_EQ(wrong, 0);
}

}   // namespace
}   // namespace tutti
