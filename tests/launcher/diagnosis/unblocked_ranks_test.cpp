// SPDX-License-Identifier: BSD-3-Clause
// What is said of ranks that do not wait: equal ones together, and few lines for many.
#include "launcher/diagnosis/unblocked_ranks.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using Doing = UnblockedRank::Doing;
using testing::HasSubstr;
using testing::Not;

UnblockedRank outside(int rank, std::string now = "at a.c:3 in spin()") {
    return {rank, Doing::outside, "MPI_Comm_rank", "a.c:2 in main()", std::move(now)};
}

TEST(UnblockedRanks, that_do_the_same_are_named_together) {
    EXPECT_EQ(text_of({outside(5), outside(2), outside(7), outside(6)}),
              "  ranks 2,5-7 are not in MPI; their last call was MPI_Comm_rank, a.c:2 in main()\n"
              "    now at a.c:3 in spin()\n");
}

TEST(UnblockedRanks, at_several_places_are_named_at_each) {
    EXPECT_EQ(text_of({outside(1), outside(2), outside(3, "at a.c:4 in spin()")}),
              "  ranks 1-3 are not in MPI; their last call was MPI_Comm_rank, a.c:2 in main()\n"
              "    ranks 1 and 2: now at a.c:3 in spin()\n"
              "    rank 3: now at a.c:4 in spin()\n");
}

TEST(UnblockedRanks, come_first_where_they_are_the_likely_cause) {
    EXPECT_EQ(text_of({{0, Doing::inside, "MPI_Wtime", "a.c:9 in main()", ""},
                       {1, Doing::unseen, "", "", ""},
                       {2, Doing::before_init, "", "", "stopped by a signal"},
                       {3, Doing::outside, "", "", ""},
                       {4, Doing::after_finalize, "", "", ""},
                       {5, Doing::no_answer, "", "", ""},
                       {6, Doing::no_answer, "", "", ""}}),
              "  rank 3 is not in MPI\n"
              "  rank 2 has not called MPI_Init\n"
              "    now stopped by a signal\n"
              "  rank 4 has left MPI_Finalize\n"
              "  rank 1 does not wait for another rank\n"
              "  ranks 5 and 6 cannot be seen: the launcher there did not answer\n"
              "  rank 0 is in MPI_Wtime at a.c:9 in main() and has not waited there for long\n");
}

TEST(UnblockedRanks, are_a_few_lines_however_many_there_are) {
    std::vector<UnblockedRank> ranks;
    for (int rank = 0; rank < 1000; ++rank) {
        ranks.push_back(outside(rank, join("at a.c:", rank)));
        ranks.back().place = join("a.c:", rank % 100);
    }
    std::string const text = text_of(ranks);
    EXPECT_LE(std::ranges::count(text, '\n'), 50);
    EXPECT_THAT(text, HasSubstr("and 7 more ranks at other places\n"));
    EXPECT_THAT(text, HasSubstr("  and 920 more ranks do not wait\n"));
}

TEST(RanksSeen, have_nothing_to_say_of_programs_without_mpi) {
    RanksSeen seen;
    seen.unblocked.push_back({0, Doing::before_init, "", "", "in sleep()"});
    EXPECT_EQ(text_of(seen), "");
    EXPECT_EQ(json_of(seen), "");
    seen.unblocked.push_back(outside(1));
    EXPECT_THAT(text_of(seen), HasSubstr("No rank has waited for another one for long:\n  rank 1 is not in MPI"));
    EXPECT_THAT(text_of(seen), HasSubstr("  rank 0 has not called MPI_Init\n    now in sleep()\n"));
}

TEST(RanksSeen, are_listed_for_tools) {
    RanksSeen seen;
    PlacedRank waiting;
    waiting.blocked.rank = 0;
    waiting.blocked.call = "MPI_Barrier(MPI_COMM_WORLD)";
    seen.waiting.push_back(waiting);
    seen.unblocked = {outside(1), outside(2)};
    auto const
        json = nlohmann::json::parse(json_of(seen)),
        others = nlohmann::json::parse(
            R"x([{"ranks": [1, 2], "doing": "outside MPI", "call": "MPI_Comm_rank", "place": "a.c:2 in main()",)x"
            R"x( "now": "at a.c:3 in spin()"}])x");
    EXPECT_EQ(json["waiting"][0]["call"], "MPI_Barrier(MPI_COMM_WORLD)");
    EXPECT_EQ(json["not_waiting"], others);
    EXPECT_THAT(text_of(seen), testing::StartsWith("What ranks wait for:\n  rank 0  MPI_Barrier(MPI_COMM_WORLD)\n"
                                                   "  ranks 1 and 2 are not in MPI"));
}

}   // namespace
}   // namespace tutti::launcher
