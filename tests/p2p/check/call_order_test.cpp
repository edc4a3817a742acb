// SPDX-License-Identifier: BSD-3-Clause
// When a rank may know of what others have done since they all met.
#include "p2p/check/order.hpp"

#include <gtest/gtest.h>

namespace tutti::p2p::test {
namespace {

TEST(CallOrder, IsAloneFromAMeetingToTheNextNews) {
    CallOrder order;
    order.met_all();
    EXPECT_FALSE(order.alone());   // calls are not shown to it
    order.watch();
    EXPECT_FALSE(order.alone());
    order.met_all();
    EXPECT_EQ(order.meetings(), 2u);
    for (char const* call : {"MPI_Win_lock_all", "MPI_Put", "MPI_Win_flush", "MPI_Type_size", "MPI_Comm_rank"}) {
        order.may_learn_in(call);
        EXPECT_TRUE(order.alone()) << call;
    }
    for (char const* call : {"MPI_Recv", "MPI_Wait", "MPI_Iprobe", "MPI_Win_sync", "MPI_Get_count", "MPI_Win_wait"}) {
        order.may_learn_in(call);
        EXPECT_FALSE(order.alone()) << call;
        order.met_all();
        EXPECT_TRUE(order.alone());
    }
}

TEST(CallOrder, KnowsNothingOfMemoryThatIsShared) {
    CallOrder order;
    order.watch();
    order.shares_memory();
    order.met_all();
    EXPECT_FALSE(order.alone());
}

}   // namespace
}   // namespace tutti::p2p::test
