// SPDX-License-Identifier: BSD-3-Clause
// Which accesses under shared locks are kept, to be compared with those of others.
#include "rma/shared_accesses.hpp"

#include "p2p/engine.hpp"
#include "rma/access_check.hpp"
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
            order.watch();
            order.met_all();
            body(order, accesses, r.process);
        },
        v);
}

TEST(SharedAccesses, AreKeptWhereNothingOrdersThem) {
    run([](p2p::CallOrder& order, SharedAccesses& accesses, Process& process) {
        Accessed const one{};
        accesses.note(3, true, true, &one);
        accesses.note(3, true, false, &one);     // under an exclusive lock
        accesses.note(3, true, true, nullptr);   // with gaps
        EXPECT_EQ(accesses.of(3).size(), 1u);
        {
            SharedAccesses const of_another_window(process);
            accesses.note(3, true, true, &one);
        }
        order.may_learn();
        accesses.note(3, true, true, &one);
        EXPECT_EQ(accesses.of(3).size(), 1u);
        order.met_all();
        accesses.note(3, false, true, &one);
        ASSERT_EQ(accesses.of(3).size(), 2u);
        EXPECT_NE(accesses.of(3)[0].meeting, accesses.of(3)[1].meeting);
        EXPECT_TRUE(accesses.of(2).empty());
    });
}

TEST(SharedAccesses, AreDroppedWhereOthersMayHaveSaidSomething) {
    run([](p2p::CallOrder& order, SharedAccesses& accesses, Process&) {
        Accessed const one{};
        accesses.note(3, true, true, &one);
        order.met_all();
        accesses.note(2, false, true, &one);
        accesses.note(3, true, false, nullptr);
        EXPECT_EQ(accesses.written(3), (std::vector<SharedAccesses::Meeting>{1, 2}));
        EXPECT_TRUE(accesses.written(2).empty());
        accesses.drop({1});
        EXPECT_TRUE(accesses.of(3).empty());
        EXPECT_EQ(accesses.of(2).size(), 1u);
        accesses.forget();
        EXPECT_TRUE(accesses.empty());
    });
}

}   // namespace
}   // namespace tutti::rma
