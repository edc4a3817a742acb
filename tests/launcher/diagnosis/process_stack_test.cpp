// SPDX-License-Identifier: BSD-3-Clause
// Stacks of child processes that run, sleep or are stopped; reading a stack does not change their state.
#include "launcher/diagnosis/process_stack.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/diagnosis/source_lines.hpp"

namespace tutti::launcher {
namespace {

using testing::Contains;
using testing::HasSubstr;

volatile bool go_on = true;
volatile int signals_caught = 0;

[[gnu::noinline]] void run_in_a_loop() {
    while (go_on) {}
}
[[gnu::noinline]] void sleep_in_a_loop() {
    while (go_on) pause();
}
[[gnu::noinline]] void ask_for_the_time() {
    timespec now{};
    while (go_on) clock_gettime(CLOCK_MONOTONIC, &now);
}

/// A child process that runs a function, and ends with this object.
class Child {
public:
    explicit Child(void (*act)()) {
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ == 0) {
            std::signal(SIGUSR1, [](int) { signals_caught = signals_caught + 1; });
            std::signal(SIGUSR2, [](int) { _exit(signals_caught == 1 ? 7 : 8); });
            if (write(ends[1], "x", 1) == 1) act();
            _exit(1);
        }
        char begun = 0;
        if (read(ends[0], &begun, 1) != 1) throw std::runtime_error("no child");
        close(ends[0]);
        close(ends[1]);
    }
    Child(Child const&) = delete;
    ~Child() {
        if (pid_ == 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }

    pid_t pid() const { return pid_; }
    /// The exit status of the child.
    int wait() {
        int status = 0;
        waitpid(std::exchange(pid_, 0), &status, 0);
        return status;
    }

private:
    pid_t pid_ = 0;
};

std::vector<std::string> functions_of(Child const& child, ProcessStack const& stack) {
    std::vector<std::string> functions;
    SourceLines lines(child.pid());
    for (std::uint64_t address : stack.addresses) functions.push_back(lines.at(address).function);
    return functions;
}

/// Repeats until the child has reached the function.
void expect_in(Child const& child, std::string const& function) {
    for (;;) {
        std::vector<ProcessStack> const stacks = stacks_of({child.pid()}, 1);
        ASSERT_EQ(stacks.size(), 1u);
        std::vector<std::string> const functions = functions_of(child, stacks[0]);
        if (std::ranges::any_of(functions, [&](auto const& one) { return one.find(function) != one.npos; })) return;
    }
}

TEST(ProcessStack, reports_where_a_process_runs_and_lets_it_continue) {
    Child const child(run_in_a_loop);
    expect_in(child, "run_in_a_loop");
    expect_in(child, "run_in_a_loop");   // a second time
    EXPECT_EQ(stacks_of({child.pid()}, 1).at(0).state, 'R');
}

TEST(ProcessStack, reports_where_a_process_sleeps) {
    Child const child(sleep_in_a_loop);
    expect_in(child, "sleep_in_a_loop");
}

TEST(ProcessStack, walks_out_of_the_kernels_code_for_clocks) {
    Child const child(ask_for_the_time);
    expect_in(child, "ask_for_the_time");
}

TEST(ProcessStack, leaves_signals_to_the_process) {
    Child child(run_in_a_loop);
    kill(child.pid(), SIGUSR1);
    for (int i = 0; i < 20; ++i) stacks_of({child.pid()}, 1);
    kill(child.pid(), SIGUSR2);
    EXPECT_EQ(WEXITSTATUS(child.wait()), 7);   // each signal was delivered once
}

TEST(ProcessStack, leaves_the_exit_status_to_the_parent) {
    Child child(run_in_a_loop);
    kill(child.pid(), SIGKILL);
    stacks_of({child.pid()}, 1);
    EXPECT_EQ(WTERMSIG(child.wait()), SIGKILL);
}

TEST(ProcessStack, leaves_a_stopped_process_stopped) {
    Child const child(run_in_a_loop);
    kill(child.pid(), SIGSTOP);
    int status = 0;
    waitpid(child.pid(), &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
    EXPECT_FALSE(release_stopped(child.pid(), status));   // not stopped by us
    EXPECT_EQ(stacks_of({child.pid()}, 1).at(0).state, 'T');
    EXPECT_EQ(stacks_of({child.pid()}, 1).at(0).state, 'T');
}

TEST(ProcessStack, is_limited_to_the_first_processes) {
    Child const first(sleep_in_a_loop), second(sleep_in_a_loop);
    expect_in(first, "sleep_in_a_loop");
    std::vector<ProcessStack> const stacks = stacks_of({first.pid(), second.pid()}, 1);
    ASSERT_EQ(stacks.size(), 2u);
    EXPECT_FALSE(stacks[0].addresses.empty());
    EXPECT_TRUE(stacks[1].addresses.empty());
}

TEST(ProcessStack, of_an_ended_process_is_empty) {
    Child child(run_in_a_loop);
    pid_t const pid = child.pid();
    kill(pid, SIGKILL);
    child.wait();
    EXPECT_TRUE(stacks_of({pid}, 1).at(0).addresses.empty());
}

}   // namespace
}   // namespace tutti::launcher
