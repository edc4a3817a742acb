// SPDX-License-Identifier: BSD-3-Clause
// Whom a store wakes: who waits for that word, and who waits for what nobody can name.
#include <thread>

#include <gtest/gtest.h>

#include "runtime/wait/sleepers.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

class Wake : public ::testing::TestWithParam<WaitPolicy> {};
INSTANTIATE_TEST_SUITE_P(Policies, Wake, ::testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

/// A rank that waits for one of the segment's words, or for what nobody can name.
struct Sleeper {
    Sleeper(Segment& s, unsigned place, WaitPolicy policy, Flag& flag, bool by_word)
        : waiter(s, place, policy, 1, lock), thread([this, &flag, by_word] {
              waiter.until([&] { return flag.reached(1); }, {"test"}, by_word ? &flag.value : nullptr);
          }) {}
    RankLock lock;
    Waiter waiter;
    std::thread thread;
};

void wake_by_word(WaitPolicy policy, std::uint32_t usable_cores) {
    Segment s = Segment::create(4);
    s.header().usable_cores = usable_cores;
    auto* flags = reinterpret_cast<Flag*>(s.commons().data());
    Sleeper first(s, 0, policy, flags[0], true), second(s, 1, policy, flags[1], true),
        any(s, 2, policy, flags[2], false);
    RankLock lock;
    Waiter writer(s, 3, policy, 0, lock);
    while (s.header().sleeping() != 3) std::this_thread::yield();
    auto const woken = [&](unsigned place) { return s.rank_state(place).wake.load(); };

    flags[0].publish(1);
    writer.wake_sleepers(flags[0].value);
    first.thread.join();
    EXPECT_EQ(woken(0), 1u);
    EXPECT_EQ(woken(1), 0u) << "it waits for another word";
    EXPECT_EQ(woken(2), 1u) << "nobody can tell what it waits for";
    writer.wake_rank(1);
    EXPECT_EQ(woken(1), 1u) << "a message is for a rank, whatever it waits for";
    EXPECT_EQ(woken(2), 1u);
    for (int i : {1, 2}) flags[i].publish(1);
    writer.wake_sleepers();
    second.thread.join();
    any.thread.join();
    EXPECT_EQ(s.header().sleeping(), 0u);
    for (unsigned place = 0; place < 4; ++place) EXPECT_EQ(s.watched(place).load(), 0u);
}

TEST_P(Wake, AStoreWakesThoseWhoWaitForThatWord) { wake_by_word(GetParam(), 0); }
TEST_P(Wake, SoItDoesWhereRanksShareCores) { wake_by_word(GetParam(), 1); }

TEST_P(Wake, WhoHasOperationsUnderWayIsWokenByEveryWord) {
    struct UnderWay : Pollable {
        bool poll() override { return false; }
        bool awaits_words() const override { return true; }
    } under_way;
    Segment s = Segment::create(2);
    auto* flags = reinterpret_cast<Flag*>(s.commons().data());
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 0, other);
    sleeper.attach(&under_way);
    std::thread thread([&] { sleeper.until([&] { return flags[0].reached(1); }, {"test"}, &flags[0].value); });
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
    EXPECT_EQ(sleepers.load(), 1u) << "by membarrier";
    sleeper.remove();
    EXPECT_FALSE(writer.any());
    sleeper.add(nullptr, true);
    EXPECT_EQ(sleepers.load(), SegmentHeader::fence_bits | 1);
    EXPECT_TRUE(writer.any());
    EXPECT_EQ(writer.wake_all(), 1u);
    s.header().fences_until.store(0);
    for (int i = 0; i < 5000; ++i) writer.wake_one(0);
    EXPECT_EQ(sleepers.load(), 1u) << "the sleeper is still counted";
    sleeper.remove();
    EXPECT_EQ(sleepers.load(), 0u);
}

TEST(Fences, StayOnWhereRanksOutnumberCores) {
    Segment s = Segment::create(2);
    s.header().usable_cores = 1;
    Sleepers sleeper(s, 0), writer(s, 1);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(writer.wake_all(), 0u);
    EXPECT_EQ(s.header().sleepers.load(), SegmentHeader::fence_bits);
}

}   // namespace
}   // namespace tutti
