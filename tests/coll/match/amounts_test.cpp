// SPDX-License-Identifier: BSD-3-Clause
// --check: the amounts that ranks exchange in nonblocking v and w forms match in any order of the calls, and the
// messages that carry them. One thread acts for all ranks.
#include "coll/match/amounts.hpp"

#include <gmock/gmock.h>

#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"
#include "coll/match/all_call_records.hpp"
#include "coll/match/call_record.hpp"
#include "p2p/engine.hpp"
#include "tests/coll/world/int_calls.hpp"

namespace tutti::coll::test {
namespace {

using testing::HasSubstr;

struct EndOfJob {};

/// Three ranks on one node.
class Amounts : public testing::Test {
protected:
    static constexpr int ranks = 3, tag = 99;

    Amounts() {
        Variables variables;
        variables.wait = "shared";
        variables.diagnosis = "full";
        std::vector<std::string> errors;
        for (unsigned r = 0; r < ranks; ++r) {
            processes_.push_back(std::make_unique<Process>(segment_, r, variables));
            processes_.back()->end_job = [](int, std::string const&) { throw EndOfJob(); };
            p2p::start(*processes_.back());
            coll::initialize(*processes_.back(), errors);
        }
    }
    Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
    AmountExchange& amounts(int rank) { return *state_of(process(rank)).call_matcher->amounts; }
    std::string headline(int rank) { return process(rank).rank_state().diagnostic.error.headline; }

    /// `rank` begins a v form with parts of `count` ints.
    void begin(int rank, Collective collective, int count) {
        Comm& comm = *process(rank).world;
        RecordedCall call;
        call.function = collective == Collective::alltoall ? Function("MPI_Ialltoallv") : Function("MPI_Igatherv");
        CallRecord::PreparedCall prepared(call);
        CallRecords& records = state_of(comm).records;
        records.record(prepared);
        IntBuffers buffers(ranks, count + 1);
        IntCalls(comm, count, buffers, true).with(collective, [&](Collective which, auto const& args) {
            using Args = std::decay_t<decltype(args)>;
            if constexpr (std::is_same_v<Args, RootedArgs> || std::is_same_v<Args, AlltoallArgs>)
                amounts(rank).begin(comm, records.number(), which, args);
        });
    }
    /// Receives and compares amounts until no more arrive.
    void receive_all() {
        for (int times = 0; times < 4; ++times)
            for (int r = 0; r < ranks; ++r) {
                process(r).waiter.progress();
                amounts(r).receive();
            }
    }

    Segment segment_ = Segment::create(ranks);
    std::vector<std::unique_ptr<Process>> processes_;
};

TEST_F(Amounts, EqualAmountsMatchInAnyOrderOfTheRanks) {
    for (Collective const collective : {Collective::gather, Collective::scatter, Collective::alltoall})
        for (int const first : {0, 1, 2}) {
            for (int r = 0; r < ranks; ++r) begin((first + r) % ranks, collective, 5);
            receive_all();
        }
    for (int r = 0; r < ranks; ++r) EXPECT_EQ(headline(r), "");
}

TEST_F(Amounts, ADifferenceIsReportedByAReceiverThatBeginsLater) {
    begin(1, Collective::gather, 4);
    begin(0, Collective::gather, 5);
    EXPECT_THROW(receive_all(), EndOfJob);
    EXPECT_THAT(headline(0), HasSubstr("rank 1 sends"));
    EXPECT_THAT(headline(0), HasSubstr("MPI_Igatherv"));
}

TEST_F(Amounts, ADifferenceIsReportedByAReceiverThatBeganEarlier) {
    begin(0, Collective::gather, 5);
    EXPECT_EQ(headline(0), "");
    begin(2, Collective::gather, 6);
    EXPECT_THROW(receive_all(), EndOfJob);
    EXPECT_THAT(headline(0), HasSubstr("rank 2 sends"));
}

TEST_F(Amounts, AmountsOfDifferentCallsAreNotCompared) {
    begin(0, Collective::gather, 5);
    begin(0, Collective::gather, 7);
    for (int r : {1, 2}) {
        begin(r, Collective::gather, 5);
        begin(r, Collective::gather, 7);
    }
    receive_all();
    EXPECT_EQ(headline(0), "");
}

TEST_F(Amounts, AlltoallComparesAllPairs) {
    begin(2, Collective::alltoall, 3);
    begin(1, Collective::alltoall, 3);
    auto const begin_and_receive = [&] {
        begin(0, Collective::alltoall, 2);
        receive_all();
    };
    EXPECT_THROW(begin_and_receive(), EndOfJob);
    EXPECT_THAT(headline(0), HasSubstr("sends 12 bytes and rank 0 expects 8"));
}

TEST_F(Amounts, MessagesArriveOnceAndInOrder) {
    Mailbox to_peer(process(1), tag), here(process(0), tag);
    auto const bytes = [](unsigned n, std::size_t size) {
        return std::vector<std::byte>(size, std::byte{static_cast<unsigned char>(n)});
    };
    constexpr std::size_t large = 100'000;   // more than a rank accepts before it receives
    EXPECT_FALSE(here.next());
    for (unsigned n = 0; n < 3; ++n) to_peer.send(bytes(n, n == 1 ? large : 8), 0);
    for (unsigned n = 0; n < 3; ++n) {
        std::optional<std::vector<std::byte>> got;
        for (int times = 0; times < 100 && !got; ++times) {
            process(1).waiter.progress();
            process(0).waiter.progress();
            got = here.next();
        }
        ASSERT_TRUE(got) << n;
        EXPECT_EQ(*got, bytes(n, n == 1 ? large : 8)) << n;
    }
    EXPECT_FALSE(here.next());
}

}   // namespace
}   // namespace tutti::coll::test
