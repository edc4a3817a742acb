// SPDX-License-Identifier: BSD-3-Clause
// Whether the last child still has its parent's memory.
#include "runtime/memory/arena/last_child.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace tutti::arena {
namespace {

/// A child that runs `child`, with what it writes to and when it may end.
struct Running {
    template <class Child>
    Running(LastChild& last, Child child) {
        EXPECT_EQ(pipe(started), 0);
        EXPECT_EQ(pipe(may_end), 0);
        last.mark();
        pid = fork();
        if (pid == 0) {
            last.taken_by_child();
            close(may_end[1]);
            child(*this);
            _exit(0);
        }
        last.left_to_child();
        char c;
        EXPECT_EQ(read(started[0], &c, 1), 1);
    }
    ~Running() {
        close(may_end[1]);
        waitpid(pid, nullptr, 0);
        for (int end : {started[0], started[1], may_end[0]}) close(end);
    }
    void says_that_it_has_started() {
        if (write(started[1], "x", 1) != 1) _exit(1);
    }
    void waits() {
        char c;
        if (read(may_end[0], &c, 1) != 0) _exit(1);
    }
    int started[2], may_end[2];
    pid_t pid = 0;
};

TEST(LastChild, LivesUntilItEnds) {
    LastChild last;
    EXPECT_FALSE(last.lives());
    {
        Running child(last, [](Running& me) {
            for (int descriptor = 64; descriptor < 256; ++descriptor) close(descriptor);   // as programs do
            me.says_that_it_has_started();
            me.waits();
        });
        EXPECT_TRUE(last.lives());
        EXPECT_TRUE(last.lives()) << "asking changes nothing";
    }
    EXPECT_FALSE(last.lives());
    last.forget();
}

TEST(LastChild, LivesInItsChildren) {
    LastChild last;
    {
        Running child(last, [](Running& me) {
            if (fork() != 0) _exit(0);
            me.says_that_it_has_started();
            me.waits();
        });
        waitpid(child.pid, nullptr, 0);
        EXPECT_TRUE(last.lives());
        close(child.may_end[1]);
        char c;
        close(child.started[1]);
        EXPECT_EQ(read(child.started[0], &c, 1), 0);   // when the grandchild has closed its descriptors
    }
    last.forget();
    EXPECT_FALSE(last.lives());
}

TEST(LastChild, DoesNotLiveInAnotherProgram) {
    LastChild last;
    Running child(last, [](Running& me) {
        dup2(me.started[1], 1);
        dup2(me.may_end[0], 0);
        execlp("sh", "sh", "-c", "echo; read nothing", nullptr);
    });
    EXPECT_FALSE(last.lives());
    last.forget();
}

TEST(LastChild, LeavesAnotherFileAloneThatHasItsDescriptor) {
    LastChild last;
    int const programs = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int const next = put_aside(programs);
    close(next);
    Running child(last, [&](Running& me) {
        me.says_that_it_has_started();
        me.waits();
    });
    ASSERT_TRUE(last.lives());
    ASSERT_EQ(dup2(programs, next), next);
    ASSERT_FALSE(last.marked());
    EXPECT_FALSE(last.lives());
    last.forget();
    EXPECT_EQ(fcntl(programs, F_GET_SEALS), 0);
    EXPECT_EQ(close(next), 0) << "it is the program's to close";
    close(programs);
}

}   // namespace
}   // namespace tutti::arena
