// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rank_exit.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Verdict::Kind;

constexpr int exited(int code) { return code << 8; }

Verdict of(int status, RankPhase state, int abort_code = 0) {
    End const end{.rank = 2, .pid = 99, .status = status, .state = state, .abort_code = abort_code};
    return judge(end, "here");
}

TEST(Verdict, is_fine_with_code_0_after_finalize_and_for_programs_without_mpi) {
    EXPECT_EQ(of(0, RankPhase::finalised).kind, Kind::fine);
    EXPECT_EQ(of(0, RankPhase::absent).kind, Kind::fine);
}

TEST(Verdict, never_gives_code_0_to_a_rank_that_left_without_finalising) {
    Verdict v = of(0, RankPhase::initialised);
    EXPECT_EQ(v.kind, Kind::left_early);
    EXPECT_EQ(v.code, 1);
    EXPECT_TRUE(v.ends_job());
    EXPECT_THAT(v.sentence, HasSubstr("MPI_Finalize"));
    EXPECT_EQ(of(exited(7), RankPhase::initialised).code, 7);
}

TEST(Verdict, names_rank_host_process_and_signal) {
    Verdict v = of(SIGSEGV, RankPhase::initialised);
    EXPECT_EQ(v.code, 128 + SIGSEGV);
    EXPECT_EQ(v.sentence, "rank 2 on here, process 99, was killed by signal 11 (Segmentation fault)");
}

TEST(Verdict, says_when_memory_ran_out) {
    End end{.rank = 2, .pid = 99, .status = SIGKILL, .state = RankPhase::initialised};
    EXPECT_EQ(judge(end, "here").sentence, "rank 2 on here, process 99, was killed by signal 9 (Killed)");
    end.ran_out = "the limit was reached";
    EXPECT_THAT(judge(end, "here").sentence, HasSubstr("signal 9 (Killed): the limit was reached; allow the job more"));
    end.status = SIGTERM;
    EXPECT_THAT(judge(end, "here").sentence, Not(HasSubstr("limit"))) << "somebody else's doing";
    end.status = SIGBUS;
    EXPECT_THAT(judge(end, "here").sentence, HasSubstr("no page left for memory that ranks share"));
}

TEST(Verdict, says_what_the_loader_has_said) {
    End const end{.rank = 2, .pid = 99, .status = exited(127), .not_loaded = "the loader cannot load libx.so: no"};
    EXPECT_EQ(judge(end, "here").sentence,
              "rank 2 on here, process 99, ended with exit code 127: the loader cannot load libx.so: no");
}

TEST(Verdict, takes_the_code_of_an_abort) {
    Verdict v = of(exited(5), RankPhase::aborted, 42);
    EXPECT_EQ(v.kind, Kind::aborted);
    EXPECT_EQ(v.code, 42);
    EXPECT_THAT(v.sentence, HasSubstr("code 42"));
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 0).code, 0) << "as MPICH and Open MPI have it";
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 256).code, 0);
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 300).code, 44);
    EXPECT_TRUE(of(exited(0), RankPhase::aborted, 0).ends_job());
}

TEST(Verdict, leaves_the_others_running_when_a_rank_fails_after_finalize) {
    Verdict v = of(exited(3), RankPhase::finalised);
    EXPECT_EQ(v.code, 3);
    EXPECT_FALSE(v.ends_job());
    EXPECT_TRUE(of(exited(3), RankPhase::absent).ends_job());
}

TEST(Verdict, prefers_the_end_that_explains_more) {
    EXPECT_GT(of(exited(5), RankPhase::aborted, 1).kind, of(SIGKILL, RankPhase::initialised).kind);
    EXPECT_GT(of(SIGKILL, RankPhase::initialised).kind, of(exited(1), RankPhase::initialised).kind);
}

}   // namespace
}   // namespace tutti::launcher
