// SPDX-License-Identifier: BSD-3-Clause
// A process differs from a later one with the same PID, and processes other than its parent detect its end.
#include "runtime/base/process_identity.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

namespace tutti {
namespace {

/// A process that sleeps until it is killed.
pid_t sleeper() {
    pid_t const child = fork();
    while (child == 0) pause();
    return child;
}

TEST(ProcessIdentity, is_the_pid_and_the_start_time) {
    ProcessIdentity const me = ProcessIdentity::of(getpid());
    EXPECT_EQ(me.pid(), getpid());
    EXPECT_EQ(me.word(), ProcessIdentity::of(getpid()).word());
    EXPECT_NE(me.word(), static_cast<std::uint64_t>(getpid()));   // the start time is known
    EXPECT_TRUE(me.is_current());
    pid_t const child = sleeper();
    EXPECT_EQ(ProcessIdentity::of(child).pid(), child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(ProcessWatch, detects_the_end_of_a_process) {
    pid_t const child = sleeper();
    ProcessWatch watch(ProcessIdentity::of(child));
    EXPECT_TRUE(watch.is_alive());
    ProcessWatch moved(std::move(watch));
    EXPECT_TRUE(moved.is_alive());
    kill(child, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);   // it stays a zombie
    EXPECT_FALSE(moved.is_alive());
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(moved.is_alive());
    EXPECT_FALSE(ProcessWatch(ProcessIdentity(moved.process().word())).is_alive());
}

TEST(ProcessWatch, is_not_confused_by_a_process_with_the_same_pid) {
    std::uint64_t const me = ProcessIdentity::of(getpid()).word(), earlier = me - (std::uint64_t{1} << 22);
    EXPECT_EQ(ProcessIdentity(earlier).pid(), getpid());
    EXPECT_FALSE(ProcessIdentity(earlier).is_current());
    EXPECT_FALSE(ProcessWatch(ProcessIdentity(earlier)).is_alive());
    EXPECT_TRUE(ProcessWatch(ProcessIdentity(me)).is_alive());
    EXPECT_TRUE(ProcessWatch(ProcessIdentity(static_cast<std::uint64_t>(getpid()))).is_alive());   // no start time
}

}   // namespace
}   // namespace tutti
