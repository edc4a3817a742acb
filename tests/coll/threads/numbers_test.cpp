// SPDX-License-Identifier: BSD-3-Clause
// Operation and step numbers do not overflow: flags that have not been written for many operations do not appear to
// have reached the current one, and an operation may have as many steps as there are bytes to move.
#include <gmock/gmock.h>


#include "runtime/base/error.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"
#include "tests/coll/threads/thread_env.hpp"

namespace tutti::coll::test {
namespace {

constexpr int members = 3;

struct Step {
    std::uint64_t op;
    std::vector<std::string>* errors;
    void expect_none(char const* what, std::uint64_t got) const {
        if (got != 0) errors->push_back(join("operation ", op, ": ", what, " is at step ", got, " already"));
    }
};

Task pass(ThreadEnv&, Step const&) { co_return; }

/// Reads flags of all kinds before any rank has written them, and then waits for them.
Task use_all_flags(ThreadEnv& env, Step const& step) {
    int const me = env.rank(), size = env.size(), next = (me + 1) % size, before = (me + size - 1) % size;
    step.expect_none("published", env.published(before) & ~std::uint64_t{1});
    step.expect_none("acked", env.acked(before, 1));
    step.expect_none("consumed", env.consumed_by(before));
    step.expect_none("notified", env.notified() & ~std::uint64_t{3});
    std::memcpy(env.slot(8), &step.op, 8);
    env.publish();
    for (int r = 0; r < size; ++r) {
        co_await env.until(r);
        std::uint64_t there = 0;
        std::memcpy(&there, env.peek(r, 8), 8);
        if (there != step.op) step.errors->push_back(join("operation ", step.op, ": data of ", there));
    }
    env.ready(max_levels - 1, 1);
    env.sent(next, 1);
    env.notify(next, 3);
    co_await env.until_ready(next, max_levels - 1, 1);
    co_await env.until_sent(before, 1);
    co_await env.until_notified(before, 3);
    env.ack(1, 5);
    env.consumed(before, 7);
    co_await env.until_ack(before, 1, 5);
    co_await env.until_consumed(next, 7);
    if (env.acked(before, 1) != 5 || env.consumed_by(next) != 7 || env.ready_of(next, max_levels - 1) != 1)
        step.errors->push_back(join("operation ", step.op, ": the steps differ from those that were signalled"));
}

/// Operations first … last; one of every 3000 uses all flags, as does the one eight later, on the same channel.
std::vector<std::string> run_operations(std::uint64_t first, std::uint64_t last) {
    ThreadWorld world(members, topo::Hierarchy::build(members, {}));
    for (int r = 0; r < members; ++r) {
        for (std::uint64_t op = first / refresh_period * refresh_period, k = 0; k < channel_depth; ++k)
            world.area.enter(r, op + k);
        world.area.done(r).publish(first - 1);
    }
    std::vector<std::vector<std::string>> errors(members);
    run_as_ranks(members, [&](int rank) {
        FramePool frames;
        auto& mine = errors[static_cast<std::size_t>(rank)];
        for (std::uint64_t op = first; op <= last && mine.size() < 5; ++op) {
            bool const all = op % 3000 == 1 || op % 3000 == 9 || op == first;
            coll::run(world, rank, op, frames, all ? use_all_flags : pass, Step{op, &mine});
        }
        world.area.done(rank).publish(Area::departed);
    });
    for (int r = 1; r < members; ++r)
        errors[0].insert(errors[0].end(), errors[static_cast<std::size_t>(r)].begin(),
                         errors[static_cast<std::size_t>(r)].end());
    return errors[0];
}

TEST(OperationNumbers, ExceedTheRangeOfAFlag) { EXPECT_THAT(run_operations(1, 150'000), testing::IsEmpty()); }
TEST(OperationNumbers, ExceedTwoToThe36) {
    std::uint64_t const bound = std::uint64_t{1} << 36;
    EXPECT_THAT(run_operations(bound - 40'000, bound + 40'000), testing::IsEmpty());
}
TEST(OperationNumbers, AreComparedCorrectlyWhereAFlagWasWrittenHalfOfAllNumbersAgo) {
    ThreadWorld world(2, topo::Hierarchy::build(2, {}));
    FramePool frames;
    std::atomic<std::uint64_t>& flag = world.area.sent(0, 8, 1).value;
    flag.store(stamp(8, 3));
    for (std::uint64_t op = 16; op < 200'000; op += channel_depth) {
        world.area.enter(0, op);
        EXPECT_FALSE(has_reached(flag.load(), stamp(op, 1))) << op;
    }
}

TEST(Steps, AreMoreThanANodeHasBytes) {
    EXPECT_GE(max_step / 2, (std::uint64_t{1} << 43) - 1);   // 8 TiB
    EXPECT_EQ(max_phases * phase_steps, stamp(1, 0));
    ThreadWorld world(2, topo::Hierarchy::build(2, {}));
    FramePool frames;
    for (std::uint64_t step : {std::uint64_t{1} << 28, (std::uint64_t{1} << 31) + 5, max_step}) {
        ThreadEnv env(world.area, world.trees, 0, 1, world, 0, frames);
        ThreadEnv peer(world.area, world.trees, 1, 1, world, 1, frames);
        env.ready(0, step);
        EXPECT_EQ(peer.ready_of(0, 0), step);
        ThreadEnv next(world.area, world.trees, 1, 1 + channel_depth, world, 1, frames);
        EXPECT_EQ(next.ready_of(0, 0), 0u) << "a step overflows into the next operation's";
        EXPECT_FALSE(has_reached(world.area.ready(0, 9, 0).value.load(), stamp(9, 1)));
    }
}
TEST(Steps, CountFromOneInEachPhase) {
    ThreadWorld world(2, topo::Hierarchy::build(2, {}));
    FramePool frames;
    ThreadEnv env(world.area, world.trees, 0, 1, world, 0, frames),
        peer(world.area, world.trees, 1, 1, world, 1, frames);
    for (int phase = 1; phase < max_phases; ++phase) {
        env.ready(0, 7);
        EXPECT_EQ(peer.ready_of(0, 0), 7u);
        env.begin_phase();
        env.ready(0, 2);
        EXPECT_EQ(peer.ready_of(0, 0), max_step) << "a peer in an earlier phase does not wait";
        peer.begin_phase();
        EXPECT_EQ(peer.ready_of(0, 0), 2u);
        EXPECT_EQ(env.acked(1, 0), 0u) << "a step of an earlier phase counts";
        peer.ack(0, 3);
        EXPECT_EQ(env.acked(1, 0), 3u);
    }
}

}   // namespace
}   // namespace tutti::coll::test
