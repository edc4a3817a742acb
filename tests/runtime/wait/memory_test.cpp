// SPDX-License-Identifier: BSD-3-Clause
// A wait whose rank looks for a better core ends in a destructor: without memory for that the wait ends all the same.
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/clock.hpp"
#include "runtime/wait/core_balancer.hpp"
#include "runtime/wait/wait.hpp"
#include "tests/coll/world/allocations.hpp"

namespace tutti {
namespace {

struct TwoCores : Scheduler {
    int unit_here() const override { return 0; }
    std::vector<int> units() const override { return {0, 1}; }
    bool move_to(int) const override { return false; }
};

TEST(WaitMemory, AWaitEndsWithoutMemoryToLookForAnotherCore) {
    Segment segment = Segment::create(2);
    segment.header().usable_cores = 1;
    TwoCores const cores;
    RankLock lock;
    Waiter waiter(segment, 0, WaitPolicy::shared, 0, lock);
    std::uint64_t const waits = segment.rank_state(0).times.waits.read();
    for (std::size_t allowed = 0; allowed < 4; ++allowed) {
        Balance balance(segment, 0, cores), other(segment, 1, cores);
        other.look(now_ns());   // so that there are two ranks on core 0
        waiter.watch(balance);
        int looks = 0;
        coll::test::MemoryEnds const ends(allowed);
        waiter.until([&] { return ++looks > 100; }, {"test"});
    }
    EXPECT_EQ(segment.rank_state(0).times.waits.read(), waits + 4);
}

}   // namespace
}   // namespace tutti
