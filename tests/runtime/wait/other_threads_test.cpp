// SPDX-License-Identifier: BSD-3-Clause
// Detection of threads that sleep until another thread wakes them, and of threads that only appear to do so.
#include "runtime/wait/other_threads.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(FutexSleep, IsAWaitWithoutATimeout) {
    FutexSleep const private_one = parse_futex_sleep("202 0x55ea2eb470a0 0x189 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n");
    EXPECT_EQ(private_one.word, 0x55ea2eb470a0u);
    EXPECT_FALSE(private_one.shared);
    FutexSleep const join = parse_futex_sleep("202 0x7f1e5eeba990 0x109 0x25d 0x0 0x0 0xffffffff 0x7ffe 0x7f1e\n");
    EXPECT_EQ(join.word, 0x7f1e5eeba990u);
    EXPECT_TRUE(join.shared);
}

TEST(FutexSleep, IsNothingElse) {
    for (char const* line :
         {"running\n", "-1 0x7ffe 0x7f1e\n", "", "202 0x1 0x2\n", "202 x x x x \n",
          "202 0x55ea2eb470a0 0x189 0x0 0x7ffe48464540 0x0 0xffffffff 0x7f1e 0x7f2e\n",   // with a timeout
          "202 0x55ea2eb470a0 0x81 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n",               // FUTEX_WAKE
          "202 0x55ea2eb470a0 0x86 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n",               // FUTEX_LOCK_PI
          "230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f1e\n"})                              // clock_nanosleep
        EXPECT_EQ(parse_futex_sleep(line).word, 0u) << line;
}

/// Queries in a thread that represents the threads that wait in MPI; this thread sleeps in its join.
class OtherThreads : public testing::Test {
protected:
    void SetUp() override {   // a sanitizer has its own thread
        std::filesystem::directory_iterator const tasks("/proc/self/task");
        if (std::distance(begin(tasks), end(tasks)) != 1) GTEST_SKIP() << "the process has threads besides the test's";
    }

    static bool query() {
        pid_t const me = gettid();
        return others_may_act({&me, 1}, 10);
    }
    /// The final result, after the other threads have gone to sleep; waits while the result is `as_long_as`.
    static bool final_result(bool as_long_as) {
        bool may_act = as_long_as;
        std::thread([&] {
            auto const end = std::chrono::steady_clock::now() + (as_long_as ? 60s : 1s);
            while (may_act == as_long_as && std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(1ms);
                may_act = query();
            }
        }).join();
        return may_act;
    }
    /// Returns whether all queries report that a thread may act, while another thread runs `body` until the flag is
    /// true.
    static bool may_always_act(std::function<void(std::atomic<bool> const&)> body) {
        std::atomic<bool> end = false;
        std::thread other([&] { body(end); });
        bool ever_not = false;
        std::thread([&] {
            for (int i = 0; i < 200; ++i) {
                std::this_thread::sleep_for(1ms);
                ever_not |= !query();
            }
        }).join();
        end = true;
        other.join();
        return !ever_not;
    }
};

TEST_F(OtherThreads, AThreadThatJoinsAWaitingThreadCannotAct) { EXPECT_FALSE(final_result(true)); }

TEST_F(OtherThreads, ManyAreNotInspected) {
    bool may_act = false;
    std::thread([&] {
        pid_t const me = gettid();
        may_act = others_may_act({&me, 1}, 0);
    }).join();
    EXPECT_TRUE(may_act);
}

TEST_F(OtherThreads, NoOtherThreadExists) {
    std::thread main_waits([main = getpid()] {
        pid_t const all[] = {main, gettid()};
        EXPECT_FALSE(others_may_act(all, 0));
    });
    main_waits.join();
}

TEST_F(OtherThreads, IdleWorkersSleep) {
    std::promise<void> end;
    std::shared_future<void> const ended = end.get_future();
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) workers.emplace_back([ended] { ended.wait(); });
    workers.emplace_back([&] { sem_wait(&semaphore); });
    EXPECT_FALSE(final_result(true));
    end.set_value();
    sem_post(&semaphore);
    for (std::thread& one : workers) one.join();
}

TEST_F(OtherThreads, ATimedSleeperMayAct) {
    EXPECT_TRUE(may_always_act([](auto const& end) {
        while (!end) std::this_thread::sleep_for(50ms);
    }));
    EXPECT_TRUE(may_always_act([](auto const& end) {
        std::mutex mutex;
        std::condition_variable changed;
        std::unique_lock lock(mutex);
        while (!end) changed.wait_for(lock, 50ms);
    }));
}

TEST_F(OtherThreads, AComputingThreadMayAct) {
    EXPECT_TRUE(may_always_act([](auto const& end) {
        while (!end) {}
    }));
}

TEST_F(OtherThreads, AThreadThatWaitsForAFileMayAct) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::thread reader([&] {
        char byte;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    });
    EXPECT_TRUE(final_result(false));
    EXPECT_EQ(write(ends[1], "", 1), 1);
    reader.join();
    close(ends[0]);
    close(ends[1]);
}

TEST_F(OtherThreads, AThreadThatAnotherProcessMayWakeMayAct) {
    auto* const semaphore =
        static_cast<sem_t*>(mmap(nullptr, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(semaphore, MAP_FAILED);
    sem_init(semaphore, 1, 0);
    std::thread sleeper([&] { sem_wait(semaphore); });
    EXPECT_TRUE(final_result(false));
    sem_post(semaphore);
    sleeper.join();
    munmap(semaphore, sizeof *semaphore);
}

TEST_F(OtherThreads, AThreadThatASignalMayWakeMayAct) {
    auto const before = std::signal(SIGUSR1, [](int) {});
    EXPECT_TRUE(final_result(false));
    std::signal(SIGUSR1, before);
    EXPECT_FALSE(final_result(true)) << "the signal has no handler any longer";
}

TEST_F(OtherThreads, AFaultHandlerIsNotWoken) {
    auto const before = std::signal(SIGSEGV, [](int) { _exit(1); });
    EXPECT_FALSE(final_result(true));
    std::signal(SIGSEGV, before);
}

TEST_F(OtherThreads, TwoThreadsThatWakeEachOtherMayAct) {
    EXPECT_TRUE(may_always_act([](auto const& end) {
        sem_t ping, pong;
        sem_init(&ping, 0, 0);
        sem_init(&pong, 0, 0);
        bool over = false;
        std::thread other([&] {
            for (sem_wait(&ping); !over; sem_wait(&ping)) sem_post(&pong);
        });
        while (!end) {
            sem_post(&ping);
            sem_wait(&pong);
        }
        over = true;
        sem_post(&ping);
        other.join();
    }));
}

}   // namespace
}   // namespace tutti
