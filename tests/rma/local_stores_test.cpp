// SPDX-License-Identifier: BSD-3-Clause
// Tests which of a program's own stores between two fences are detected.
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
    void open() { stores_.begin_epoch(part_.data(), sizeof part_, 1); }
    /// An access to one element.
    static AccessRecord access(Operation operation, unsigned element) {
        AccessRecord one{};
        one.first = 4 * element;
        one.end = one.first + 4;
        one.operation = operation;
        one.function = "MPI_Put";
        return one;
    }
    /// A put that finds the value `found` and leaves `left`.
    static AccessRecord put(unsigned element, int found, int left) {
        AccessRecord one = access(Operation::put, element);
        one.digest_before = digest(found);
        one.digest_after = digest(left);
        return one;
    }
    static std::uint64_t digest(int value) { return p2p::digest_of(p2p::Data::of_bytes(&value, sizeof value)); }
    std::size_t changed(std::vector<AccessRecord> const& all) const { return stores_.changed_accesses(all).size(); }

    std::array<int, 4> part_ = {1, 2, 3, 4};
    LocalStores stores_;
};

TEST_F(StoresBetweenFences, AreFoundWhereOthersGet) {
    AccessRecord const get = access(Operation::get, 1);
    EXPECT_EQ(changed({get}), 0u);
    part_[0] = part_[2] = 9;
    EXPECT_EQ(changed({get}), 0u);
    part_[1] = 9;
    EXPECT_EQ(changed({get, get}), 2u);
    EXPECT_EQ(changed({get, access(Operation::put, 1)}), 0u);   // the value may come from another rank's put
    open();
    EXPECT_EQ(changed({get}), 0u);
    part_[1] = 8;
    stores_.skip_epoch();
    EXPECT_EQ(changed({get}), 0u);
}

TEST_F(StoresBetweenFences, AreFoundBeforeAndBehindAPut) {
    part_[2] = 7;
    EXPECT_EQ(changed({put(2, 3, 7)}), 0u);
    EXPECT_EQ(changed({put(2, 5, 7)}), 1u);
    EXPECT_EQ(changed({put(2, 3, 6)}), 1u);
    EXPECT_EQ(changed({access(Operation::put, 2)}), 0u);   // the bytes that it wrote are unknown
    EXPECT_EQ(changed({put(2, 5, 6), put(2, 3, 7)}), 0u);
}

}   // namespace
}   // namespace tutti::rma
