// SPDX-License-Identifier: BSD-3-Clause
// Coroutines and their pool of frames.
#include "runtime/wait/task.hpp"

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

TEST(Task, TakesItsFrameFromThePoolAgain) {
    Environment env;
    void* first = env.pool.get(200);
    FramePool::put(first);
    EXPECT_EQ(env.pool.get(190), first) << "same step of 64 bytes, last in, first out";
    void* large = env.pool.get(1 << 20);
    FramePool::put(large);
    FramePool::put(first);
}

}   // namespace
}   // namespace tutti
