// SPDX-License-Identifier: BSD-3-Clause
// When a rank may learn of calls that other ranks made since the last synchronization.
#include "p2p/check/order.hpp"

#include <gtest/gtest.h>

namespace tutti::p2p::test {
namespace {

TEST(CallOrder, HasNoNewsFromASynchronizationToTheNextMessage) {
    CallOrder order;
    order.on_global_sync();
    EXPECT_FALSE(order.no_news_since_sync());   // calls are not recorded
    order.enable();
    EXPECT_FALSE(order.no_news_since_sync());
    order.on_global_sync();
    EXPECT_EQ(order.global_syncs(), 2u);
    static constexpr Function local[] = {"MPI_Win_lock_all", "MPI_Put", "MPI_Win_flush", "MPI_Type_size",
                                         "MPI_Comm_rank"};
    for (Function const call : local) {
        order.on_call(call);
        EXPECT_TRUE(order.no_news_since_sync()) << call.name();
    }
    static constexpr Function others[] = {"MPI_Recv",     "MPI_Wait",      "MPI_Iprobe",
                                          "MPI_Win_sync", "MPI_Get_count", "MPI_Win_wait"};
    for (Function const call : others) {
        order.on_call(call);
        EXPECT_FALSE(order.no_news_since_sync()) << call.name();
        order.on_global_sync();
        EXPECT_TRUE(order.no_news_since_sync());
    }
}

TEST(CallOrder, IsUnknownWithSharedMemory) {
    CallOrder order;
    order.enable();
    order.on_shared_memory();
    order.on_global_sync();
    EXPECT_FALSE(order.no_news_since_sync());
}

}   // namespace
}   // namespace tutti::p2p::test
