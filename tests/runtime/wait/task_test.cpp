// SPDX-License-Identifier: BSD-3-Clause
// Coroutines and the pool of their frames.
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

TEST(Task, StartsWhenResumedAndReturnsToItsAwaiter) {
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

TEST(Task, PropagatesExceptions) {
    Environment env;
    Task task = calls_failing(env);
    task.resume();
    ASSERT_TRUE(task.done());
    EXPECT_THROW(task.check(), std::runtime_error);
}

/// The growth of the stack since the first measurement, in bytes.
struct StackDepth {
    [[gnu::noinline]] void measure() {
        auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (top == 0) top = here;
        deepest = std::max(deepest, top - std::min(top, here));
    }
    std::uintptr_t top = 0, deepest = 0;
};
constexpr std::size_t small_stack = 16 << 10;

/// Suspends if `waits` is not null.
Task step(Environment&, StackDepth& depth, std::coroutine_handle<>* waits) {
    depth.measure();
    if (waits) co_await WaitLoop{*waits};
    depth.measure();
}
/// Each step is a coroutine, like the steps of slices. Stops early if the stack grows with each step.
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
    EXPECT_EQ(steps, 0) << "steps were left: the stack has grown to " << depth.deepest << " bytes";
}

TEST(Task, LoopsOverStepsThatSuspendNeedNoStackForEach) {
    Environment env;
    StackDepth depth;
    std::coroutine_handle<> where;
    int steps = 1000;
    Task task = many_steps(env, depth, steps, &where);
    for (task.resume(); !task.done(); where.resume()) {}
    EXPECT_EQ(steps, 0) << "steps were left: the stack has grown to " << depth.deepest << " bytes";
}

/// An environment in which no coroutine suspends.
struct NeverSuspending : Environment {
    bool never_suspends() const { return true; }
};
Task leaf(NeverSuspending&, std::string& trace, bool fails) {
    trace += "b";
    if (fails) throw std::runtime_error("as asked");
    co_return;
}
Task root(NeverSuspending& env, std::string& trace, bool fails) {
    trace += "a";
    for (int i = 0; i < 2; ++i) co_await leaf(env, trace, fails);
    trace += "c";
}

TEST(Task, StartsWhenItIsCalledWhereNothingSuspends) {
    NeverSuspending env;
    std::string trace;
    Task task = root(env, trace, false);
    EXPECT_EQ(trace, "abbc");
    EXPECT_TRUE(task.done());
    task.start();
    task.check();
    EXPECT_EQ(trace, "abbc");
    EXPECT_EQ(env.pool.allocations(), 2u) << "the second leaf reuses the first one's frame";
}

TEST(Task, ReturnsItsFrameAtItsEndWhereNothingSuspends) {
    NeverSuspending env;
    std::string trace;
    Task first = root(env, trace, false);
    Task second = std::move(first);
    second = root(env, trace, false);
    EXPECT_EQ(env.pool.allocations(), 2u) << "although the first task still exists";
    EXPECT_TRUE(second.done());
}

TEST(Task, PropagatesExceptionsWhereNothingSuspends) {
    NeverSuspending env;
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
    EXPECT_EQ(env.pool.allocations(), 2u) << "frames of failed tasks are returned, too";
}

TEST(Task, ReusesFramesOfThePool) {
    Environment env;
    void* first = env.pool.get(200);
    FramePool::put(first);
    EXPECT_EQ(env.pool.get(190), first) << "the same size class of 64 bytes, last in, first out";
    void* large = env.pool.get(1 << 20);
    FramePool::put(large);
    FramePool::put(first);
}

TEST(Task, ThePoolKeepsTheMostRecentLargeFrames) {
    FramePool pool;
    constexpr std::size_t third = FramePool::max_cached / 3;
    auto const use = [&](std::initializer_list<std::size_t> sizes) {
        std::size_t const before = pool.allocations();
        std::vector<void*> frames;
        for (std::size_t bytes : sizes) frames.push_back(pool.get(bytes));
        for (void* frame : frames) FramePool::put(frame);
        return pool.allocations() - before;
    };
    EXPECT_EQ(use({third, third - 4096, third - 8192}), 3u);
    EXPECT_EQ(use({third - 4096, third - 8192, third}), 0u);
    EXPECT_EQ(use({third / 2}), 1u) << "the least recently returned frame is evicted";
    EXPECT_EQ(use({third, third - 8192}), 0u);
    EXPECT_EQ(use({third - 4096}), 1u);
    EXPECT_EQ(use({2 * FramePool::max_cached}), 1u);
    EXPECT_EQ(use({third - 4096}), 0u) << "a frame larger than the pool's limit evicts nothing";
}

}   // namespace
}   // namespace tutti
