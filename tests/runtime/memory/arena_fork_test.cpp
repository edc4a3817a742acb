// SPDX-License-Identifier: BSD-3-Clause
// Forked children's copies of an arena, and madvise on blocks, as for private memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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
        rlimit const none{0, 0};   // the child's anonymous pages are added to its shared ones
        if (setrlimit(RLIMIT_DATA, &none) != 0) _exit(1);
        owner.arena.after_fork_in_child();
        _exit(2);
    }
    owner.arena.after_fork_in_parent();
    int status = 0;
    waitpid(child, &status, 0);
    std::string const output = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    EXPECT_NE(output.find("a forked process was aborted"), std::string::npos) << output;
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

/// Forks with the arena's handlers, as pthread_atfork calls them. Returns the child's exit code.
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

TEST(ArenaFork, AChildThatProtectsAndUnmapsPartsOfItsBlocksKeepsTheRest) {
    OwnFile owner;
    constexpr std::size_t bytes = 32 * mega_bytes;
    auto* const block = static_cast<char*>(std::memset(owner.arena.allocate(bytes), 1, bytes));
    int written[2];
    ASSERT_EQ(pipe(written), 0);
    int const code = fork_with(
        owner.arena,
        [&] {
            if (mprotect(block, bytes / 2, PROT_READ) != 0 || munmap(block + bytes / 2, bytes / 4) != 0) return 2;
            char byte;
            if (read(written[0], &byte, 1) != 1) return 3;
            for (std::size_t i = 0; i < bytes; i += i + 1 == bytes / 2 ? bytes / 4 + 1 : 1)
                if (block[i] != 1) return 4;
            return 42;
        },
        [&] {
            std::memset(block, 2, bytes);
            EXPECT_EQ(write(written[1], "", 1), 1);
        });
    EXPECT_EQ(code, 42);
    for (int end : written) close(end);
}

TEST(ArenaFork, AChildSeesTheOldContentsAndDoesNotChangeItsParent) {
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
            if (!owner.arena.resize(mine, mega_bytes) || owner.arena.usable_size(mine) != mega_bytes) return 3;
            owner.arena.release(mine);
            return owner.arena.state() == State::forked ? 42 : 4;
        },
        [&] { set(block, 2), set(untouched, 2); });
    EXPECT_EQ(code, 42);
    for (std::size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(block[i], 2) << i;
        ASSERT_EQ(untouched[i], 2) << i;
    }
    EXPECT_NE(owner.arena.allocate(mega_bytes), nullptr) << "the parent continues";
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
    EXPECT_EQ(owner.arena.advise(block, mega_bytes, MADV_SEQUENTIAL), 0) << "handled by the system";
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

TEST(ArenaFork, ChildrenReadPagesWipedOnForkAsZero) {
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

TEST(ArenaFork, AChildThatDiesDoesNotBlockItsParent) {
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

/// The value of `key` in /proc/self/`file`, in bytes.
std::size_t kernel_counts(char const* file, std::string const& key) {
    std::ifstream lines(std::string("/proc/self/") + file);
    std::string word;
    while (lines >> word) {
        std::size_t kilobytes = 0;
        if (word == key + ":" && lines >> kilobytes) return kilobytes << 10;
    }
    ADD_FAILURE() << "no " << key << " in " << file;
    return 0;
}

/// Children that keep running until their parent requests a check of their data.
class RunningChildren {
public:
    explicit RunningChildren(Arena& arena) : arena_(arena) { EXPECT_EQ(pipe(request_pipe_), 0); }
    ~RunningChildren() {
        if (!pids_.empty()) end();
        for (int end : request_pipe_) close(end);
    }
    template <class Check>
    void start(Check check) {
        arena_.before_fork();
        pid_t const pid = fork();
        if (pid == 0) {
            arena_.after_fork_in_child();
            char c;
            close(request_pipe_[1]);
            _exit(read(request_pipe_[0], &c, 1) == 1 ? check() : 9);
        }
        arena_.after_fork_in_parent();
        pids_.push_back(pid);
    }
    /// Lets all children run their checks. Returns their exit codes.
    std::vector<int> end() {
        std::vector<int> codes;
        for (pid_t pid : pids_) EXPECT_EQ(write(request_pipe_[1], "x", 1), 1) << pid;
        for (pid_t pid : pids_) {
            int status = 0;
            waitpid(pid, &status, 0);
            codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        }
        pids_.clear();
        return codes;
    }

private:
    Arena& arena_;
    int request_pipe_[2];
    std::vector<pid_t> pids_;
};

constexpr std::size_t large = 32 * mega_bytes;

bool all(char const* block, std::size_t bytes, char value) {
    for (std::size_t i = 0; i < bytes; ++i)
        if (block[i] != value) return false;
    return true;
}

TEST(ArenaFork, FurtherChildrenShareCopiesAndHaveTheirOwnSnapshots) {
    OwnFile owner;
    auto* const block = static_cast<char*>(std::memset(owner.arena.allocate(large), 1, large));
    char* other = nullptr;
    RunningChildren children(owner.arena);
    for (int i = 0; i < 4; ++i) {
        block[i * mega_bytes] = static_cast<char>(10 + i);
        if (other) owner.arena.release(other);
        std::size_t const bytes = (i + 1) * 2 * mega_bytes;   // grows beyond the accessible part
        other = static_cast<char*>(owner.arena.allocate(bytes));
        std::memset(other, 20 + i, bytes);
        children.start([=] {
            // The first child has made its own copies.
            if (!has_shadow_memory && i > 0 && kernel_counts("smaps_rollup", "Private_Dirty") > large / 2) return 3;
            for (int k = 0; k < 4; ++k)
                if (block[k * mega_bytes] != (k <= i ? 10 + k : 1)) return 1;
            if (!all(block + 4 * mega_bytes, large - 4 * mega_bytes, 1) || !all(other, bytes, 20 + i)) return 2;
            std::memset(block, 3, mega_bytes);
            return all(block, mega_bytes, 3) ? 42 : 4;
        });
        std::memset(other, 9, bytes);
    }
    std::memset(block, 2, large);
    EXPECT_EQ(children.end(), std::vector<int>(4, 42));
    EXPECT_TRUE(all(block, large, 2));
}

TEST(ArenaFork, CopiesAreFreedWhenTheChildrenHaveEnded) {
    OwnFile owner;
    std::memset(owner.arena.allocate(large), 1, large);
    void* const small = owner.arena.allocate(page_bytes);
    std::size_t const before = kernel_counts("status", "RssAnon");
    RunningChildren children(owner.arena);
    for (int i = 0; i < 2; ++i) children.start([] { return 42; });
    EXPECT_GE(kernel_counts("status", "RssAnon"), before + large / 2) << "a precondition of this test";
    EXPECT_EQ(children.end(), std::vector<int>(2, 42));
    owner.arena.release(small);
    EXPECT_LT(kernel_counts("status", "RssAnon"), before + large / 2);
}

TEST(ArenaFork, ChildrenDoNotSeeLaterWritesOfPeersAndThreads) {
    OwnFile owner;
    auto const window = owner.arena.window();
    std::size_t const bytes = 16 * mega_bytes;
    auto* const block = static_cast<char*>(owner.arena.allocate(bytes));
    std::memset(block, 0, bytes);
    auto* const at_peer = static_cast<std::atomic<std::uint32_t>*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, window.file.descriptor,
             static_cast<off_t>(reinterpret_cast<std::uintptr_t>(block) - window.base)));
    ASSERT_NE(at_peer, MAP_FAILED);
    auto* const here = reinterpret_cast<std::atomic<std::uint32_t>*>(block);
    constexpr std::size_t step = page_bytes / sizeof(std::uint32_t);
    std::size_t const words = bytes / sizeof(std::uint32_t);
    std::atomic<bool> stop = false;
    auto const write = [&](std::atomic<std::uint32_t>* words_of, std::size_t first) {
        for (std::uint32_t n = 1; !stop; ++n)
            for (std::size_t i = first; i < words && !stop; i += step) words_of[i] = n;
    };
    std::thread peer(write, at_peer, 0), thread(write, here, 1);
    {
        RunningChildren children(owner.arena);
        for (int i = 0; i < 4; ++i)
            children.start([&] {
                std::vector<std::uint32_t> first;
                for (std::size_t k = 0; k < words; k += step) first.push_back(here[k]), first.push_back(here[k + 1]);
                usleep(50000);   // they write meanwhile
                for (std::size_t k = 0; k < words; k += step)
                    if (first[k / step * 2] != here[k] || first[k / step * 2 + 1] != here[k + 1]) return 1;
                return 42;
            });
        EXPECT_EQ(children.end(), std::vector<int>(4, 42));
    }
    stop = true;
    peer.join();
    thread.join();
    munmap(at_peer, bytes);
}

TEST(ArenaFork, ChildrenOfFurtherChildrenAndOfSeveralThreads) {
    OwnFile owner;
    char* const block = static_cast<char*>(owner.arena.allocate(mega_bytes));
    std::memset(block, 1, mega_bytes);
    RunningChildren children(owner.arena);
    for (int i = 0; i < 3; ++i)
        children.start([&] {
            block[0] = 5;
            int const code = fork_with(
                owner.arena,
                [&] {
                    block[1] = 6;
                    return block[0] == 5 && all(block + 2, mega_bytes - 2, 1) ? 42 : 1;
                },
                [&] { block[2] = 7; });
            return code == 42 && block[1] == 1 ? 42 : 2;
        });
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 5; ++i)
                right += fork_with(
                             owner.arena, [&] { return all(block, mega_bytes, 1) ? 42 : 1; }, [] {}) == 42;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 20);
    std::memset(block, 2, mega_bytes);
    EXPECT_EQ(children.end(), std::vector<int>(3, 42));
}

}   // namespace
}   // namespace tutti::arena
