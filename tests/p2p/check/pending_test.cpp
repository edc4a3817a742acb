// SPDX-License-Identifier: BSD-3-Clause
// Which pending operations share memory.
#include "p2p/check/pending.hpp"

#include <array>

#include <gtest/gtest.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::p2p::test {
namespace {

class SharedMemoryOfOperations : public testing::Test {
protected:
    void add(Request& request, Data const& data, bool receives) {
        pending_.add({&request, receives, data, std::nullopt, "MPI_Irecv", 0});
    }
    Data bytes(std::size_t first, std::size_t n) { return Data::of_bytes(memory_.data() + first, n); }
    Request const* sharing(Data const& data, bool also_sends = true) const {
        Pending const* const found = pending_.overlapping(data, also_sends);
        return found ? found->request : nullptr;
    }

    std::array<std::byte, 1000> memory_{};
    Request one_, two_;
    PendingOperations pending_;
};

TEST_F(SharedMemoryOfOperations, IsFoundToTheByte) {
    add(one_, bytes(100, 50), true);
    EXPECT_EQ(sharing(bytes(50, 50)), nullptr);
    EXPECT_EQ(sharing(bytes(50, 51)), &one_);
    EXPECT_EQ(sharing(bytes(149, 1)), &one_);
    EXPECT_EQ(sharing(bytes(150, 50)), nullptr);
    EXPECT_EQ(sharing(bytes(0, 1000)), &one_);
    EXPECT_EQ(sharing(bytes(120, 0)), nullptr);
}

TEST_F(SharedMemoryOfOperations, IsFoundBehindAShorterOperation) {
    add(one_, bytes(0, 500), true);
    add(two_, bytes(500, 10), true);
    EXPECT_EQ(sharing(bytes(499, 1)), &one_);
    EXPECT_EQ(sharing(bytes(505, 1)), &two_);
}

TEST_F(SharedMemoryOfOperations, MayBeReadBySends) {
    add(one_, bytes(0, 500), false);
    EXPECT_EQ(sharing(bytes(10, 10), false), nullptr);
    EXPECT_EQ(sharing(bytes(10, 10), true), &one_);
}

TEST_F(SharedMemoryOfOperations, EndsWithTheOperation) {
    add(one_, bytes(0, 500), true);
    add(one_, bytes(600, 10), true);   // started again
    EXPECT_EQ(sharing(bytes(0, 500)), nullptr);
    EXPECT_EQ(sharing(bytes(600, 1)), &one_);
    pending_.remove(one_);
    EXPECT_EQ(sharing(bytes(0, 1000)), nullptr);
    EXPECT_EQ(pending_.find(one_), nullptr);
}

TEST_F(SharedMemoryOfOperations, IsUnownedInGaps) {
    Ref<Datatype> const integer = TypeBuilder::predefined(Basic::int32);
    Ref<Datatype> const column = TypeBuilder::hvector(4, 1, 16, *integer);
    add(one_, Data::of(memory_.data(), 1, *column), true);
    EXPECT_EQ(sharing(bytes(4, 4)), nullptr);
    add(two_, bytes(0, 64), true);
    EXPECT_EQ(sharing(Data::of(memory_.data() + 4, 1, *column)), nullptr);
}

}   // namespace
}   // namespace tutti::p2p::test
