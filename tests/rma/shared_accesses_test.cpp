// SPDX-License-Identifier: BSD-3-Clause
// Tests which accesses under shared locks are recorded for comparison with those of other ranks.
#include "rma/access_check.hpp"

#include "p2p/engine.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::rma {
namespace {

void run(std::function<void(p2p::CallOrder&, SharedAccesses&, Process&)> const& body) {
    Variables v = p2p::test::shared_wait();
    v.diagnosis = "full";
    p2p::test::run(
        1,
        [&](p2p::test::Rank& r) {
            p2p::CallOrder& order = p2p::engine(r.process).checks()->call_order;
            SharedAccesses accesses(r.process);
            order.enable();
            order.on_global_sync();
            body(order, accesses, r.process);
        },
        v);
}

TEST(SharedAccesses, AreKeptIfNoSynchronizationOrdersThem) {
    run([](p2p::CallOrder& order, SharedAccesses& accesses, Process& process) {
        AccessRecord const one{};
        accesses.record(3, true, true, &one);
        accesses.record(3, true, false, &one);     // under an exclusive lock
        accesses.record(3, true, true, nullptr);   // with gaps
        EXPECT_EQ(accesses.records_for(3).size(), 1u);
        {
            SharedAccesses const of_another_window(process);
            accesses.record(3, true, true, &one);
        }
        order.on_news();
        accesses.record(3, true, true, &one);
        EXPECT_EQ(accesses.records_for(3).size(), 1u);
        order.on_global_sync();
        accesses.record(3, false, true, &one);
        ASSERT_EQ(accesses.records_for(3).size(), 2u);
        EXPECT_NE(accesses.records_for(3)[0].sync_point, accesses.records_for(3)[1].sync_point);
        EXPECT_TRUE(accesses.records_for(2).empty());
    });
}

TEST(SharedAccesses, AreDroppedAfterOtherRanksHaveWritten) {
    run([](p2p::CallOrder& order, SharedAccesses& accesses, Process&) {
        AccessRecord const one{};
        accesses.record(3, true, true, &one);
        order.on_global_sync();
        accesses.record(2, false, true, &one);
        accesses.record(3, true, false, nullptr);
        EXPECT_EQ(accesses.written(3), (std::vector<SharedAccesses::SyncPoint>{1, 2}));
        EXPECT_TRUE(accesses.written(2).empty());
        accesses.drop_after({1});
        EXPECT_TRUE(accesses.records_for(3).empty());
        EXPECT_EQ(accesses.records_for(2).size(), 1u);
        accesses.clear();
        EXPECT_TRUE(accesses.empty());
    });
}

}   // namespace
}   // namespace tutti::rma
