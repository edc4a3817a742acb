// SPDX-License-Identifier: BSD-3-Clause
// A process differs from a later one with the same number, and processes that are not its parent notice its end.
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

TEST(ProcessIdentity, is_the_number_and_the_start) {
    ProcessIdentity const me = ProcessIdentity::of(getpid());
    EXPECT_EQ(me.pid(), getpid());
    EXPECT_EQ(me.word(), ProcessIdentity::of(getpid()).word());
    EXPECT_NE(me.word(), static_cast<std::uint64_t>(getpid()));   // the start is known
    EXPECT_TRUE(me.is_current());
    pid_t const child = sleeper();
    EXPECT_EQ(ProcessIdentity::of(child).pid(), child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(ProcessWatch, sees_the_end_of_a_process) {
    pid_t const child = sleeper();
    ProcessWatch watch(ProcessIdentity::of(child));
    EXPECT_TRUE(watch.lives());
    ProcessWatch moved(std::move(watch));
    EXPECT_TRUE(moved.lives());
    kill(child, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);   // it stays a zombie
    EXPECT_FALSE(moved.lives());
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(moved.lives());
    EXPECT_FALSE(ProcessWatch(ProcessIdentity(moved.process().word())).lives());
}

TEST(ProcessWatch, is_not_deceived_by_a_process_that_has_got_the_number) {
    std::uint64_t const me = ProcessIdentity::of(getpid()).word(), earlier = me - (std::uint64_t{1} << 22);
    EXPECT_EQ(ProcessIdentity(earlier).pid(), getpid());
    EXPECT_FALSE(ProcessIdentity(earlier).is_current());
    EXPECT_FALSE(ProcessWatch(ProcessIdentity(earlier)).lives());
    EXPECT_TRUE(ProcessWatch(ProcessIdentity(me)).lives());
    EXPECT_TRUE(ProcessWatch(ProcessIdentity(static_cast<std::uint64_t>(getpid()))).lives());   // no start is known
}

}   // namespace
}   // namespace tutti
