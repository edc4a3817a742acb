// SPDX-License-Identifier: BSD-3-Clause
// When the records of members are compared, and which differences are reported. No call waits: one thread acts for all
// ranks.
#include "coll/match/call_records.hpp"

#include <numeric>

#include <gmock/gmock.h>

#include "coll/call/collectives.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"
#include "coll/match/call_record.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll::test {
namespace {

using testing::HasSubstr;

struct JobEnded {};

constexpr int block = MemberRecords::block, compare_delay = MemberRecords::compare_delay,
              kept = MemberRecords::calls_kept;

/// Three ranks on one node.
class Records : public testing::Test {
protected:
    Records() { begin({}); }

    void begin(Variables variables, int ranks = 3) {
        processes_.clear();
        segment_.emplace(Segment::create(static_cast<unsigned>(ranks)));
        variables.wait = "shared";
        std::vector<std::string> errors;
        for (unsigned r = 0; r < static_cast<unsigned>(ranks); ++r) {
            processes_.push_back(std::make_unique<Process>(*segment_, r, variables));
            processes_.back()->end_job = [](int, std::string const&) { throw JobEnded(); };
            initialize(*processes_.back(), errors);
        }
    }
    Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
    /// `rank` calls the function `times` times; `bytes` is the amount of each call.
    void call(int rank, Function function, int times = 1, std::uint64_t bytes = 0) {
        call_on(rank, *process(rank).world, function, times, bytes);
    }
    void call_on(int rank, Comm const& comm, Function function, int times = 1, std::uint64_t bytes = 0) {
        RecordedCall c;
        c.function = function;
        c.bytes = bytes;
        c.flags = RecordedCall::amount_known | RecordedCall::blocking;
        CallRecords& records = state_of(comm).records;
        process(rank).call_site = reinterpret_cast<void*>(0x1000u + static_cast<unsigned>(rank));
        CallRecord::PreparedCall prepared(c);
        for (int i = 0; i < times && records.is_recording(); ++i) records.record(prepared);
    }
    CallMatcher& records(int rank) { return *state_of(process(rank)).call_matcher; }
    /// `rank` begins another long wait.
    void wait_again(int rank) {
        process(rank).rank_state().blocked.changes.fetch_add(2);
        records(rank).on_long_wait(0);
    }
    Diagnostic& finding(int rank) { return process(rank).rank_state().diagnostic; }

    std::optional<Segment> segment_;
    std::vector<std::unique_ptr<Process>> processes_;
};

/// Programs that make more different calls than are kept write a record for each call.
TEST(CallRecord, ASerialNumberBeyond32BitsDoesNotChangeTheNumberOfTheCall) {
    auto const records = std::make_unique<MemberRecords>();
    RecordedCall c;
    c.function = "MPI_Bcast";
    for (std::uint64_t const serial : {(1ULL << 32) - 1, 1ULL << 32, (1ULL << 32) + 5}) {
        CallRecord::PreparedCall prepared(c);
        prepared.serial = serial;
        records->record(serial).write(prepared);
        NumberedRecord const call = numbered(6, serial);
        EXPECT_EQ(number_of(call), 6u) << serial;
        EXPECT_EQ(records->read(call).number, 6u) << serial;
        EXPECT_EQ(records->read(call).function, c.function) << serial;
    }
}

TEST_F(Records, EqualCallsAgree) {
    for (int round = 0; round < 100; ++round)
        for (int r = 0; r < 3; ++r) call(r, "MPI_Barrier", 5);
    for (int r = 0; r < 3; ++r) compare_calls(process(r));
    for (int r = 0; r < 3; ++r) EXPECT_EQ(finding(r).kind, Diagnostic::Kind::none);
}

TEST_F(Records, CallsAreComparedAfterABlock) {
    call(0, "MPI_Bcast", block, 4);
    call(1, "MPI_Bcast", 3, 4);
    call(1, "MPI_Bcast", 1, 8);
    call(1, "MPI_Bcast", block - 4 + compare_delay - 1, 4);
    EXPECT_THROW(call(1, "MPI_Bcast", 1, 4), JobEnded);   // `compare_delay` calls after the end of the block
    Diagnostic const& found = finding(1);
    ASSERT_EQ(found.kind, Diagnostic::Kind::error);
    EXPECT_STREQ(found.error.code, "T04");
    EXPECT_STREQ(found.error.headline,
                 "rank 1 calls MPI_Bcast with 8 bytes of a derived datatype where rank 0 has 4 bytes "
                 "of a derived datatype, as call 4 on MPI_COMM_WORLD");
    ASSERT_EQ(found.locations, 2u);
    EXPECT_EQ(found.location[0].rank, 1);
    EXPECT_EQ(found.location[0].call.stack[0], 0x1001u);
    EXPECT_EQ(found.location[1].rank, 0);
    EXPECT_EQ(found.location[1].call.stack[0], 0x1000u);
    EXPECT_THAT(found.location[1].call.text, HasSubstr("MPI_Bcast(4 bytes"));
}

TEST_F(Records, AnotherFunctionIsReportedAtTheEnd) {
    call(0, "MPI_Reduce");
    call(2, "MPI_Bcast");
    EXPECT_THROW(compare_calls(process(0)), JobEnded);
    EXPECT_STREQ(finding(0).error.code, "T03");
    EXPECT_STREQ(finding(0).error.headline,
                 "rank 0 calls MPI_Reduce where rank 2 calls MPI_Bcast, as call 1 on MPI_COMM_WORLD");
}

TEST_F(Records, EqualNumbersOfStartsAgree) {
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 5; ++i) state_of(*process(r).world).records.count_start();
    for (int r = 0; r < 3; ++r) state_of(*process(r).world).records.compare_starts();
    for (int r = 0; r < 3; ++r) EXPECT_EQ(finding(r).kind, Diagnostic::Kind::none);
}

/// A member that may still start one is not compared: the later of two members reports the difference.
TEST_F(Records, AMissingStartIsReportedByTheLaterOfTwoMembers) {
    auto const of = [&](int rank) -> CallRecords& { return state_of(*process(rank).world).records; };
    process(1).call_site = reinterpret_cast<void*>(0x1001);
    of(1).count_start();
    of(0).compare_starts();
    EXPECT_THROW(of(1).compare_starts(), JobEnded);
    EXPECT_EQ(finding(0).kind, Diagnostic::Kind::none);
    EXPECT_STREQ(finding(1).error.code, "T03");
    EXPECT_STREQ(finding(1).error.headline,
                 "rank 1 has started persistent collectives on MPI_COMM_WORLD 1 time, rank 0 0 times");
}

TEST_F(Records, ADifferenceFromALateNeighbourIsReported) {
    call(1, "MPI_Barrier", 2 * block);
    call(0, "MPI_Barrier", block - 1);
    call(0, "MPI_Ibarrier", block + 1);
    EXPECT_THROW(call(1, "MPI_Barrier", block), JobEnded);
}

TEST_F(Records, OverwrittenRecordsAreNotCompared) {
    call(0, "MPI_Ibarrier", block);
    call(0, "MPI_Barrier", 10 * block);
    call(1, "MPI_Barrier", kept);
    compare_calls(process(1));
    EXPECT_THROW(call(1, "MPI_Ibarrier", 11 * block - kept), JobEnded);
    // The first call of which both members still have records.
    EXPECT_THAT(finding(1).error.headline, HasSubstr(join("as call ", 11 * block - kept + 1, " on")));
}

TEST_F(Records, OfMoreCallsThanAreKeptTheKeptOnesAreCompared) {
    for (int r : {2, 0})
        for (std::uint64_t bytes = 1; bytes <= 40; ++bytes)
            call(r, "MPI_Bcast", 1, r == 2 && (bytes == 1 || bytes == 39) ? 7777 : bytes);
    EXPECT_THROW(compare_calls(process(0)), JobEnded);
    EXPECT_THAT(finding(0).error.headline, HasSubstr("as call 39 on"));
}

TEST_F(Records, FullDiagnosisComparesEveryCall) {
    Variables variables;
    variables.diagnosis = "full";
    begin(variables);
    call(0, "MPI_Barrier");
    EXPECT_THROW(call(1, "MPI_Bcast"), JobEnded);
}

TEST_F(Records, NoCallIsRecordedIfDisabled) {
    Variables variables;
    variables.diagnosis = "no";
    begin(variables);
    call(0, "MPI_Barrier", 20);
    call(1, "MPI_Bcast", 20);
    compare_calls(process(1));
    EXPECT_EQ(finding(1).kind, Diagnostic::Kind::none);
}

TEST_F(Records, AnotherFunctionIsReportedByAWaitingRank) {
    call(0, "MPI_Reduce");
    call(2, "MPI_Bcast");
    EXPECT_THROW(wait_again(0), JobEnded);
    EXPECT_STREQ(finding(0).error.code, "T03");
}

TEST_F(Records, CallsAreComparedOnceWhateverTheNumberOfWaits) {
    for (int r = 0; r < 3; ++r) call(r, "MPI_Barrier", 20);
    for (int i = 0; i < 10; ++i) wait_again(0);
    EXPECT_EQ(records(0).work.calls_compared, 40u);
    for (int r = 0; r < 3; ++r) call(r, "MPI_Barrier", 5);
    for (int i = 0; i < 10; ++i) wait_again(0);
    EXPECT_EQ(records(0).work.calls_compared, 50u);
}

TEST_F(Records, BlocksWithEqualDigestsAreNotCompared) {
    for (int r : {1, 0, 2}) call(r, "MPI_Barrier", block + 3);
    wait_again(1);   // rank 2 is not its neighbour
    EXPECT_LE(records(1).work.calls_compared, 20u);
}

TEST_F(Records, AWaitMakesOneRound) {
    for (int r = 0; r < 3; ++r) call(r, "MPI_Barrier");
    wait_again(0);
    std::uint64_t const visits = records(0).work.visits;
    for (int i = 0; i < 10; ++i) records(0).on_long_wait(0);
    EXPECT_EQ(records(0).work.visits, visits);
}

TEST_F(Records, AQueryComparesAgain) {
    call(0, "MPI_Reduce");
    wait_again(0);
    call(2, "MPI_Bcast");
    records(0).on_long_wait(0);
    EXPECT_EQ(finding(0).kind, Diagnostic::Kind::none);
    segment_->suspect(1);
    segment_->header().queries.fetch_add(1);
    records(0).on_long_wait(0);   // rank 0 is not suspected
    EXPECT_EQ(finding(0).kind, Diagnostic::Kind::none);
    segment_->suspect(0);
    segment_->header().queries.fetch_add(1);
    EXPECT_THROW(records(0).on_long_wait(0), JobEnded);
}

/// Ranks on one node with further communicators of all of them.
class RecordsOfMany : public Records {
protected:
    void begin_with(int ranks, int duplicates) {
        begin({}, ranks);
        for (int r = 0; r < ranks; ++r) made_.emplace_back();
        for (int i = 0; i < duplicates; ++i) {
            std::vector<int> all(static_cast<std::size_t>(ranks));
            std::iota(all.begin(), all.end(), 0);
            ContextAllocation part{};
            for (int r = 0; r < ranks; ++r) {
                auto members = Ref<Group>::adopt(new Group(all, r));
                if (r == 0) part = allocate_context(process(0), *members);
                made_[static_cast<std::size_t>(r)].push_back(make_comm(process(r), std::move(members), {&part, 1}));
            }
        }
    }
    ~RecordsOfMany() override { made_.clear(); }
    Comm& comm(int rank, int number) {
        return *made_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(number)];
    }

    static constexpr Function first_calls[] = {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce"};
    std::vector<std::vector<Ref<Comm>>> made_;
};

TEST_F(RecordsOfMany, CommunicatorsWithFewCallsNeedNoMemory) {
    begin_with(3, 1);
    for (int r = 0; r < 3; ++r)
        for (Function const function : first_calls) call_on(r, comm(r, 0), function);
    for (int r = 0; r < 3; ++r) {
        wait_again(r);
        compare_calls(process(r));
        EXPECT_FALSE(state_of(comm(r, 0)).area.has_records());
        EXPECT_THAT(state_of(comm(r, 0)).records.describe_last_call(), HasSubstr("MPI_Reduce"));
    }
    EXPECT_EQ(finding(0).kind, Diagnostic::Kind::none);
    call_on(0, comm(0, 0), "MPI_Barrier");
    EXPECT_TRUE(state_of(comm(0, 0)).area.has_records());
}

TEST_F(RecordsOfMany, ADifferenceInTheFirstCallsIsReportedAlsoIfOneMemberHasMadeMore) {
    for (int further : {0, 1}) {
        begin_with(3, 1);
        for (Function const function : first_calls) call_on(0, comm(0, 0), function);
        call_on(0, comm(0, 0), "MPI_Barrier", further);
        call_on(2, comm(2, 0), "MPI_Barrier");
        call_on(2, comm(2, 0), "MPI_Reduce");
        EXPECT_THROW(wait_again(0), JobEnded);
        EXPECT_STREQ(finding(0).error.code, "T03");
        EXPECT_THAT(finding(0).error.headline, HasSubstr("as call 2 on"));
        made_.clear();
    }
}

TEST_F(RecordsOfMany, ADifferenceInTheOnlyCallOnACommunicatorIsReported) {
    begin_with(3, 2);
    for (int r = 0; r < 3; ++r) call_on(r, comm(r, 0), "MPI_Barrier");
    call_on(0, comm(0, 1), "MPI_Barrier");
    call_on(2, comm(2, 1), "MPI_Bcast");
    EXPECT_THROW(wait_again(0), JobEnded);
    EXPECT_STREQ(finding(0).error.code, "T03");
}

TEST_F(RecordsOfMany, OppositeOrdersAreReportedInAWait) {
    begin_with(3, 2);
    call_on(0, comm(0, 0), "MPI_Barrier");
    call_on(2, comm(2, 1), "MPI_Barrier");
    EXPECT_THROW(wait_again(2), JobEnded);
    EXPECT_STREQ(finding(2).error.code, "T03");
    EXPECT_THAT(finding(2).error.headline,
                testing::AllOf(HasSubstr("rank 2 calls MPI_Barrier on "), HasSubstr("and rank 0 calls")));
}

TEST_F(RecordsOfMany, OppositeOrdersAreReportedOnAQueryWithoutAnAllowance) {
    constexpr int many = 200;
    begin_with(3, many);
    for (int i = 0; i < many - 2; ++i)
        for (int r = 0; r < 3; ++r) call_on(r, comm(r, i), "MPI_Barrier");
    call_on(0, comm(0, many - 2), "MPI_Barrier");
    call_on(2, comm(2, many - 1), "MPI_Barrier");
    segment_->suspect(0);
    segment_->header().queries.fetch_add(1);
    EXPECT_THROW(records(0).on_long_wait(0), JobEnded);
    EXPECT_STREQ(finding(0).error.code, "T03");
    EXPECT_LE(records(0).work.visits, 6u) << "the comparison must begin on the communicators where ranks wait";
}

TEST_F(RecordsOfMany, AStepReadsABoundedNumberOfRecords) {
    constexpr int many = 300;
    begin_with(3, many);
    for (int i = 0; i < many; ++i)
        for (int r = 0; r < 3; ++r) call_on(r, comm(r, i), "MPI_Barrier", i % 2 == 0 ? 1 : 100);
    for (int i = 0; i < 100; ++i) wait_again(0);
    CallMatcher::Work const& work = records(0).work;
    EXPECT_LE(work.visits, work.steps * CallMatcher::visits_per_step);
    // A visit that exhausts a step may read all records that are kept.
    EXPECT_LE(work.calls_compared, work.steps * (CallMatcher::visits_per_step * 16 + kept));
    EXPECT_LE(work.calls_compared, 2u * (many / 2) * 101);
}

TEST(ComparisonProgress, NeedsMemoryWhileMembersDiffer) {
    ComparisonProgress with;
    with.set(1, 3, 4);
    EXPECT_EQ(with.get(1), 3u);
    EXPECT_EQ(with.get(2), 0u);
    with.compact(0);
    EXPECT_TRUE(with.has_memory());
    with.set(2, 3, 4);
    with.set(3, 5, 4);
    with.compact(0);
    EXPECT_EQ(with.get(1), 3u);
    EXPECT_EQ(with.get(3), 5u);
    with.set(1, 5, 4);
    with.set(2, 5, 4);
    with.compact(0);
    EXPECT_FALSE(with.has_memory());
    for (int m : {1, 2, 3}) EXPECT_EQ(with.get(m), 5u);
}

TEST(ComparisonProgress, NeverSkipsCallsThatWereNotCompared) {
    ComparisonProgress with;
    with.set(1, 1000, 3);
    EXPECT_EQ(with.get(1), 255u);
    with.compact(0);
    EXPECT_EQ(with.get(2), 0u);
}

}   // namespace
}   // namespace tutti::coll::test
