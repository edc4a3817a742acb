// SPDX-License-Identifier: BSD-3-Clause
// What the launcher reads from the ranks of its node: each warning once, the first error once, and located waits.
#include "launcher/diagnosis/node_ranks.hpp"

#include <gmock/gmock.h>

namespace tutti::launcher {
namespace {

using testing::ElementsAre;

class NodeRanksTest : public testing::Test {
protected:
    NodeRanksTest() {
        for (int i = 0; i < 3; ++i) state(i).world_rank = 10 + i;
    }
    RankState& state(int local_rank) const { return segment_.rank_state(static_cast<unsigned>(local_rank)); }

    void publish(int local_rank, Diagnostic::Kind kind, char const* headline) {
        state(local_rank).diagnostic.error.write("T07", headline, "");
        state(local_rank).diagnostic.kind = kind;
    }
    void publish_wait(int local_rank, int awaited) {
        BlockedThread& thread = state(local_rank).blocked.thread[0];
        thread.awaiting = Awaiting::all;
        thread.ranges = 1;
        thread.awaited[0] = {awaited, awaited, 1};
        thread.call.write(CallKind::receive, "MPI_Recv(a)", {}, "ring.py:7 in pass()");
        state(local_rank).blocked.changes = 1;
    }
    static std::vector<std::string> headlines(std::vector<Report> const& reports) {
        std::vector<std::string> all;
        for (Report const& report : reports) all.push_back(report.headline);
        return all;
    }

    Segment segment_ = Segment::create(3);
    NodeRanks::Clock::time_point now_ = NodeRanks::Clock::now();
};

TEST_F(NodeRanksTest, KnowsTheRanksAsTheyWereAtTheStart) {
    NodeRanks const ranks(segment_, [](unsigned) { return 0; });
    state(1).world_rank = 99;   // a rank has overwritten it
    EXPECT_EQ(ranks.world_rank(1), 11);
    EXPECT_EQ(ranks.local_rank_of(11), 1u);
    EXPECT_EQ(ranks.local_rank_of(99), std::nullopt);
    EXPECT_EQ(ranks.state_of(12), &state(2));
    EXPECT_EQ(ranks.state_of(0), nullptr);
}

TEST_F(NodeRanksTest, TakesEachWarningAndTheFirstError) {
    NodeRanks ranks(segment_, [](unsigned) { return 0; });
    EXPECT_THAT(ranks.take_diagnostics(now_), ElementsAre());
    publish(0, Diagnostic::Kind::warning, "left over");
    publish(1, Diagnostic::Kind::error, "wrong");
    publish(2, Diagnostic::Kind::error, "wrong as well");
    EXPECT_THAT(headlines(ranks.take_diagnostics(now_)), ElementsAre("left over", "wrong"));
    EXPECT_EQ(state(0).diagnostic.kind, Diagnostic::Kind::none) << "the rank may continue";
    publish(0, Diagnostic::Kind::warning, "not freed");
    EXPECT_THAT(headlines(ranks.take_diagnostics(now_)), ElementsAre("not freed"));
}

TEST_F(NodeRanksTest, DelaysAnErrorUntilThePositionsOfItsCallsAreKnown) {
    NodeRanks ranks(segment_, [](unsigned) { return 0; });
    state(2).state = RankPhase::initialised;
    state(0).diagnostic.locations = 1;
    state(0).diagnostic.location[0].rank = 12;
    state(0).diagnostic.location[0].call.addresses = 1;
    publish(0, Diagnostic::Kind::error, "wrong");
    EXPECT_THAT(ranks.take_diagnostics(now_), ElementsAre());
    publish_wait(2, 10);
    EXPECT_THAT(headlines(ranks.take_diagnostics(now_)), ElementsAre("wrong"));
}

TEST_F(NodeRanksTest, LocatesTheWaitsThatTheFilterAccepts) {
    NodeRanks const ranks(segment_, [](unsigned) { return 0; });
    publish_wait(0, 11);
    publish_wait(2, 10);
    auto const awaits_10 = [](BlockedRank const& one) { return awaits(one.wait, 10); };
    EXPECT_EQ(ranks.waiting_ranks(false).size(), 2u);
    std::vector<BlockedRank> const found = ranks.waiting_ranks(false, awaits_10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rank, 12);
    EXPECT_EQ(found[0].kind, CallKind::receive);
    EXPECT_EQ(found[0].position.text, "ring.py:7 in pass()");
    ProvenDeadlock deadlock;
    deadlock.blocked = {{{.rank = 11}}, {{.rank = 12}}};
    deadlock.complete(found);
    EXPECT_EQ(deadlock.blocked[0].call, "");
    EXPECT_EQ(deadlock.blocked[1].call, "MPI_Recv(a)");
}

}   // namespace
}   // namespace tutti::launcher
