// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of ranks that do not wait: equal ranks are combined, and many ranks take few lines.
#include "launcher/diagnosis/unblocked_ranks.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using UnblockedState = UnblockedRank::State;
using testing::HasSubstr;
using testing::Not;

UnblockedRank outside(int rank, std::string now = "at a.c:3 in spin()") {
    return {rank, UnblockedState::outside_mpi, "MPI_Comm_rank", "a.c:2 in main()", std::move(now)};
}

TEST(UnblockedRanks, that_do_the_same_are_named_together) {
    EXPECT_EQ(text_of({outside(5), outside(2), outside(7), outside(6)}),
              "  ranks 2,5-7 are not in MPI; their last call was MPI_Comm_rank, a.c:2 in main()\n"
              "    now at a.c:3 in spin()\n");
}

TEST(UnblockedRanks, at_several_locations_are_listed_for_each) {
    EXPECT_EQ(text_of({outside(1), outside(2), outside(3, "at a.c:4 in spin()")}),
              "  ranks 1-3 are not in MPI; their last call was MPI_Comm_rank, a.c:2 in main()\n"
              "    ranks 1 and 2: now at a.c:3 in spin()\n"
              "    rank 3: now at a.c:4 in spin()\n");
}

TEST(UnblockedRanks, come_first_where_they_are_the_likely_cause) {
    EXPECT_EQ(text_of({{0, UnblockedState::in_mpi, "MPI_Wtime", "a.c:9 in main()", ""},
                       {1, UnblockedState::unknown, "", "", ""},
                       {2, UnblockedState::before_init, "", "", "stopped by a signal"},
                       {3, UnblockedState::outside_mpi, "", "", ""},
                       {4, UnblockedState::after_finalize, "", "", ""},
                       {5, UnblockedState::no_answer, "", "", ""},
                       {6, UnblockedState::no_answer, "", "", ""}}),
              "  rank 3 is not in MPI\n"
              "  rank 2 has not called MPI_Init\n"
              "    now stopped by a signal\n"
              "  rank 4 has returned from MPI_Finalize\n"
              "  rank 1 does not wait for another rank\n"
              "  ranks 5 and 6 cannot be observed: the launcher of that node did not answer\n"
              "  rank 0 is in MPI_Wtime at a.c:9 in main() and has not waited there for long\n");
}

TEST(UnblockedRanks, may_be_in_a_function_without_source_lines) {
    EXPECT_EQ(text_of({{0, UnblockedState::in_mpi, "MPI_Init", "in main() of solver", ""}}),
              "  rank 0 is in MPI_Init in main() of solver and has not waited there for long\n");
}

TEST(UnblockedRanks, are_a_few_lines_however_many_there_are) {
    std::vector<UnblockedRank> ranks;
    for (int rank = 0; rank < 1000; ++rank) {
        ranks.push_back(outside(rank, join("at a.c:", rank)));
        ranks.back().position = join("a.c:", rank % 100);
    }
    std::string const text = text_of(ranks);
    EXPECT_LE(std::ranges::count(text, '\n'), 50);
    EXPECT_THAT(text, HasSubstr("and 7 more ranks at other places\n"));
    EXPECT_THAT(text, HasSubstr("  and 920 more ranks do not wait\n"));
}

TEST(RankStates, are_empty_for_programs_without_mpi) {
    RankStates states;
    states.unblocked.push_back({0, UnblockedState::before_init, "", "", "in sleep()"});
    EXPECT_EQ(text_of(states), "");
    EXPECT_EQ(json_of(states), "");
    states.unblocked.push_back(outside(1));
    EXPECT_THAT(text_of(states), HasSubstr("No rank has waited for another one for long:\n  rank 1 is not in MPI"));
    EXPECT_THAT(text_of(states), HasSubstr("  rank 0 has not called MPI_Init\n    now in sleep()\n"));
}

TEST(RankStates, are_listed_for_tools) {
    RankStates states;
    BlockedRank waiting;
    waiting.rank = 0;
    waiting.call = "MPI_Barrier(MPI_COMM_WORLD)";
    states.waiting.push_back(waiting);
    states.unblocked = {outside(1), outside(2)};
    auto const
        json = nlohmann::json::parse(json_of(states)),
        others = nlohmann::json::parse(
            R"x([{"ranks": [1, 2], "doing": "outside MPI", "call": "MPI_Comm_rank", "place": "a.c:2 in main()",)x"
            R"x( "now": "at a.c:3 in spin()"}])x");
    EXPECT_EQ(json["waiting"][0]["call"], "MPI_Barrier(MPI_COMM_WORLD)");
    EXPECT_EQ(json["not_waiting"], others);
    EXPECT_THAT(text_of(states), testing::StartsWith("What ranks wait for:\n  rank 0  MPI_Barrier(MPI_COMM_WORLD)\n"
                                                     "  ranks 1 and 2 are not in MPI"));
}

}   // namespace
}   // namespace tutti::launcher
