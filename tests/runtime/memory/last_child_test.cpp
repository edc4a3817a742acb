// SPDX-License-Identifier: BSD-3-Clause
// Whether the last forked child still uses its parent's memory.
#include "runtime/memory/arena/last_child.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace tutti::arena {
namespace {

/// A child that runs `child`, with pipes that signal its start and its permitted end.
struct Running {
    template <class Child>
    Running(LastChild& last, Child child) {
        EXPECT_EQ(pipe(started), 0);
        EXPECT_EQ(pipe(may_end), 0);
        last.mark();
        pid = fork();
        if (pid == 0) {
            last.adopt_in_child();
            close(may_end[1]);
            child(*this);
            _exit(0);
        }
        last.detach_in_parent();
        char c;
        EXPECT_EQ(read(started[0], &c, 1), 1);
    }
    ~Running() {
        close(may_end[1]);
        waitpid(pid, nullptr, 0);
        for (int end : {started[0], started[1], may_end[0]}) close(end);
    }
    void signal_start() {
        if (write(started[1], "x", 1) != 1) _exit(1);
    }
    void wait_for_end() {
        char c;
        if (read(may_end[0], &c, 1) != 0) _exit(1);
    }
    int started[2], may_end[2];
    pid_t pid = 0;
};

TEST(LastChild, IsAliveUntilItEnds) {
    LastChild last;
    EXPECT_FALSE(last.is_alive());
    {
        Running child(last, [](Running& me) {
            for (int descriptor = 64; descriptor < 256; ++descriptor) close(descriptor);   // as some programs do
            me.signal_start();
            me.wait_for_end();
        });
        EXPECT_TRUE(last.is_alive());
        EXPECT_TRUE(last.is_alive()) << "the query has no side effect";
    }
    EXPECT_FALSE(last.is_alive());
    last.drop_mark();
}

TEST(LastChild, IsAliveInItsChildren) {
    LastChild last;
    {
        Running child(last, [](Running& me) {
            if (fork() != 0) _exit(0);
            me.signal_start();
            me.wait_for_end();
        });
        waitpid(child.pid, nullptr, 0);
        EXPECT_TRUE(last.is_alive());
        close(child.may_end[1]);
        char c;
        close(child.started[1]);
        EXPECT_EQ(read(child.started[0], &c, 1), 0);   // when the grandchild has closed its descriptors
    }
    last.drop_mark();
    EXPECT_FALSE(last.is_alive());
}

TEST(LastChild, EndsWithExec) {
    LastChild last;
    Running child(last, [](Running& me) {
        dup2(me.started[1], 1);
        dup2(me.may_end[0], 0);
        execlp("sh", "sh", "-c", "echo; read nothing", nullptr);
    });
    EXPECT_FALSE(last.is_alive());
    last.drop_mark();
}

TEST(LastChild, DoesNotCloseAnotherFileOnItsDescriptor) {
    LastChild last;
    int const programs = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int const next = duplicate_high(programs);
    close(next);
    Running child(last, [&](Running& me) {
        me.signal_start();
        me.wait_for_end();
    });
    ASSERT_TRUE(last.is_alive());
    ASSERT_EQ(dup2(programs, next), next);
    ASSERT_FALSE(last.marked());
    EXPECT_FALSE(last.is_alive());
    last.drop_mark();
    EXPECT_EQ(fcntl(programs, F_GET_SEALS), 0);
    EXPECT_EQ(close(next), 0) << "the program must close it";
    close(programs);
}

}   // namespace
}   // namespace tutti::arena
