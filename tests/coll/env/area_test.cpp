// SPDX-License-Identifier: BSD-3-Clause
// The memory of a communicator's collectives: what the segment lays out for the world's is enough.
#include "coll/env/area.hpp"

#include <gtest/gtest.h>

#include "runtime/memory/segment.hpp"

namespace tutti::coll {
namespace {

TEST(Area, OfTheWorldFitsIntoTheSegmentUpToTheMostRanks) {
    for (unsigned ranks : {1u, 2u, 64u, 65u, 170u, 171u, 1000u, Segment::most_ranks}) {
        Segment const segment = Segment::create(ranks);
        EXPECT_LE(Area::bytes(static_cast<int>(ranks)), segment.commons().size()) << ranks;
    }
}

}   // namespace
}   // namespace tutti::coll
