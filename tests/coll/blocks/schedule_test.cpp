// SPDX-License-Identifier: BSD-3-Clause
// The plans that schedules are composed of, the edges of schedules, and the engine that executes them: which step runs
// when, whatever event comes first.
#include <gmock/gmock.h>

#include <set>

#include "coll/blocks/run_schedule.hpp"
#include "runtime/datatype/builder.hpp"

namespace tutti::coll {
namespace {

TEST(RecursiveKIngPlan, GivesEveryExtraMemberAProxyAndKeepsOrderOnRequest) {
    for (int members = 1; members <= 40; ++members)
        for (int k = 2; k <= 7; ++k)
            for (bool in_order : {false, true}) {
                RecursiveKIngPlan const plan(members, k, in_order);
                int positions = 1;
                for (int i = 0; i < plan.steps(); ++i) positions *= plan.radix();
                EXPECT_GT(positions * plan.radix(), members);
                std::vector<int> found;
                for (int p = 0; p < positions; ++p) {
                    found.push_back(plan.member_at(p));
                    for (int i = 0; i < plan.extras(p); ++i) found.push_back(plan.extra(p, i));
                    EXPECT_EQ(plan.position(plan.member_at(p)), p);
                    for (int i = 0; i < plan.extras(p); ++i) EXPECT_EQ(plan.position(plan.extra(p, i)), p);
                }
                EXPECT_TRUE(!in_order || std::is_sorted(found.begin(), found.end())) << members << " by " << k;
                std::sort(found.begin(), found.end());
                ASSERT_EQ(found.size(), static_cast<std::size_t>(members)) << k;
                for (int m = 0; m < members; ++m) EXPECT_EQ(found[static_cast<std::size_t>(m)], m);
            }
}

/// Figure 5: nine ranks, k = 3.
TEST(RecursiveKIngPlan, HasThePartnersOfFigure5) {
    RecursiveKIngPlan const plan(9, 3, false);
    ASSERT_EQ(plan.steps(), 2);
    for (int x = 0; x < 9; ++x)
        for (int i : {1, 2}) {
            EXPECT_EQ(plan.source(Partners::rotated, x, 0, i), (x + i) % 9);
            EXPECT_EQ(plan.source(Partners::rotated, x, 1, i), (x + 3 * i) % 9);
        }
}

/// The values that each position holds after a step, as often as it has combined them.
TEST(RecursiveKIngPlan, CombinesEachValueOnceWithEitherPartners) {
    for (int k = 2; k <= 5; ++k)
        for (int members : {k, k * k, k * k * k})
            for (Partners partners : {Partners::rotated, Partners::groups}) {
                RecursiveKIngPlan const plan(members, k, false);
                auto const n = static_cast<std::size_t>(members);
                std::vector<std::multiset<int>> held(n);
                for (int p = 0; p < members; ++p) held[static_cast<std::size_t>(p)] = {p};
                for (int step = 0; step < plan.steps(); ++step) {
                    auto const before = held;
                    for (int p = 0; p < members; ++p)
                        for (int i = 1; i < k; ++i) {
                            int const source = plan.source(partners, p, step, i);
                            auto const& values = before[static_cast<std::size_t>(source)];
                            held[static_cast<std::size_t>(p)].insert(values.begin(), values.end());
                            int readers = 0;
                            for (int j = 1; j < k; ++j) readers += plan.reader(partners, source, step, j) == p;
                            EXPECT_EQ(readers, 1) << "position " << source << " does not know that " << p << " reads";
                        }
                }
                for (auto const& values : held) {
                    EXPECT_EQ(values.size(), n) << k << ", " << members;
                    EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), n) << k << ", " << members;
                }
            }
}

/// Two nodes of four ranks, as in figure 1.
class ScheduleOfTwoNodes : public testing::Test {
protected:
    Schedule allreduce(int rank, Order order) const {
        ScheduleLevels const levels{tree, rank, true};
        Values degrees;
        degrees.set(0, 4);
        Schedule s(order, plan.buffers(), order != Order::general);
        compose_allreduce(s, levels, plan, Partners::rotated, {degrees, 0, 0});
        return s;
    }
    static std::vector<std::vector<int>> edges(Schedule const& s) {
        std::vector<std::vector<int>> all;
        for (Step const& step : s.steps()) all.emplace_back(s.edges(step).begin(), s.edges(step).end());
        return all;
    }

    topo::Grouping const by_node{"node", {0, 0, 0, 0, 1, 1, 1, 1}};
    topo::Hierarchy const tree = topo::Hierarchy::build(8, std::span(&by_node, 1), "cluster");
    RecursiveKIngPlan const plan{2, 4, false};
};

/// Figure 4. The leader: reduce, allreduce, broadcast. The others: reduce, broadcast.
TEST_F(ScheduleOfTwoNodes, IsAChainInASequentialOrder) {
    Schedule const leader = allreduce(0, Order::sequential), other = allreduce(1, Order::sequential);
    EXPECT_THAT(edges(leader), testing::ElementsAre(std::vector<int>{}, std::vector<int>{0}));
    EXPECT_THAT(edges(other), testing::ElementsAre(std::vector<int>{}, std::vector<int>{0}));
    auto const ranks = [](std::span<Peer const> peers, Mechanism by) {
        std::vector<int> all;
        for (Peer const& p : peers) {
            EXPECT_EQ(p.by, by);
            all.push_back(p.rank);
        }
        return all;
    };
    using enum Mechanism;
    std::span<Step const> const steps = leader.steps();
    EXPECT_THAT(ranks(leader.inputs(steps[0]), shared_memory), testing::ElementsAre(1, 2, 3));
    EXPECT_THAT(ranks(leader.readers(steps[0]), messages), testing::ElementsAre(4));
    EXPECT_THAT(ranks(leader.inputs(steps[1]), messages), testing::ElementsAre(4));
    EXPECT_THAT(ranks(leader.readers(steps[1]), shared_memory), testing::ElementsAre(1, 2, 3));
    EXPECT_THAT(ranks(other.readers(other.steps()[0]), shared_memory), testing::ElementsAre(0));
    EXPECT_THAT(ranks(other.inputs(other.steps()[1]), shared_memory), testing::ElementsAre(0));
}

/// A step that only waits has no edges; one that signals waits for what it signals.
TEST_F(ScheduleOfTwoNodes, HasEdgesToSignalsOnlyInAGeneralOrder) {
    Schedule const leader = allreduce(0, Order::general);
    EXPECT_THAT(edges(leader), testing::ElementsAre(std::vector<int>{}, std::vector<int>{0}, std::vector<int>{},
                                                    std::vector<int>({1, 2})));
    EXPECT_THAT(edges(allreduce(1, Order::general)), testing::ElementsAre(std::vector<int>{}, std::vector<int>{}));
}

/// An environment in which the test decides what arrives.
struct ScriptedEnv {
    struct Awaiter {
        ScriptedEnv& env;
        Events events;
        bool await_ready() const { return events.occurred(); }
        void await_suspend(std::coroutine_handle<> h) { env.waiting = h, env.events = events; }
        void await_resume() const {}
    };
    Awaiter until_any(Events const& any, int peer) {
        reported = peer;
        return {*this, any};
    }
    FramePool& frames() { return pool; }
    void load(void*, ConstBuffer const&, std::size_t, std::size_t) {}
    void store(Buffer const&, std::size_t, void const*, std::size_t) {}
    void copy(void*, void const*, std::size_t, std::size_t) {}

    FramePool pool;
    std::coroutine_handle<> waiting;
    Events events;
    int reported = any_peer;
};
/// Records the fragments that have been read from each peer, in the order of execution.
struct ScriptedLinks {
    bool has_arrived(Peer const& p, int, std::uint64_t f) const { return arrived.contains({p.rank, f}); }
    bool has_read(Peer const& p, std::uint64_t f) const { return read.contains({p.rank, f}); }
    std::byte const* input(Peer const&, int, std::uint64_t) const { return memory; }
    void release(Peer const& p, std::uint64_t f) { executed.emplace_back(p.rank, f); }
    void expose(Step const&, std::span<Peer const>, std::uint64_t) {}
    std::byte* own(int, std::uint64_t) { return memory; }
    std::byte* scratch() { return memory; }
    void stage(std::byte*, ConstBuffer const&, std::size_t, std::size_t) {}
    void expect(std::uint64_t limit) { expected = limit; }
    bool has_failed() const { return false; }
    void throw_failure() const {}

    using Fragment = std::pair<int, std::uint64_t>;
    std::set<Fragment> arrived, read;
    std::vector<Fragment> executed;
    std::uint64_t expected = 0;
    std::byte memory[64];
};

TEST(ScheduleRun, ExecutesWhateverStepCanContinueFirst) {
    Schedule schedule(Order::general, 1, false);
    for (int peer : {1, 2, 3}) schedule.receive(peer, Mechanism::shared_memory);
    ScriptedEnv env;
    ScriptedLinks links;
    FragmentLayout const layout(schedule, {}, {});
    ScheduleRun<ScriptedEnv, ScriptedLinks> run(env, links, schedule, {}, layout);
    Task task = run.run();
    links.arrived = {{2, 0}};
    task.resume();
    EXPECT_THAT(links.executed, testing::ElementsAre(std::pair(2, 0)));
    for (int peer : {3, 1}) {
        EXPECT_FALSE(env.events.occurred());
        links.arrived.insert({peer, 0});
        EXPECT_TRUE(env.events.occurred());
        env.waiting.resume();
        EXPECT_EQ(links.executed.back().first, peer);
    }
    EXPECT_TRUE(task.done());
}

/// A fragment that waits for its reader does not delay what other fragments can do.
TEST(ScheduleRun, LetsNoFragmentWaitForTheEventsOfAnother) {
    Schedule schedule(Order::fixed, 1);
    schedule.receive(1, Mechanism::shared_memory);
    schedule.expose_to(0, 2, Mechanism::shared_memory);   // forwards from rank 1 to rank 2
    auto const byte = TypeBuilder::predefined(Basic::uint8);
    std::byte memory[64];
    ScheduleData const data{{memory, 32, byte.get()}, {memory, 32, byte.get()}, nullptr, 32, 1};
    ScriptedEnv env;
    ScriptedLinks links;
    FragmentLayout const layout(schedule, data, {8, 8, 2});   // four fragments, two in flight
    ASSERT_EQ(layout.fragments, 4u);
    ScheduleRun<ScriptedEnv, ScriptedLinks> run(env, links, schedule, data, layout);
    Task task = run.run();
    links.arrived = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    task.resume();
    EXPECT_EQ(links.executed.size(), 2u);   // the copies of the buffer are in use
    EXPECT_EQ(env.reported, 2);
    links.read = {{2, 0}};
    EXPECT_TRUE(env.events.occurred());
    env.waiting.resume();
    EXPECT_EQ(links.executed.size(), 3u);
    EXPECT_EQ(links.expected, 4u);
    links.read = {{2, 0}, {2, 1}};
    env.waiting.resume();
    EXPECT_EQ(links.executed.size(), 4u);
    EXPECT_FALSE(task.done());   // its buffers are still read
    EXPECT_FALSE(env.events.occurred());
    links.read = {{2, 0}, {2, 1}, {2, 2}, {2, 3}};
    EXPECT_TRUE(env.events.occurred());
    env.waiting.resume();
    EXPECT_TRUE(task.done());
}

TEST(FragmentLayout, CutsMessagesThatAreLargeBetweenElements) {
    Schedule const schedule(Order::sequential, 2);
    auto const layout = [&](std::size_t bytes, std::size_t large, std::size_t fragment) {
        ScheduleData data;
        data.bytes = bytes, data.element = 16;
        return FragmentLayout(schedule, data, {large, fragment, 4});
    };
    EXPECT_EQ(layout(0, 100, 100).fragments, 0u);
    EXPECT_EQ(layout(96, 96, 32).fragments, 1u);
    EXPECT_EQ(layout(112, 96, 40).fragment, 32u);
    EXPECT_EQ(layout(112, 96, 40).fragments, 4u);
    EXPECT_EQ(layout(112, 96, 1).fragments, 7u);
    EXPECT_EQ(layout(112, 96, 1 << 20).fragments, 1u);
}

}   // namespace
}   // namespace tutti::coll
