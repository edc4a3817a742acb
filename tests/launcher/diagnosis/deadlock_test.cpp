// SPDX-License-Identifier: BSD-3-Clause
// find_deadlock in worlds with and without a deadlock, and in random small worlds compared with a slow, simple search.
#include "launcher/diagnosis/deadlock.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using State = RankWait::State;
using Cores = std::vector<std::vector<int>>;

RankWait running() { return {}; }
RankWait ended() { return {.state = State::ended}; }
RankWait somehow() { return {.state = State::blocked}; }

RankWait blocked(Awaiting awaiting, std::vector<int> const& ranks) {
    RankWait wait{.state = State::blocked, .awaiting = awaiting};
    for (int rank : ranks) wait.awaited.push_back({rank, rank, 1});
    return wait;
}
RankWait all(std::vector<int> const& ranks) { return blocked(Awaiting::all, ranks); }
RankWait any(std::vector<int> const& ranks) { return blocked(Awaiting::any, ranks); }
/// A rank with several threads.
RankWait threads(RankWait first, std::vector<RankWait> other_threads) {
    first.other_threads = std::move(other_threads);
    return first;
}
RankWait in_range(Awaiting awaiting, RankRange range) {
    return {.state = State::blocked, .awaiting = awaiting, .awaited = {range}};
}

TEST(Deadlock, needs_waiting_ranks) {
    EXPECT_TRUE(find_deadlock({}).empty());
    EXPECT_TRUE(find_deadlock({running(), ended(), running()}).empty());
}

TEST(Deadlock, two_head_to_head) {
    Deadlock const found = find_deadlock({all({1}), all({0}), running()});
    EXPECT_EQ(found.cores, (Cores{{0, 1}}));
    EXPECT_THAT(found.dependents, IsEmpty());
}

TEST(Deadlock, a_ring_is_one_unless_one_of_it_runs) {
    EXPECT_EQ(find_deadlock({all({1}), all({2}), all({3}), all({0})}).cores, (Cores{{0, 1, 2, 3}}));
    EXPECT_TRUE(find_deadlock({all({1}), all({2}), running(), all({0})}).empty());
}

// 1 and 2 both wait for 3, and 0 for both of them: many edges and no cycle.
TEST(Deadlock, waits_that_converge_are_none) {
    EXPECT_TRUE(find_deadlock({all({1, 2}), all({3}), all({3}), running()}).empty());
}

TEST(Deadlock, all_of_those_awaited_are_necessary) {
    Deadlock const found = find_deadlock({all({1, 2}), all({0}), running()});
    EXPECT_EQ(found.cores, (Cores{{0, 1}}));
}

TEST(Deadlock, one_that_runs_is_enough_for_a_wait_for_any) {
    EXPECT_TRUE(find_deadlock({any({1, 2}), all({0}), running()}).empty());
}

TEST(Deadlock, a_knot_of_waits_for_any) {
    Deadlock const found = find_deadlock({any({1, 2}), any({0, 2}), any({0, 1}), running()});
    EXPECT_EQ(found.cores, (Cores{{0, 1, 2}}));
}

TEST(Deadlock, ranks_that_wait_for_an_ended_rank_are_the_core) {
    Deadlock const found = find_deadlock({all({2}), all({2}), ended(), all({0}), running()});
    EXPECT_EQ(found.cores, (Cores{{0, 1}}));
    EXPECT_THAT(found.dependents, ElementsAre(3));
}

TEST(Deadlock, waits_for_other_ended_ranks_are_other_cores) {
    Deadlock const found = find_deadlock({ended(), ended(), all({0}), any({0, 1}), all({1, 0, 1}), all({1})});
    EXPECT_EQ(found.cores, (Cores{{2}, {3, 4}, {5}}));
}

// No rank waits only for the ended rank.
TEST(Deadlock, a_cycle_with_a_wait_for_an_ended_rank_is_the_core) {
    EXPECT_EQ(find_deadlock({all({1, 2}), all({0}), ended()}).cores, (Cores{{0, 1}}));
    EXPECT_EQ(find_deadlock({any({1, 2}), all({0}), ended()}).cores, (Cores{{0, 1}}));
}

TEST(Deadlock, a_chain_waits_behind_a_cycle) {
    Deadlock const found = find_deadlock({all({1}), all({2}), all({3}), all({4}), all({3})});
    EXPECT_EQ(found.cores, (Cores{{3, 4}}));
    EXPECT_THAT(found.dependents, ElementsAre(0, 1, 2));
}

TEST(Deadlock, a_rank_with_an_unknown_wait_may_act) {
    EXPECT_TRUE(find_deadlock({all({1}), somehow()}).empty());
    EXPECT_TRUE(find_deadlock({all({1}), all({})}).empty());
}

TEST(Deadlock, no_rank_releases_a_wait_for_any_of_none) {
    Deadlock const found = find_deadlock({all({1}), any({}), any({})});
    EXPECT_EQ(found.cores, (Cores{{1}, {2}}));
    EXPECT_THAT(found.dependents, ElementsAre(0));
}

TEST(Deadlock, a_rank_does_not_release_itself) {
    EXPECT_EQ(find_deadlock({all({0}), running()}).cores, (Cores{{0}}));
    EXPECT_EQ(find_deadlock({any({0}), running()}).cores, (Cores{{0}}));
    EXPECT_TRUE(find_deadlock({any({0, 1}), running()}).empty());
}

TEST(Deadlock, two_cores_and_their_common_dependents) {
    Deadlock const found = find_deadlock({all({3}), all({2}), all({1}), all({0}), all({0, 1})});
    EXPECT_EQ(found.cores, (Cores{{0, 3}, {1, 2}}));
    EXPECT_THAT(found.dependents, ElementsAre(4));
}

TEST(Deadlock, ranges_have_steps) {
    std::vector<RankWait> world(6, running());
    world[0] = in_range(Awaiting::all, {1, 5, 2});
    EXPECT_TRUE(find_deadlock(world).empty());
    world[2] = all({0});
    EXPECT_TRUE(find_deadlock(world).empty());
    world[5] = all({0});
    EXPECT_EQ(find_deadlock(world).cores, (Cores{{0, 5}}));
}

TEST(Deadlock, ranks_outside_of_the_world_may_act_whatever_the_ranges) {
    EXPECT_TRUE(find_deadlock({all({7}), any({-3})}).empty());
    EXPECT_TRUE(find_deadlock({in_range(Awaiting::any, {INT_MIN, INT_MAX, INT_MAX})}).empty());
    EXPECT_TRUE(find_deadlock({running(), in_range(Awaiting::all, {-1, INT_MAX, 5})}).empty());
    EXPECT_EQ(find_deadlock({all({1, 9}), all({0})}).cores, (Cores{{0, 1}}));
    EXPECT_EQ(find_deadlock({in_range(Awaiting::any, {0, 5, -1}), running()}).cores, (Cores{{0}})) << "0 alone";
    EXPECT_EQ(find_deadlock({in_range(Awaiting::any, {5, 1, 1}), running()}).cores, (Cores{{0}})) << "an empty range";
}

TEST(Deadlock, thousands_that_all_wait_for_any) {
    int const ranks = 4096;
    std::vector<RankWait> world(ranks, in_range(Awaiting::any, {0, ranks - 1, 1}));
    Deadlock const found = find_deadlock(world);
    ASSERT_EQ(found.cores.size(), 1u);
    EXPECT_EQ(found.cores[0].size(), std::size_t{ranks});
    world[17] = running();
    EXPECT_TRUE(find_deadlock(world).empty());
}

TEST(Deadlock, thousands_that_all_wait_for_all_of_whom_one_has_ended) {
    int const ranks = 4096;
    std::vector<RankWait> world(ranks, in_range(Awaiting::all, {4095, 4095, 1}));
    world.back() = ended();
    EXPECT_EQ(find_deadlock(world).cores.front().size(), std::size_t{ranks - 1});
    for (int rank = 0; rank + 1 < ranks; ++rank) world[rank] = in_range(Awaiting::all, {0, ranks - 1, 1});
    EXPECT_EQ(find_deadlock(world).cores.front().size(), std::size_t{ranks - 1});
}

TEST(Deadlock, chains_as_long_as_the_world) {
    int const ranks = 4096;
    std::vector<RankWait> world;
    for (int rank = 0; rank < ranks; ++rank) world.push_back(all({rank + 1}));
    world.back() = running();
    EXPECT_TRUE(find_deadlock(world).empty());
    world.back() = ended();
    EXPECT_EQ(find_deadlock(world).cores, (Cores{{ranks - 2}}));
    EXPECT_EQ(find_deadlock(world).dependents.size(), std::size_t{ranks - 2});
    world.back() = all({0});
    EXPECT_EQ(find_deadlock(world).cores.front().size(), std::size_t{ranks});
}

TEST(Deadlock, ranks_with_several_threads_can_act_when_one_of_them_can) {
    RankWait const listens = threads(all({1}), {any({0, 1, 2})});
    EXPECT_TRUE(find_deadlock({listens, all({0}), running()}).empty()) << "its other thread is released by rank 2";
    EXPECT_EQ(find_deadlock({listens, all({0}), all({1})}).cores, (Cores{{0, 1, 2}}));
    EXPECT_TRUE(find_deadlock({threads(all({1}), {somehow()}), all({0})}).empty());
}

TEST(Deadlock, one_thread_of_a_rank_waits_for_another_one_of_it) {
    EXPECT_TRUE(find_deadlock({threads(all({0}), {all({1})}), running()}).empty());
    EXPECT_EQ(find_deadlock({threads(all({0}), {all({1})}), all({0})}).cores, (Cores{{0, 1}}));
    EXPECT_EQ(find_deadlock({threads(all({0}), {all({0})})}).cores, (Cores{{0}}));
}

TEST(Deadlock, threads_of_ranks_cross) {
    EXPECT_EQ(
        find_deadlock({threads(all({1}), {all({2})}), threads(all({2}), {all({0})}), threads(all({0}), {all({1})})})
            .cores,
        (Cores{{0, 1, 2}}));
    EXPECT_EQ(find_deadlock({threads(all({1}), {all({2})}), all({0}), ended()}).cores, (Cores{{0, 1}}));
    EXPECT_EQ(find_deadlock({threads(all({1}), {all({2})}), ended(), ended()}).cores, (Cores{{0}}));
}

/// A slow, simple search: releases ranks until no more can be released, then finds the ranks that reach each other.
class SlowSearch {
public:
    explicit SlowSearch(std::vector<RankWait> const& world) : world_(world), able_(world.size()) {
        for (std::size_t rank = 0; rank < world.size(); ++rank) able_[rank] = world[rank].state == State::running;
        for (std::size_t round = 0; round < world.size(); ++round)
            for (std::size_t rank = 0; rank < world.size(); ++rank) able_[rank] = able_[rank] || released(rank);
    }

    Deadlock found() const {
        std::set<std::vector<int>> cores;
        std::map<std::set<int>, std::vector<int>> by_ended;
        std::set<int> dependents;
        for (int rank = 0; rank < size(); ++rank)
            if (stuck(rank)) dependents.insert(rank);
        for (int rank = 0; rank < size(); ++rank) {
            if (!stuck(rank)) continue;
            std::vector<int> core = reached(rank);
            if (core.empty()) {   // neither others nor itself
                if (std::set<int> const ended = ended_awaited(rank); !ended.empty()) by_ended[ended].push_back(rank);
                else cores.insert({rank});
            } else if (std::all_of(core.begin(), core.end(), [&](int other) { return reached(other) == core; })) {
                if (std::count(core.begin(), core.end(), rank)) cores.insert(core);
            }
        }
        for (auto const& [ended, core] : by_ended) cores.insert(core);
        for (auto const& core : cores)
            for (int rank : core) dependents.erase(rank);
        return {{cores.begin(), cores.end()}, {dependents.begin(), dependents.end()}};
    }

private:
    int size() const { return static_cast<int>(world_.size()); }
    bool stuck(int rank) const { return world_[rank].state == State::blocked && !able_[rank]; }

    static std::set<int> awaited_by(RankWait const& thread) {
        std::set<int> ranks;
        for (RankRange range : thread.awaited)
            for (int other = range.first; other <= range.last; other += range.stride) ranks.insert(other);
        return ranks;
    }

    std::set<int> awaited(int rank) const {
        std::set<int> ranks = awaited_by(world_[rank]);
        for (RankWait const& thread : world_[rank].other_threads) ranks.merge(awaited_by(thread));
        return ranks;
    }

    bool released(std::size_t rank) const {
        if (world_[rank].state == State::ended) return false;
        auto const able = [&](int other) { return able_[other] && other != static_cast<int>(rank); };
        auto const thread_is_released = [&](RankWait const& thread) {
            std::set<int> const ranks = awaited_by(thread);
            if (thread.awaiting == Awaiting::unknown) return true;
            return thread.awaiting == Awaiting::all ? std::all_of(ranks.begin(), ranks.end(), able)
                                                    : std::any_of(ranks.begin(), ranks.end(), able);
        };
        return thread_is_released(world_[rank]) || std::ranges::any_of(world_[rank].other_threads, thread_is_released);
    }

    std::set<int> ended_awaited(int rank) const {
        std::set<int> ranks;
        for (int other : awaited(rank))
            if (world_[other].state == State::ended) ranks.insert(other);
        return ranks;
    }

    /// Returns the deadlocked ranks that are reached by one wait or several.
    std::vector<int> reached(int from) const {
        std::set<int> ranks;
        for (std::vector<int> pending{from}; !pending.empty();) {
            int const rank = pending.back();
            pending.pop_back();
            for (int other : awaited(rank))
                if (stuck(other) && ranks.insert(other).second) pending.push_back(other);
        }
        return {ranks.begin(), ranks.end()};
    }

    std::vector<RankWait> const& world_;
    std::vector<bool> able_;
};

RankWait random_thread(std::mt19937& random, int ranks) {
    auto const one_in = [&](int n) { return random() % n == 0; };
    if (one_in(12)) return somehow();
    RankWait wait = one_in(2) ? all({}) : any({});
    for (auto count = random() % 4; count > 0; --count) {
        int const first = static_cast<int>(random() % ranks);
        int const last = one_in(3) ? static_cast<int>(random() % ranks) : first;
        wait.awaited.push_back({first, std::max(first, last), static_cast<int>(1 + random() % 2)});
    }
    return wait;
}

RankWait random_wait(std::mt19937& random, int ranks) {
    auto const one_in = [&](int n) { return random() % n == 0; };
    if (one_in(8)) return running();
    if (one_in(8)) return ended();
    RankWait wait = random_thread(random, ranks);
    while (one_in(3)) wait.other_threads.push_back(random_thread(random, ranks));
    return wait;
}

std::string in_words(std::vector<RankWait> const& world) {
    std::string words;
    for (RankWait const& wait : world) {
        if (!wait.other_threads.empty()) words += "(also " + in_words(wait.other_threads) + ") ";
        words += wait.state == State::running ? "running" : wait.state == State::ended ? "ended" : "blocked ";
        if (wait.state == State::blocked) words += std::to_string(static_cast<int>(wait.awaiting));
        for (auto [first, last, step] : wait.awaited)
            words += " " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(step);
        words += "; ";
    }
    return words;
}

TEST(Deadlock, agrees_with_a_slow_search_in_random_small_worlds) {
    std::mt19937 random(20090608);
    int deadlocked = 0;
    for (int round = 0; round < 3000; ++round) {
        std::vector<RankWait> world(1 + random() % 6);
        for (RankWait& wait : world) wait = random_wait(random, static_cast<int>(world.size()));
        Deadlock const found = find_deadlock(world), expected = SlowSearch(world).found();
        ASSERT_EQ(found.cores, expected.cores) << in_words(world);
        ASSERT_EQ(found.dependents, expected.dependents) << in_words(world);
        deadlocked += !found.empty();
    }
    EXPECT_GT(deadlocked, 500);
    EXPECT_LT(deadlocked, 2500);
}

}   // namespace
}   // namespace tutti::launcher
