// SPDX-License-Identifier: BSD-3-Clause
// When members' records are compared, and what is found then. Records wait for nobody: one thread plays all ranks.
#include "coll/match/call_records.hpp"

#include <gmock/gmock.h>

#include "coll/call/collectives.hpp"
#include "coll/choice/state.hpp"
#include "coll/comm/create.hpp"
#include "coll/match/functions.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll::test {
namespace {

using testing::HasSubstr;

struct JobEnded {};

constexpr int block = MemberRecords::block, until_compared = MemberRecords::until_compared,
              kept = MemberRecords::calls_kept;

/// Three ranks of one node.
class Records : public testing::Test {
protected:
    Records() { begin({}); }

    void begin(Variables variables) {
        processes_.clear();
        segment_.emplace(Segment::create(3));
        variables.wait = "shared";
        std::vector<std::string> complaints;
        for (unsigned r = 0; r < 3; ++r) {
            processes_.push_back(std::make_unique<Process>(*segment_, r, variables));
            processes_.back()->end_job = [](int, std::string const&) { throw JobEnded(); };
            start(*processes_.back(), complaints);
        }
    }
    Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
    /// That rank calls a function so often; `bytes`: of its amount.
    void call(int rank, char const* function, int times = 1, std::uint64_t bytes = 0) {
        RecordedCall c;
        c.function = function_named(function);
        c.bytes = bytes;
        c.flags = RecordedCall::amount_known | RecordedCall::blocking;
        CallRecords& records = state_of(*process(rank).world).records;
        process(rank).call_site = reinterpret_cast<void*>(0x1000u + static_cast<unsigned>(rank));
        CallRecord::Prepared prepared(c);
        for (int i = 0; i < times && records.wanted(); ++i) records.take(prepared);
    }
    Finding& finding(int rank) { return process(rank).rank_state().finding; }

    std::optional<Segment> segment_;
    std::vector<std::unique_ptr<Process>> processes_;
};

/// Programs that make more different calls than are kept write a note for each call.
TEST(CallRecord, ASerialNumberBeyond32BitsLeavesTheNumberOfTheCall) {
    auto const records = std::make_unique<MemberRecords>();
    RecordedCall c;
    c.function = function_named("MPI_Bcast");
    for (std::uint64_t const serial : {(1ULL << 32) - 1, 1ULL << 32, (1ULL << 32) + 5}) {
        CallRecord::Prepared prepared(c);
        prepared.serial = serial;
        records->record(serial).write(prepared);
        NumberedRecord const call = numbered(6, serial);
        EXPECT_EQ(number_of(call), 6u) << serial;
        EXPECT_EQ(records->read(call).number, 6u) << serial;
        EXPECT_EQ(records->read(call).function, c.function) << serial;
    }
}

TEST_F(Records, OfEqualCallsAgree) {
    for (int round = 0; round < 100; ++round)
        for (int r = 0; r < 3; ++r) call(r, "MPI_Barrier", 5);
    for (int r = 0; r < 3; ++r) compare_calls(process(r));
    for (int r = 0; r < 3; ++r) EXPECT_EQ(finding(r).kind, Finding::Kind::nothing);
}

TEST_F(Records, AreComparedAfterABlockOfCalls) {
    call(0, "MPI_Bcast", block, 4);
    call(1, "MPI_Bcast", 3, 4);
    call(1, "MPI_Bcast", 1, 8);
    call(1, "MPI_Bcast", block - 4 + until_compared - 1, 4);
    EXPECT_THROW(call(1, "MPI_Bcast", 1, 4), JobEnded);   // later: the other word has had its time
    Finding const& found = finding(1);
    ASSERT_EQ(found.kind, Finding::Kind::error);
    EXPECT_STREQ(found.code, "T04");
    EXPECT_STREQ(found.headline,
                 "rank 1 calls MPI_Bcast with 8 bytes of a derived datatype where rank 0 has 4 bytes "
                 "of a derived datatype, as call 4 on MPI_COMM_WORLD");
    ASSERT_EQ(found.places, 2u);
    EXPECT_EQ(found.place[0].rank, 1);
    EXPECT_EQ(found.place[0].stack[0], 0x1001u);
    EXPECT_EQ(found.place[1].rank, 0);
    EXPECT_EQ(found.place[1].stack[0], 0x1000u);
    EXPECT_THAT(found.place[1].call, HasSubstr("MPI_Bcast(4 bytes"));
}

TEST_F(Records, OfAnotherFunctionAreFoundByWhoeverWaits) {
    call(0, "MPI_Reduce");
    call(2, "MPI_Bcast");
    EXPECT_THROW(compare_calls(process(0)), JobEnded);
    EXPECT_STREQ(finding(0).code, "T03");
    EXPECT_STREQ(finding(0).headline,
                 "rank 0 calls MPI_Reduce where rank 2 calls MPI_Bcast, as call 1 on MPI_COMM_WORLD");
}

TEST_F(Records, AreFoundAlsoWhenTheNeighbourIsLate) {
    call(1, "MPI_Barrier", 2 * block);
    call(0, "MPI_Barrier", block - 1);
    call(0, "MPI_Ibarrier", block + 1);
    EXPECT_THROW(call(1, "MPI_Barrier", block), JobEnded);
}

TEST_F(Records, ThatAreOverwrittenAreNotCompared) {
    call(0, "MPI_Ibarrier", block);
    call(0, "MPI_Barrier", 10 * block);
    call(1, "MPI_Barrier", kept);
    compare_calls(process(1));
    EXPECT_THROW(call(1, "MPI_Ibarrier", 11 * block - kept), JobEnded);
    // The first of which there are records of both.
    EXPECT_THAT(finding(1).headline, HasSubstr(join("as call ", 11 * block - kept + 1, " on")));
}

TEST_F(Records, OfMoreDifferentCallsThanAreKeptAreComparedAsFarAsTheyAreThere) {
    for (int r : {2, 0})
        for (std::uint64_t bytes = 1; bytes <= 40; ++bytes)
            call(r, "MPI_Bcast", 1, r == 2 && (bytes == 1 || bytes == 39) ? 7777 : bytes);
    EXPECT_THROW(compare_calls(process(0)), JobEnded);
    EXPECT_THAT(finding(0).headline, HasSubstr("as call 39 on"));
}

TEST_F(Records, AreComparedAtEveryCallIfTheUserWantsThat) {
    Variables variables;
    variables.diagnosis = "full";
    begin(variables);
    call(0, "MPI_Barrier");
    EXPECT_THROW(call(1, "MPI_Bcast"), JobEnded);
}

TEST_F(Records, AreNotTakenIfNobodyWantsThem) {
    Variables variables;
    variables.diagnosis = "no";
    begin(variables);
    call(0, "MPI_Barrier", 20);
    call(1, "MPI_Bcast", 20);
    compare_calls(process(1));
    EXPECT_EQ(finding(1).kind, Finding::Kind::nothing);
}

}   // namespace
}   // namespace tutti::coll::test
