// SPDX-License-Identifier: BSD-3-Clause
// A wait that searches for another core ends in a destructor, and must end without memory for the search, too.
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/clock.hpp"
#include "runtime/wait/core_balancer.hpp"
#include "runtime/wait/wait.hpp"
#include "tests/coll/world/allocations.hpp"

namespace tutti {
namespace {

struct TwoCores : Scheduler {
    int current_unit() const override { return 0; }
    std::vector<int> units() const override { return {0, 1}; }
    bool move_to(int) const override { return false; }
};

TEST(WaitMemory, AWaitEndsWithoutMemoryToSearchForAnotherCore) {
    Segment segment = Segment::create(2);
    segment.header().usable_cores = 1;
    TwoCores const cores;
    RankLock lock;
    Waiter waiter(segment, 0, WaitPolicy::shared, 0, lock);
    std::uint64_t const waits = segment.rank_state(0).times.waits.read();
    for (std::size_t allowed = 0; allowed < 4; ++allowed) {
        CoreBalancer balance(segment, 0, cores), other(segment, 1, cores);
        other.update(now_ns());   // so that two ranks are on core 0
        waiter.set_core_balancer(balance);
        int polls = 0;
        coll::test::AllocationLimit const ends(allowed);
        waiter.wait_until([&] { return ++polls > 100; }, {"test"});
    }
    EXPECT_EQ(segment.rank_state(0).times.waits.read(), waits + 4);
}

}   // namespace
}   // namespace tutti
