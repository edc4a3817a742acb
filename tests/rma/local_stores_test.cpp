// SPDX-License-Identifier: BSD-3-Clause
// Which stores of a program between two fences are found.
#include "rma/local_accesses.hpp"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "p2p/check/checks.hpp"
#include "rma/access_check.hpp"

namespace tutti::rma {
namespace {

class StoresBetweenFences : public testing::Test {
protected:
    StoresBetweenFences() { open(); }
    void open() { stores_.open(part_.data(), sizeof part_, 1); }
    /// Of one element.
    static Accessed access(Operation operation, unsigned element) {
        Accessed one{};
        one.first = 4 * element;
        one.end = one.first + 4;
        one.operation = operation;
        std::strcpy(one.call, "MPI_Put");
        return one;
    }
    /// It finds and leaves these values.
    static Accessed put(unsigned element, int found, int left) {
        Accessed one = access(Operation::put, element);
        one.found = digest(found);
        one.left = digest(left);
        return one;
    }
    static std::uint64_t digest(int value) { return p2p::digest_of(p2p::Data::of_bytes(&value, sizeof value)); }
    std::size_t changed(std::vector<Accessed> const& all) const { return stores_.changed(all).size(); }

    std::array<int, 4> part_ = {1, 2, 3, 4};
    LocalStores stores_;
};

TEST_F(StoresBetweenFences, AreFoundWhereOthersGet) {
    Accessed const get = access(Operation::get, 1);
    EXPECT_EQ(changed({get}), 0u);
    part_[0] = part_[2] = 9;
    EXPECT_EQ(changed({get}), 0u);
    part_[1] = 9;
    EXPECT_EQ(changed({get, get}), 2u);
    EXPECT_EQ(changed({get, access(Operation::put, 1)}), 0u);   // another rank's may have come
    open();
    EXPECT_EQ(changed({get}), 0u);
    part_[1] = 8;
    stores_.close();
    EXPECT_EQ(changed({get}), 0u);
}

TEST_F(StoresBetweenFences, AreFoundBeforeAndBehindAPut) {
    part_[2] = 7;
    EXPECT_EQ(changed({put(2, 3, 7)}), 0u);
    EXPECT_EQ(changed({put(2, 5, 7)}), 1u);
    EXPECT_EQ(changed({put(2, 3, 6)}), 1u);
    EXPECT_EQ(changed({access(Operation::put, 2)}), 0u);   // its bytes are not known
    EXPECT_EQ(changed({put(2, 5, 6), put(2, 3, 7)}), 0u);
}

}   // namespace
}   // namespace tutti::rma
