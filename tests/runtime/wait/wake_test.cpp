// SPDX-License-Identifier: BSD-3-Clause
// Which ranks a store wakes: those that wait for that word, and those that wait for any word.
#include <memory>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/base/clock.hpp"
#include "runtime/wait/sleepers.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

class Wake : public ::testing::TestWithParam<WaitPolicy> {};
INSTANTIATE_TEST_SUITE_P(Policies, Wake, ::testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

/// A rank that waits until `flag` is 2, for that word or for any word.
struct Sleeper {
    Sleeper(Segment& s, unsigned place, WaitPolicy policy, Flag& flag, bool by_word)
        : waiter(s, place, policy, 1, lock), thread([this, &flag, by_word] {
              waiter.wait_until([&] { return flag.reached(2); }, {"test"}, by_word ? &flag.value : nullptr);
          }) {}
    RankLock lock;
    Waiter waiter;
    std::thread thread;
};

void wake_by_word(WaitPolicy policy, std::uint32_t usable_cores) {
    Segment s = Segment::create(4);
    s.header().usable_cores = usable_cores;
    auto* flags = reinterpret_cast<Flag*>(s.world_area().data());
    Sleeper first(s, 0, policy, flags[0], true), second(s, 1, policy, flags[1], true),
        any(s, 2, policy, flags[2], false);
    RankLock lock;
    Waiter writer(s, 3, policy, 0, lock);
    while (s.header().sleeping() != 3) std::this_thread::yield();
    auto const woken = [&](unsigned place) { return s.rank_state(place).wake.load(); };

    flags[0].publish(1);   // no rank ends its wait yet, and each stays counted, asleep or not
    writer.wake_sleepers(flags[0].value);
    EXPECT_EQ(woken(0), 1u);
    EXPECT_EQ(woken(1), 0u) << "it waits for another word";
    EXPECT_EQ(woken(2), 1u) << "it waits for any word";
    writer.wake_rank(1);
    EXPECT_EQ(woken(1), 1u) << "a message wakes its rank, whatever word it waits for";
    EXPECT_EQ(woken(2), 1u);
    for (int i : {0, 1, 2}) flags[i].publish(2);
    writer.wake_sleepers();
    for (Sleeper* sleeper : {&first, &second, &any}) sleeper->thread.join();
    EXPECT_EQ(s.header().sleeping(), 0u);
    for (unsigned place = 0; place < 4; ++place) EXPECT_EQ(s.wait_target(place).load(), 0u);
}

TEST_P(Wake, AStoreWakesRanksThatWaitForThatWord) { wake_by_word(GetParam(), 0); }
TEST_P(Wake, AStoreWakesRanksThatWaitForThatWordOnSharedCores) { wake_by_word(GetParam(), 1); }

TEST_P(Wake, ARankWithPendingOperationsIsWokenByEveryWord) {
    struct UnderWay : Pollable {
        bool poll() override { return false; }
        bool awaits_local_stores() const override { return true; }
    } under_way;
    Segment s = Segment::create(2);
    auto* flags = reinterpret_cast<Flag*>(s.world_area().data());
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 0, other);
    sleeper.attach(&under_way);
    std::thread thread([&] { sleeper.wait_until([&] { return flags[0].reached(1); }, {"test"}, &flags[0].value); });
    while (s.header().sleeping() == 0) std::this_thread::yield();
    flags[1].publish(1);
    writer.wake_sleepers(flags[1].value);
    EXPECT_EQ(s.rank_state(0).wake.load(), 1u);
    flags[0].publish(1);
    writer.wake_sleepers(flags[0].value);
    thread.join();
}

TEST(Fences, AreSwitchedOnByASleepOnASharedCoreAndOffLater) {
    Segment s = Segment::create(2);
    Sleepers sleeper(s, 0), writer(s, 1);
    std::atomic<std::uint32_t> const& sleepers = s.header().sleepers;
    sleeper.add(nullptr, false);
    EXPECT_EQ(sleepers.load(), 1u) << "with membarrier instead of fences";
    sleeper.remove();
    EXPECT_FALSE(writer.has_sleepers());
    sleeper.add(nullptr, true);
    EXPECT_EQ(sleepers.load(), SegmentHeader::fence_bits | 1);
    EXPECT_TRUE(writer.has_sleepers());
    EXPECT_EQ(writer.wake_all_ranks(), 1u);
    s.header().fences_until.store(0);
    for (int i = 0; i < 5000; ++i) writer.wake_rank(0);
    EXPECT_EQ(sleepers.load(), 1u) << "the sleeper is still counted";
    sleeper.remove();
    EXPECT_EQ(sleepers.load(), 0u);
}

TEST(Fences, StayOnWhereRanksOutnumberCores) {
    Segment s = Segment::create(2);
    s.header().usable_cores = 1;
    Sleepers sleeper(s, 0), writer(s, 1);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(writer.wake_all_ranks(), 0u);
    EXPECT_EQ(s.header().sleepers.load(), SegmentHeader::fence_bits);
}

/// A rank with local rank 0, a bell and a descriptor that the test makes readable.
struct AtSockets {
    AtSockets() : segment(Segment::create(2)), sleepers(segment, 0), other(segment, 1) {
        sleepers.set_poll_descriptor(arrivals);
        other.set_poll_descriptor(nothing);
        EXPECT_TRUE(sleepers.has_bell() && other.has_bell());
    }
    ~AtSockets() {
        close(arrivals);
        close(nothing);
    }
    /// The duration of a sleep of at most one minute, in seconds.
    double sleep(std::uint32_t ticket, int event = -1) {
        std::int64_t const before = now_ns();
        sleepers.sleep(ticket, 60'000'000'000, event);
        return static_cast<double>(now_ns() - before) * 1e-9;
    }
    Segment segment;
    int const arrivals = eventfd(0, EFD_NONBLOCK), nothing = eventfd(0, EFD_NONBLOCK);
    Sleepers sleepers, other;
};
constexpr double a_minute_nearly = 50;

TEST(Bell, EndsASleepAtSocketsWhenARankStores) {
    AtSockets rank;
    std::uint32_t const ticket = rank.sleepers.add(nullptr, false);
    std::thread writer([&] { EXPECT_EQ(rank.other.wake_all_ranks(), 1u); });
    EXPECT_LT(rank.sleep(ticket), a_minute_nearly);
    writer.join();
    EXPECT_NE(rank.sleepers.ticket(), ticket);
    EXPECT_LT(rank.sleep(rank.sleepers.ticket()), a_minute_nearly) << "the bell rings until it is drained";
    rank.sleepers.drain_bell();
    constexpr long shortly_ns = 2'000'000;
    std::int64_t const before = now_ns();
    rank.sleepers.sleep(rank.sleepers.ticket(), shortly_ns);
    EXPECT_GE(now_ns() - before, shortly_ns / 2) << "the bell still rings";
    rank.sleepers.remove();
    EXPECT_EQ(rank.segment.rank_state(0).bell_unreached.load(), 0u);
}

TEST(Bell, IsNotNeededForAWakeUpBeforeTheSleep) {
    AtSockets rank;
    std::uint32_t const ticket = rank.sleepers.add(nullptr, false);
    EXPECT_EQ(rank.other.wake_all_ranks(), 1u);
    rank.sleepers.drain_bell();   // as another thread of the rank might
    EXPECT_LT(rank.sleep(ticket), a_minute_nearly);
    rank.sleepers.remove();
}

TEST(Bell, IsNotTheOnlyEventThatEndsASleepAtSockets) {
    AtSockets rank;
    std::uint32_t const ticket = rank.sleepers.add(nullptr, false);
    eventfd_write(rank.arrivals, 1);
    EXPECT_LT(rank.sleep(ticket), a_minute_nearly) << "a message from another node has arrived";
    eventfd_t count;
    eventfd_read(rank.arrivals, &count);
    int const event = eventfd(1, EFD_NONBLOCK);
    EXPECT_LT(rank.sleep(ticket, event), a_minute_nearly) << "another thread of the rank has woken this one";
    close(event);
    rank.sleepers.remove();
}

TEST(Bell, ThatCannotBeReachedMakesSleepsShort) {
    AtSockets rank;
    RankState& state = rank.segment.rank_state(0);
    std::uint32_t const ticket = rank.sleepers.add(nullptr, false);
    state.bell_namespace.fetch_add(1);   // the rank runs in another network namespace
    EXPECT_EQ(rank.other.wake_all_ranks(), 1u);
    EXPECT_EQ(state.bell_unreached.load(), 1u);
    EXPECT_LT(rank.sleep(rank.sleepers.ticket()), a_minute_nearly);
    EXPECT_NE(rank.sleepers.ticket(), ticket);
    rank.sleepers.remove();
}

/// 200 ranks in four words per set; some sleep for one word, some for another, some for any word.
TEST(Sleepers, AreFoundAmongManyByTheirWord) {
    constexpr unsigned ranks = 200;
    Segment s = Segment::create(ranks);
    auto* flags = reinterpret_cast<Flag*>(s.world_area().data());
    std::vector<std::unique_ptr<Sleepers>> all;
    for (unsigned r = 0; r < ranks; ++r) all.push_back(std::make_unique<Sleepers>(s, r));
    unsigned counts[3] = {};
    for (unsigned r = 0; r + 1 < ranks; ++r) {
        unsigned const what = r % 7 == 0 ? 2 : r % 2;
        all[r]->add(what == 2 ? nullptr : &flags[what].value, false);
        ++counts[what];
    }
    Sleepers& writer = *all.back();
    EXPECT_EQ(writer.wake_waiters(flags[0].value), counts[0] + counts[2]);
    EXPECT_EQ(writer.wake_waiters(flags[1].value), counts[1] + counts[2]);
    EXPECT_EQ(writer.wake_waiters(flags[2].value), counts[2]);
    EXPECT_EQ(writer.wake_all_ranks(), ranks - 1);
    for (unsigned r = 0; r + 1 < ranks; ++r) all[r]->remove();
    EXPECT_EQ(writer.wake_all_ranks(), 0u);
    for (unsigned set = 0; set < Segment::sleeper_sets; ++set)
        for (std::atomic<std::uint64_t> const& word : s.sleeper_set(set)) EXPECT_EQ(word.load(), 0u) << "set " << set;
}

TEST(Sleepers, WithTwoThreadsWaitForAnyWord) {
    Segment s = Segment::create(2);
    auto* flags = reinterpret_cast<Flag*>(s.world_area().data());
    Sleepers rank(s, 0), writer(s, 1);
    rank.add(&flags[0].value, false);
    EXPECT_EQ(writer.wake_waiters(flags[1].value), 0u);
    rank.add(&flags[0].value, false);
    EXPECT_EQ(writer.wake_waiters(flags[1].value), 1u);
    rank.remove();
    rank.remove();
    EXPECT_EQ(writer.wake_all_ranks(), 0u);
    for (unsigned set = 0; set < Segment::sleeper_sets; ++set) EXPECT_EQ(s.sleeper_set(set)[0].load(), 0u);
}

}   // namespace
}   // namespace tutti
