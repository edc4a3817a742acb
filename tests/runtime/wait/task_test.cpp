// SPDX-License-Identifier: BSD-3-Clause
// Coroutines and their pool of frames.
#include "runtime/wait/task.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/memory/single_copy.hpp"

namespace tutti {
namespace {

struct Environment {
    FramePool pool;
    FramePool& frames() { return pool; }
};

struct WaitLoop {
    std::coroutine_handle<>& where;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> h) { where = h; }
    void await_resume() {}
};

Task inner(Environment&, std::string& trace, std::coroutine_handle<>& where) {
    trace += "b";
    co_await WaitLoop{where};
    trace += "c";
}
Task outer(Environment& env, std::string& trace, std::coroutine_handle<>& where) {
    trace += "a";
    co_await inner(env, trace, where);
    trace += "d";
}
Task failing(Environment&) {
    throw std::runtime_error("as asked");
    co_return;
}
Task calls_failing(Environment& env) { co_await failing(env); }

TEST(Task, StartsWhenResumedAndReturnsToWhoeverAwaitsIt) {
    Environment env;
    std::string trace;
    std::coroutine_handle<> where;
    Task task = outer(env, trace, where);
    EXPECT_EQ(trace, "");
    task.resume();
    EXPECT_EQ(trace, "ab");
    EXPECT_FALSE(task.done());
    where.resume();
    EXPECT_EQ(trace, "abcd");
    EXPECT_TRUE(task.done());
}

TEST(Task, PassesExceptionsOn) {
    Environment env;
    Task task = calls_failing(env);
    task.resume();
    ASSERT_TRUE(task.done());
    EXPECT_THROW(task.check(), std::runtime_error);
}

/// How far down the stack has grown since it was first asked, in bytes.
struct StackDepth {
    [[gnu::noinline]] void measure() {
        auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (top == 0) top = here;
        deepest = std::max(deepest, top - std::min(top, here));
    }
    std::uintptr_t top = 0, deepest = 0;
};
constexpr std::size_t small_stack = 16 << 10;

/// Suspends if `waits` is given.
Task step(Environment&, StackDepth& depth, std::coroutine_handle<>* waits) {
    depth.measure();
    if (waits) co_await WaitLoop{*waits};
    depth.measure();
}
/// Each step in a coroutine of its own, as steps of slices are. Ends early where the stack grows with each one.
Task two_steps(Environment& env, StackDepth& depth, std::coroutine_handle<>* waits) {
    co_await step(env, depth, nullptr);
    co_await step(env, depth, waits);
}
Task many_steps(Environment& env, StackDepth& depth, int& steps, std::coroutine_handle<>* waits) {
    for (; steps > 0 && depth.deepest < small_stack; --steps) co_await two_steps(env, depth, waits);
}

TEST(Task, LoopsOverStepsThatNeverSuspendNeedNoStackForEach) {
    Environment env;
    StackDepth depth;
    int steps = 100'000;
    Task task = many_steps(env, depth, steps, nullptr);
    task.resume();
    EXPECT_TRUE(task.done());
    EXPECT_EQ(steps, 0) << "not taken: the stack has grown to " << depth.deepest << " bytes";
}

TEST(Task, LoopsOverStepsThatSuspendNeedNoStackForEach) {
    Environment env;
    StackDepth depth;
    std::coroutine_handle<> where;
    int steps = 1000;
    Task task = many_steps(env, depth, steps, &where);
    for (task.resume(); !task.done(); where.resume()) {}
    EXPECT_EQ(steps, 0) << "not taken: the stack has grown to " << depth.deepest << " bytes";
}

/// Where nothing ever suspends.
struct Straight : Environment {
    bool never_suspends() const { return true; }
};
Task leaf(Straight&, std::string& trace, bool fails) {
    trace += "b";
    if (fails) throw std::runtime_error("as asked");
    co_return;
}
Task root(Straight& env, std::string& trace, bool fails) {
    trace += "a";
    for (int i = 0; i < 2; ++i) co_await leaf(env, trace, fails);
    trace += "c";
}

TEST(Task, StartsWhenItIsCalledWhereNothingSuspends) {
    Straight env;
    std::string trace;
    Task task = root(env, trace, false);
    EXPECT_EQ(trace, "abbc");
    EXPECT_TRUE(task.done());
    task.start();
    task.check();
    EXPECT_EQ(trace, "abbc");
    EXPECT_EQ(env.pool.made(), 2u) << "the second leaf has the first one's frame";
}

TEST(Task, GivesItsFrameBackAtItsEndWhereNothingSuspends) {
    Straight env;
    std::string trace;
    Task first = root(env, trace, false);
    Task second = std::move(first);
    second = root(env, trace, false);
    EXPECT_EQ(env.pool.made(), 2u) << "though the first one is still there";
    EXPECT_TRUE(second.done());
}

TEST(Task, PassesExceptionsOnWhereNothingSuspends) {
    Straight env;
    std::string trace;
    {
        Task task = root(env, trace, true);
        EXPECT_EQ(trace, "ab");
        ASSERT_TRUE(task.done());
        EXPECT_THROW(task.check(), std::runtime_error);
    }
    trace.clear();
    root(env, trace, false).check();
    EXPECT_EQ(trace, "abbc");
    EXPECT_EQ(env.pool.made(), 2u) << "frames of those that failed came back, too";
}

TEST(Task, TakesItsFrameFromThePoolAgain) {
    Environment env;
    void* first = env.pool.get(200);
    FramePool::put(first);
    EXPECT_EQ(env.pool.get(190), first) << "same step of 64 bytes, last in, first out";
    void* large = env.pool.get(1 << 20);
    FramePool::put(large);
    FramePool::put(first);
}

TEST(Task, ThePoolKeepsTheLargeFramesThatWereUsedLast) {
    FramePool pool;
    constexpr std::size_t third = FramePool::most_kept / 3;
    auto const use = [&](std::initializer_list<std::size_t> sizes) {
        std::size_t const before = pool.made();
        std::vector<void*> frames;
        for (std::size_t bytes : sizes) frames.push_back(pool.get(bytes));
        for (void* frame : frames) FramePool::put(frame);
        return pool.made() - before;
    };
    EXPECT_EQ(use({third, third - 4096, third - 8192}), 3u);
    EXPECT_EQ(use({third - 4096, third - 8192, third}), 0u);
    EXPECT_EQ(use({third / 2}), 1u) << "what was put back longest ago goes for it";
    EXPECT_EQ(use({third, third - 8192}), 0u);
    EXPECT_EQ(use({third - 4096}), 1u);
    EXPECT_EQ(use({2 * FramePool::most_kept}), 1u);
    EXPECT_EQ(use({third - 4096}), 0u) << "what is larger than all that is kept drives nothing out";
}

}   // namespace
}   // namespace tutti
