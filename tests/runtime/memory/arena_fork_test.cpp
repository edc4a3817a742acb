// SPDX-License-Identifier: BSD-3-Clause
// What children get of an arena, and blocks as private memory: fork and madvise.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/memory/own_arena.hpp"

namespace tutti::arena {
namespace {

constexpr std::size_t mega_bytes = 1 << 20;

TEST(ArenaFork, AChildWithoutItsCopiesEndsWithAMessage) {
    OwnFile owner;
    std::memset(owner.arena.allocate(64 * mega_bytes), 1, 64 * mega_bytes);
    testing::internal::CaptureStderr();
    owner.arena.before_fork();
    pid_t const child = fork();
    if (child == 0) {
        rlimit const none{0, 0};   // the child's anonymous pages come on top of what it shares
        if (setrlimit(RLIMIT_DATA, &none) != 0) _exit(1);
        owner.arena.after_fork_in_child();
        _exit(2);
    }
    owner.arena.after_fork_in_parent();
    int status = 0;
    waitpid(child, &status, 0);
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    EXPECT_NE(said.find("a forked process ends"), std::string::npos) << said;
}

TEST(ArenaFork, AChildOfAProgramThatClosedItsFileKeepsTheBlocks) {
    OwnFile owner;
    char* block = static_cast<char*>(owner.arena.allocate(mega_bytes));
    std::memset(block, 1, mega_bytes);
    close(owner.arena.window().file.descriptor);
    owner.arena.before_fork();
    pid_t const child = fork();
    if (child == 0) {
        owner.arena.after_fork_in_child();
        bool const kept = block[0] == 1 && block[mega_bytes - 1] == 1;
        block[0] = 2;
        _exit(kept ? 42 : 1);
    }
    owner.arena.after_fork_in_parent();
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_EQ(block[0], 1);
}

TEST(ArenaFork, AChildKeepsTheBlocksWhereNoDescriptorIsLeft) {
    OwnFile owner;
    char* const block = static_cast<char*>(owner.arena.allocate(mega_bytes));
    std::memset(block, 1, mega_bytes);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit const none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    owner.arena.before_fork();
    pid_t const child = fork();
    if (child == 0) {
        usleep(50000);   // the parent writes meanwhile
        owner.arena.after_fork_in_child();
        bool const kept = block[0] == 1 && block[mega_bytes - 1] == 1;
        block[0] = 3;
        _exit(kept ? 42 : 1);
    }
    owner.arena.after_fork_in_parent();
    std::memset(block, 2, mega_bytes);
    setrlimit(RLIMIT_NOFILE, &before);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_EQ(block[0], 2);
}

/// The exit code of a child of a fork with the arena's handlers, as pthread_atfork calls them.
template <class Child, class Parent>
int fork_with(Arena& arena, Child child, Parent parent) {
    arena.before_fork();
    pid_t const pid = fork();
    if (pid == 0) {
        arena.after_fork_in_child();
        _exit(child());
    }
    arena.after_fork_in_parent();
    parent();
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ArenaFork, AChildSeesWhatWasThereAndTouchesNothingOfItsParent) {
    OwnFile owner;
    constexpr std::size_t bytes = 3 * mega_bytes + 5;
    auto* block = static_cast<char volatile*>(owner.arena.allocate(bytes));
    auto* untouched = static_cast<char volatile*>(owner.arena.allocate_zeroed(bytes));
    auto set = [](char volatile* b, int value) { std::memset(const_cast<char*>(b), value, bytes); };
    set(block, 1);
    int const code = fork_with(
        owner.arena,
        [&] {
            usleep(50000);   // the parent writes meanwhile
            for (std::size_t i = 0; i < bytes; ++i)
                if (block[i] != 1 || untouched[i] != 0) return 1;
            set(block, 3), set(untouched, 3);
            if (owner.arena.allocate(mega_bytes)) return 2;
            char* const mine = const_cast<char*>(block);
            if (!owner.arena.resize(mine, mega_bytes) || owner.arena.usable(mine) != mega_bytes) return 3;
            owner.arena.release(mine);
            return owner.arena.state() == State::forked ? 42 : 4;
        },
        [&] { set(block, 2), set(untouched, 2); });
    EXPECT_EQ(code, 42);
    for (std::size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(block[i], 2) << i;
        ASSERT_EQ(untouched[i], 2) << i;
    }
    EXPECT_NE(owner.arena.allocate(mega_bytes), nullptr) << "the parent goes on";
}

TEST(ArenaFork, AdviceActsAsOnPrivateMemory) {
    OwnFile owner;
    constexpr std::size_t page = page_bytes;
    char* const block = static_cast<char*>(owner.arena.allocate(mega_bytes));
    for (int advice : {MADV_DONTNEED, MADV_FREE}) {
        std::memset(block, 1, mega_bytes);
        EXPECT_EQ(owner.arena.advise(block + 3 * page, 5 * page - 7, advice), 0);
        for (std::size_t i = 0; i < mega_bytes; ++i) ASSERT_EQ(block[i], i < 3 * page || i >= 8 * page) << i;
    }
    EXPECT_EQ(owner.arena.advise(block + 1, page, MADV_DONTNEED), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(owner.arena.advise(block, mega_bytes, MADV_SEQUENTIAL), 0) << "the system's";
    int const code = fork_with(
        owner.arena,
        [&] {
            if (block[8 * page] != 1 || owner.arena.advise(block + 8 * page, 2 * page, MADV_DONTNEED) != 0) return 1;
            return block[8 * page] == 0 && block[10 * page] == 1 && block[0] == 1 ? 42 : 2;
        },
        [] {});
    EXPECT_EQ(code, 42);
    EXPECT_EQ(block[8 * page], 1);
}

TEST(ArenaFork, ChildrenFindWhatIsWipedOnForkAsZero) {
    OwnFile owner;
    constexpr std::size_t page = page_bytes;
    char* const block = static_cast<char*>(owner.arena.allocate(mega_bytes));
    std::memset(block, 1, mega_bytes);
    EXPECT_EQ(owner.arena.advise(block + 2 * page, 6 * page, MADV_WIPEONFORK), 0);
    EXPECT_EQ(owner.arena.advise(block + 4 * page, page, MADV_KEEPONFORK), 0);
    auto const wiped = [&](char const* b) {
        for (std::size_t p = 0; p < 12; ++p)
            if ((b[p * page] == 0) != (p >= 2 && p < 8 && p != 4)) return false;
        return true;
    };
    EXPECT_EQ(fork_with(
                  owner.arena,
                  [&] {
                      if (!wiped(block)) return 1;
                      std::memset(block, 1, mega_bytes);
                      return fork_with(
                          owner.arena, [&] { return wiped(block) ? 42 : 2; }, [] {});
                  },
                  [] {}),
              42);
    for (std::size_t i = 0; i < mega_bytes; ++i) ASSERT_EQ(block[i], 1);
    owner.arena.release(block);
    char* const next = static_cast<char*>(owner.arena.allocate(mega_bytes));
    ASSERT_EQ(next, block);
    std::memset(next, 1, mega_bytes);
    EXPECT_EQ(fork_with(
                  owner.arena, [&] { return next[2 * page] == 1 ? 42 : 1; }, [] {}),
              42)
        << "another block";
}

TEST(ArenaFork, AChildThatDiesDoesNotHoldUpItsParent) {
    OwnFile owner;
    std::memset(owner.arena.allocate(mega_bytes), 1, mega_bytes);
    owner.arena.before_fork();
    pid_t const pid = fork();
    if (pid == 0) _exit(9);   // before it has its copies
    owner.arena.after_fork_in_parent();
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 9);
}

}   // namespace
}   // namespace tutti::arena
