// SPDX-License-Identifier: BSD-3-Clause
// Threads that sleep until another one wakes them, and all that only look like those.
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

TEST(FutexSleep, IsAWaitWithoutATimeLimit) {
    FutexSleep const private_one = futex_sleep_in("202 0x55ea2eb470a0 0x189 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n");
    EXPECT_EQ(private_one.word, 0x55ea2eb470a0u);
    EXPECT_FALSE(private_one.shared);
    FutexSleep const join = futex_sleep_in("202 0x7f1e5eeba990 0x109 0x25d 0x0 0x0 0xffffffff 0x7ffe 0x7f1e\n");
    EXPECT_EQ(join.word, 0x7f1e5eeba990u);
    EXPECT_TRUE(join.shared);
}

TEST(FutexSleep, IsNothingElse) {
    for (char const* line :
         {"running\n", "-1 0x7ffe 0x7f1e\n", "", "202 0x1 0x2\n", "202 x x x x \n",
          "202 0x55ea2eb470a0 0x189 0x0 0x7ffe48464540 0x0 0xffffffff 0x7f1e 0x7f2e\n",   // with a time limit
          "202 0x55ea2eb470a0 0x81 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n",               // FUTEX_WAKE
          "202 0x55ea2eb470a0 0x86 0x0 0x0 0x0 0xffffffff 0x7f1e 0x7f2e\n",               // FUTEX_LOCK_PI
          "230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f1e\n"})                              // clock_nanosleep
        EXPECT_EQ(futex_sleep_in(line).word, 0u) << line;
}

TEST(Mapping, IsTheOneThatTheAddressLiesIn) {
    constexpr std::string_view maps =
        "1000-2000 r-xp 0 00:00 0 /a\n2000-3000 rw-s 0 00:00 0 /b\n5000-6000 rw-p 0 0 0\n";
    EXPECT_EQ(mapping_in(maps, 0x1fff), "1000-2000 r-xp 0 00:00 0 /a");
    EXPECT_EQ(mapping_in(maps, 0x2000), "2000-3000 rw-s 0 00:00 0 /b");
    EXPECT_EQ(mapping_in(maps, 0x5fff), "5000-6000 rw-p 0 0 0");
    EXPECT_EQ(mapping_in(maps, 0x4000), "");
}

/// The answers of a thread that stands for all that wait in MPI; this thread sleeps in its join.
class OtherThreads : public testing::Test {
protected:
    void SetUp() override {   // a sanitizer has a thread of its own
        std::filesystem::directory_iterator const tasks("/proc/self/task");
        if (std::distance(begin(tasks), end(tasks)) != 1) GTEST_SKIP() << "there are threads that are not the test's";
    }

    static bool asked() {
        pid_t const me = gettid();
        return others_may_act({&me, 1}, 10);
    }
    /// Once the others have come to where they sleep. `as_long_as`: what is not the answer yet.
    static bool answer(bool as_long_as) {
        bool may_act = as_long_as;
        std::thread([&] {
            auto const end = std::chrono::steady_clock::now() + (as_long_as ? 60s : 1s);
            while (may_act == as_long_as && std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(1ms);
                may_act = asked();
            }
        }).join();
        return may_act;
    }
    /// Never, while another thread does this until the flag is true.
    static bool may_always_act(std::function<void(std::atomic<bool> const&)> body) {
        std::atomic<bool> end = false;
        std::thread other([&] { body(end); });
        bool ever_not = false;
        std::thread([&] {
            for (int i = 0; i < 200; ++i) {
                std::this_thread::sleep_for(1ms);
                ever_not |= !asked();
            }
        }).join();
        end = true;
        other.join();
        return !ever_not;
    }
};

TEST_F(OtherThreads, WhoJoinsAThreadThatWaitsActsNoMore) { EXPECT_FALSE(answer(true)); }

TEST_F(OtherThreads, ManyAreNotLookedAt) {
    bool may_act = false;
    std::thread([&] {
        pid_t const me = gettid();
        may_act = others_may_act({&me, 1}, 0);
    }).join();
    EXPECT_TRUE(may_act);
}

TEST_F(OtherThreads, NobodyElseIsThere) {
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
    EXPECT_FALSE(answer(true));
    end.set_value();
    sem_post(&semaphore);
    for (std::thread& one : workers) one.join();
}

TEST_F(OtherThreads, WhoSleepsForATimeMayAct) {
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

TEST_F(OtherThreads, WhoComputesMayAct) {
    EXPECT_TRUE(may_always_act([](auto const& end) {
        while (!end) {}
    }));
}

TEST_F(OtherThreads, WhoWaitsForAFileMayAct) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::thread reader([&] {
        char byte;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    });
    EXPECT_TRUE(answer(false));
    EXPECT_EQ(write(ends[1], "", 1), 1);
    reader.join();
    close(ends[0]);
    close(ends[1]);
}

TEST_F(OtherThreads, WhomAnotherProcessMayWakeMayAct) {
    auto* const semaphore =
        static_cast<sem_t*>(mmap(nullptr, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(semaphore, MAP_FAILED);
    sem_init(semaphore, 1, 0);
    std::thread sleeper([&] { sem_wait(semaphore); });
    EXPECT_TRUE(answer(false));
    sem_post(semaphore);
    sleeper.join();
    munmap(semaphore, sizeof *semaphore);
}

TEST_F(OtherThreads, WhomASignalMayWakeMayAct) {
    auto const before = std::signal(SIGUSR1, [](int) {});
    EXPECT_TRUE(answer(false));
    std::signal(SIGUSR1, before);
    EXPECT_FALSE(answer(true)) << "nothing handles it any more";
}

TEST_F(OtherThreads, WhoHandlesFaultsIsNotWoken) {
    auto const before = std::signal(SIGSEGV, [](int) { _exit(1); });
    EXPECT_FALSE(answer(true));
    std::signal(SIGSEGV, before);
}

TEST_F(OtherThreads, TwoThatTakeTurnsMayAct) {
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
