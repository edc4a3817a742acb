// SPDX-License-Identifier: BSD-3-Clause
// Tests which one-sided operations conflict.
#include "rma/access_check.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::rma {
namespace {

AccessRecord accessed(Operation operation, std::uint64_t first, std::uint64_t end, BuiltinOp op = BuiltinOp::none,
                      Basic type = Basic::int32) {
    AccessRecord one{};
    one.first = first;
    one.end = end;
    one.operation = operation;
    one.op = op;
    one.type = type;
    one.function = operation == Operation::accumulate ? Function("MPI_Accumulate") : Function("MPI_Put");
    return one;
}
/// The same access by a later call, from the same or another origin.
AccessRecord later(AccessRecord one, int origin = 0) {
    one.number = 1;
    one.origin = origin;
    return one;
}

TEST(Accesses, ConflictWhereOneOfThemWrites) {
    AccessRecord const put = accessed(Operation::put, 0, 8), get = accessed(Operation::get, 4, 12);
    EXPECT_TRUE(conflict(put, put, {}));
    EXPECT_TRUE(conflict(put, get, {}));
    EXPECT_TRUE(conflict(get, put, {}));
    EXPECT_FALSE(conflict(get, get, {}));
    EXPECT_FALSE(conflict(put, accessed(Operation::put, 8, 16), {}));
    EXPECT_TRUE(conflict(put, accessed(Operation::accumulate, 0, 4, BuiltinOp::sum), {}));
    EXPECT_TRUE(conflict(get, accessed(Operation::accumulate, 4, 8, BuiltinOp::sum), {}));
    EXPECT_FALSE(conflict(get, accessed(Operation::accumulate, 4, 8, BuiltinOp::no_op), {}));
}

TEST(Accesses, DoNotConflictAsAccumulatesOfOneOperatorAndType) {
    AccessRecord const sum = accessed(Operation::accumulate, 0, 8, BuiltinOp::sum);
    EXPECT_FALSE(conflict(sum, sum, {}));
    EXPECT_FALSE(conflict(sum, accessed(Operation::accumulate, 4, 8, BuiltinOp::no_op), {}));
    EXPECT_TRUE(conflict(sum, later(accessed(Operation::accumulate, 4, 8, BuiltinOp::prod), 1), {}));
    EXPECT_TRUE(conflict(sum, accessed(Operation::accumulate, 0, 8, BuiltinOp::sum, Basic::float64), {}));
    AccessRecord swap = accessed(Operation::accumulate, 0, 8);
    swap.function = "MPI_Compare_and_swap";
    EXPECT_FALSE(conflict(sum, swap, {}));
    EXPECT_TRUE(conflict(swap, accessed(Operation::put, 0, 8), {}));
}

TEST(Accesses, OfOneOriginDoNotConflictAsOrderedAccumulates) {
    AccessRecord const sum = accessed(Operation::accumulate, 0, 8, BuiltinOp::sum),
                       product = later(accessed(Operation::accumulate, 0, 8, BuiltinOp::prod)),
                       of_doubles = later(accessed(Operation::accumulate, 0, 8, BuiltinOp::prod, Basic::float64));
    AccessRecord fetched = product;
    fetched.function = "MPI_Fetch_and_op";
    EXPECT_FALSE(conflict(sum, product, {}));
    EXPECT_FALSE(conflict(product, sum, {}));
    EXPECT_TRUE(conflict(sum, of_doubles, {}));
    EXPECT_TRUE(conflict(sum, later(product, 1), {}));
    EXPECT_TRUE(conflict(sum, product, AccumulateOrdering::parse("none")));
    EXPECT_TRUE(conflict(sum, product, AccumulateOrdering::parse("rar,raw,war")));
    EXPECT_FALSE(conflict(sum, product, AccumulateOrdering::parse("waw")));
    EXPECT_TRUE(conflict(sum, fetched, AccumulateOrdering::parse("waw")));        // reads what the sum wrote
    EXPECT_FALSE(conflict(fetched, sum, AccumulateOrdering::parse("raw,waw")));   // in either argument order
    EXPECT_TRUE(conflict(sum, later(accessed(Operation::put, 0, 8)), {}));
}

TEST(Accesses, AreReportedOncePerPairOfCalls) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, {});
    AccessLog accesses(process);
    Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    testing::internal::CaptureStderr();
    for (int epoch = 0; epoch < 2; ++epoch) {
        accesses.record({0, 0, 1, *type}, 0, false, Operation::put, nullptr);
        accesses.record({0, 0, 2, *type}, 0, false, Operation::get, nullptr);
        accesses.complete(-1);
    }
    std::string const report = testing::internal::GetCapturedStderr();
    EXPECT_EQ(report.find("warning[T14]"), 0u) << report;
    EXPECT_EQ(report.rfind("warning[T14]"), 0u) << report;
}

TEST(Accesses, UnderSharedLocksConflictAfterOneMeetingOfTwoOrigins) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, {});
    auto const reported = [&](int other_origin, std::uint64_t other_meeting) {
        AccessLog accesses(process);
        AccessRecord one = accessed(Operation::put, 0, 8), other = later(one, other_origin);
        one.sync_point = 1;
        other.sync_point = other_meeting;
        std::vector<AccessRecord> all = {one, other};
        testing::internal::CaptureStderr();
        accesses.report_shared_conflicts(all);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(reported(1, 1).find("warning[T14]"), 0u);
    EXPECT_EQ(reported(1, 2), "");
    EXPECT_EQ(reported(0, 1), "");
}

TEST(Accesses, CompleteForEachTargetSeparately) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, {});
    AccessLog accesses(process);
    Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    testing::internal::CaptureStderr();
    for (int rank : {0, 1}) accesses.record({rank, 0, 1, *type}, 0, false, Operation::get, nullptr);
    accesses.complete_gets(0);
    EXPECT_EQ(accesses.records_for(0).size(), 0u);
    EXPECT_EQ(accesses.records_for(1).size(), 1u);
    accesses.record({0, 0, 1, *type}, 0, false, Operation::put, nullptr);
    accesses.complete(0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}   // namespace
}   // namespace tutti::rma
