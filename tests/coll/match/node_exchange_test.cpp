// SPDX-License-Identifier: BSD-3-Clause
// Batches of call records, which are sent between nodes.
#include "coll/match/node_exchange.hpp"

#include <gtest/gtest.h>

namespace tutti::coll::test {
namespace {

RecordedCall call(std::uint16_t function, std::uint64_t bytes, std::uint64_t site = 1) {
    RecordedCall c;
    c.number = 1;
    c.function = Function::with_number(function);
    c.bytes = bytes;
    c.site = site;
    return c;
}

TEST(CallBatch, KeepsEachDifferentCallOnce) {
    CallBatch batch;
    batch.first = 7;
    for (int i = 0; i < 100; ++i) batch.add(call(1, i % 3 == 0 ? 4 : 8, i % 2 == 0 ? 100 : 200));
    EXPECT_EQ(batch.records.size(), 4u);
    EXPECT_EQ(batch.end(), 107u);
    for (std::uint64_t i = 0; i < 100; ++i) {
        EXPECT_EQ(batch.call(7 + i).bytes, i % 3 == 0 ? 4u : 8u);
        EXPECT_EQ(batch.call(7 + i).site, i % 2 == 0 ? 100u : 200u);
    }
}

TEST(CallBatch, RoundTrips) {
    CallBatch batch;
    batch.context = 5;
    batch.first = 129;
    batch.is_last = true;
    for (std::uint64_t i = 0; i < CallBatch::max_calls; ++i) batch.add(call(static_cast<std::uint16_t>(1 + i % 50), i));
    batch.records[3].number = 0;   // overwritten before it was read
    CallBatch const received = CallBatch::from_bytes(batch.to_bytes());
    EXPECT_EQ(received.context, 5u);
    EXPECT_EQ(received.first, 129u);
    EXPECT_EQ(received.end(), batch.end());
    EXPECT_TRUE(received.is_last);
    for (std::uint64_t n = received.first; n < received.end(); ++n) {
        EXPECT_EQ(received.call(n).bytes, batch.call(n).bytes);
        EXPECT_EQ(received.call(n).function, batch.call(n).function);
        EXPECT_EQ(received.call(n).number, batch.call(n).number);
    }
}

TEST(CallBatch, MayBeEmpty) {
    CallBatch batch;
    batch.is_last = true;
    CallBatch const received = CallBatch::from_bytes(batch.to_bytes());
    EXPECT_EQ(received.end(), received.first);
    EXPECT_TRUE(received.is_last);
}

}   // namespace
}   // namespace tutti::coll::test
