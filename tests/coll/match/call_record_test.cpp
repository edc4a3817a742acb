// SPDX-License-Identifier: BSD-3-Clause
// The properties in which two records of one call must agree, and how a difference is reported.
#include "coll/match/call_record.hpp"

#include <gmock/gmock.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::coll::test {
namespace {

RecordedCall call_of(Function function, std::uint64_t bytes, std::uint64_t signature, std::uint8_t flags = 0) {
    RecordedCall c;
    c.number = 3;
    c.function = function;
    c.bytes = bytes;
    c.signature = signature;
    c.flags = RecordedCall::amount_known | flags;
    return c;
}

TEST(CallRecord, HoldsTheLargestValueOfEachProperty) {
    RecordedCall call;
    call.function = Function::with_number(Function::count);
    call.op = RecordedCall::noncommutative_user_op;
    call.type = 0xff;
    call.flags = RecordedCall::amount_known | RecordedCall::untyped | RecordedCall::rooted | RecordedCall::blocking |
                 RecordedCall::total_amount;
    call.root = 0xffff;
    CallRecord::PreparedCall prepared(call);
    prepared.site = 0x7fff'ffff'ffff;
    prepared.serial = 0xffff'ffff;
    CallRecord record{};
    record.write(prepared);
    RecordedCall const read = record.read(0xffff'ffff, 4);
    EXPECT_EQ(read.number, 4u);
    EXPECT_STREQ(read.function.name(), call.function.name());
    EXPECT_EQ(read.op, call.op);
    EXPECT_EQ(read.type, call.type);
    EXPECT_EQ(read.flags, call.flags);
    EXPECT_EQ(read.root, call.root);
    EXPECT_EQ(read.site, prepared.site);
}

TEST(Difference, IsNoneBetweenEqualCalls) {
    RecordedCall const a = call_of("MPI_Bcast", 16, 7);
    EXPECT_EQ(difference(a, a), Difference::none);
    EXPECT_EQ(a.digest(), RecordedCall(a).digest());
}

TEST(Difference, IsTheFirstOne) {
    RecordedCall const a = call_of("MPI_Reduce", 16, 7, RecordedCall::rooted);
    RecordedCall b = a;
    b.signature = 8;
    EXPECT_EQ(difference(a, b), Difference::amount);
    b.op = 3;
    EXPECT_EQ(difference(a, b), Difference::amount) << "a rank without operands has no operator";
    RecordedCall c = a;
    c.op = 4;
    EXPECT_EQ(difference(c, b), Difference::op);
    b.root = 1;
    EXPECT_EQ(difference(c, b), Difference::root);
    b.function = "MPI_Ireduce";
    EXPECT_EQ(difference(c, b), Difference::function);
}

TEST(Difference, OfSingleBytesIsInTheirNumberOnly) {
    RecordedCall const bytes = call_of("MPI_Bcast", 16, 7, RecordedCall::untyped), ints = call_of("MPI_Bcast", 16, 9);
    EXPECT_EQ(difference(bytes, ints), Difference::none);
    EXPECT_EQ(difference(bytes, call_of("MPI_Bcast", 17, 7, RecordedCall::untyped)), Difference::amount);
}

TEST(Difference, IgnoresFieldsThatOneSideLacks) {
    RecordedCall const a = call_of("MPI_Gatherv", 16, 7);
    RecordedCall b = a;
    b.flags = 0;
    b.bytes = 0;
    EXPECT_EQ(difference(a, b), Difference::none);
}

TEST(Headline, NamesTheCallsOfBothSides) {
    NameLookup const words{"MPI_COMM_WORLD", nullptr};
    RecordedCall a = call_of("MPI_Bcast", 16, 7, RecordedCall::rooted), b = a;
    EXPECT_EQ(describe(a, words), "MPI_Bcast(16 bytes of a derived datatype, root 0, MPI_COMM_WORLD)");
    b.root = 2;
    EXPECT_EQ(headline(Difference::root, b, 1, a, 0, words),
              "rank 1 calls MPI_Bcast with root 2 where rank 0 has root 0, as call 3 on MPI_COMM_WORLD");
    EXPECT_EQ(headline(Difference::function, call_of("MPI_Reduce", 0, 0), 1, a, 0, words),
              "rank 1 calls MPI_Reduce where rank 0 calls MPI_Bcast, as call 3 on MPI_COMM_WORLD");
}

TEST(Headline, CountsFencesOfAWindow) {
    NameLookup const words{"window \"halo\"", nullptr};
    RecordedCall const fence = call_of("MPI_Win_fence", 0, 0, RecordedCall::blocking),
                       free = call_of("MPI_Win_free", 0, 0, RecordedCall::blocking);
    ASSERT_EQ(difference(free, fence), Difference::function);
    std::string const text = "rank 1 has called MPI_Win_fence 3 times on window \"halo\", rank 0 has called it 2 times";
    EXPECT_EQ(headline(Difference::function, free, 0, fence, 1, words), text);
    EXPECT_EQ(headline(Difference::function, fence, 1, free, 0, words), text);
    EXPECT_STREQ(diagnostic_code(Difference::function, fence), "T15");
    EXPECT_STREQ(diagnostic_code(Difference::function, call_of("MPI_Bcast", 0, 0)), "T03");

    RecordedCall const idle = call_of("MPI_Win_fence", 0, 0, 0);
    ASSERT_EQ(difference(idle, fence), Difference::synchronisation);
    EXPECT_EQ(headline(Difference::synchronisation, fence, 1, idle, 0, words),
              "rank 0 calls MPI_Win_fence with MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, rank 1 without one of them, "
              "as call 3 on window \"halo\"");
    EXPECT_STREQ(diagnostic_code(Difference::synchronisation, idle), "T15");
}

TEST(SignatureHash, DependsOnTheDataNotOnTheConstructors) {
    using B = TypeBuilder;
    auto const one = B::predefined(Basic::int32), two = B::predefined(Basic::float32);
    auto const four = B::contiguous(4, *one);
    EXPECT_EQ(one->signature()->hash.repeated(8).value, four->signature()->hash.repeated(2).value);
    EXPECT_NE(one->signature()->hash.repeated(8).value, two->signature()->hash.repeated(8).value);
    EXPECT_EQ(one->signature()->hash.repeated(0).value, two->signature()->hash.repeated(0).value);
    EXPECT_FALSE(one->signature()->untyped);
    EXPECT_TRUE(B::predefined(Basic::byte_)->signature()->untyped);
}

TEST(CallRecord, RoundTrips) {
    RecordedCall c = call_of("MPI_Reduce", 1 << 20, 42, RecordedCall::rooted);
    c.op = 3;
    c.type = 5;
    c.root = 700;
    MemberRecords records{};
    CallRecord::PreparedCall call(c);
    call.site = 0x1234;
    call.serial = 5;
    records.record(5).write(call);
    EXPECT_TRUE(records.record(5).is_of(call));
    RecordedCall const read = records.read(std::uint64_t{3} << 32 | 5);
    EXPECT_EQ(read.site, 0x1234u);
    EXPECT_EQ(read.number, 3u);
    EXPECT_EQ(read.type, 5);
    EXPECT_EQ(read.digest(), c.digest());
    EXPECT_EQ(records.read(std::uint64_t{3} << 32 | (5 + MemberRecords::records_kept)).number,
              0u);   // another call's record is there
    EXPECT_EQ(records.read(std::uint64_t{4} << 32 | 6).number, 0u);
}

}   // namespace
}   // namespace tutti::coll::test
