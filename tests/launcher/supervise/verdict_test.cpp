// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rank_exit.hpp"

#include <algorithm>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = RankExit::Kind;

constexpr int exited(int code) { return code << 8; }

RankExit of(int status, RankPhase state, int abort_code = 0) {
    ProcessExit const end{.rank = 2, .pid = 99, .status = status, .phase = state, .abort_code = abort_code};
    return classify_exit(end, "here");
}

TEST(RankExit, is_fine_with_code_0_after_finalize_and_for_programs_without_mpi) {
    EXPECT_EQ(of(0, RankPhase::finalised).kind, Kind::success);
    EXPECT_EQ(of(0, RankPhase::absent).kind, Kind::success);
}

TEST(RankExit, never_gives_code_0_to_a_rank_that_left_without_finalising) {
    RankExit v = of(0, RankPhase::initialised);
    EXPECT_EQ(v.kind, Kind::left_early);
    EXPECT_EQ(v.code, 1);
    EXPECT_TRUE(v.ends_job());
    EXPECT_THAT(v.message, HasSubstr("MPI_Finalize"));
    EXPECT_EQ(of(exited(7), RankPhase::initialised).code, 7);
}

TEST(RankExit, names_rank_host_process_and_signal) {
    RankExit v = of(SIGSEGV, RankPhase::initialised);
    EXPECT_EQ(v.code, 128 + SIGSEGV);
    EXPECT_EQ(v.message, "rank 2 on here, process 99, was killed by signal 11 (Segmentation fault)");
}

TEST(RankExit, reports_exhausted_memory) {
    ProcessExit end{.rank = 2, .pid = 99, .status = SIGKILL, .phase = RankPhase::initialised};
    EXPECT_EQ(classify_exit(end, "here").message, "rank 2 on here, process 99, was killed by signal 9 (Killed)");
    end.oom_cause = "the limit was reached";
    EXPECT_THAT(classify_exit(end, "here").message,
                HasSubstr("signal 9 (Killed): the limit was reached; allow the job more"));
    end.status = SIGTERM;
    EXPECT_THAT(classify_exit(end, "here").message, Not(HasSubstr("limit"))) << "killed by another process";
    end.status = SIGBUS;
    EXPECT_THAT(classify_exit(end, "here").message, HasSubstr("no page left for shared memory"));
}

TEST(RankExit, explains_that_a_second_program_had_no_connection) {
    ProcessExit end{.rank = 2, .pid = 99, .status = exited(128 + SIGPIPE), .phase = RankPhase::finalised};
    EXPECT_EQ(classify_exit(end, "here").message, "rank 2 on here, process 99, ended with exit code 141");
    end.has_closed_pmi = true;
    EXPECT_THAT(classify_exit(end, "here").message, HasSubstr("exit code 141: the MPI_Finalize of its first program"));
    end.status = SIGPIPE;
    EXPECT_THAT(classify_exit(end, "here").message, HasSubstr("signal 13 (Broken pipe): the MPI_Finalize"));
    end.status = exited(7);
    EXPECT_EQ(classify_exit(end, "here").message, "rank 2 on here, process 99, ended with exit code 7");
}

TEST(RankExit, repeats_the_loader_s_message) {
    ProcessExit const end{
        .rank = 2, .pid = 99, .status = exited(127), .loader_error = "the loader cannot load libx.so: no"};
    EXPECT_EQ(classify_exit(end, "here").message,
              "rank 2 on here, process 99, ended with exit code 127: the loader cannot load libx.so: no");
}

TEST(RankExit, takes_the_code_of_an_abort) {
    RankExit v = of(exited(5), RankPhase::aborted, 42);
    EXPECT_EQ(v.kind, Kind::aborted);
    EXPECT_EQ(v.code, 42);
    EXPECT_THAT(v.message, HasSubstr("code 42"));
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 0).code, 0) << "as in MPICH and Open MPI";
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 256).code, 0);
    EXPECT_EQ(of(exited(0), RankPhase::aborted, 300).code, 44);
    EXPECT_TRUE(of(exited(0), RankPhase::aborted, 0).ends_job());
}

TEST(RankExit, leaves_the_others_running_when_a_rank_fails_after_finalize) {
    RankExit v = of(exited(3), RankPhase::finalised);
    EXPECT_EQ(v.code, 3);
    EXPECT_FALSE(v.ends_job());
    EXPECT_TRUE(of(exited(3), RankPhase::absent).ends_job());
}

TEST(RankExit, has_a_report_only_of_ranks_that_were_in_mpi) {
    EXPECT_FALSE(of(SIGKILL, RankPhase::absent).in_mpi);
    EXPECT_FALSE(of(exited(3), RankPhase::absent).in_mpi);
    EXPECT_FALSE(of(exited(3), RankPhase::finalised).in_mpi);
    EXPECT_FALSE(of(SIGKILL, RankPhase::aborted).in_mpi);
    EXPECT_EQ(of(exited(3), RankPhase::initialised).in_mpi->description,
              "left with exit code 3 without calling MPI_Finalize");
    EXPECT_TRUE(of(SIGKILL, RankPhase::finalised).in_mpi->after_finalize);
    ProcessExit const unknown{.rank = 2, .pid = 99, .phase = RankPhase::initialised};
    RankExit const exit = classify_exit(unknown, "here");
    EXPECT_EQ(exit.code, 1);
    EXPECT_EQ(exit.in_mpi->description, "ended without calling MPI_Finalize");
    EXPECT_EQ(exit.in_mpi->process, "process 99 on here");
}

TEST(RankExit, is_taken_with_those_that_the_same_report_describes) {
    auto const killed = [](int rank, int signal, RankPhase phase) {
        return classify_exit({.rank = rank, .pid = 90 + rank, .status = signal, .phase = phase}, "here");
    };
    std::vector exits{killed(1, SIGKILL, RankPhase::initialised), killed(2, SIGSEGV, RankPhase::initialised),
                      killed(3, SIGKILL, RankPhase::initialised), killed(4, SIGKILL, RankPhase::finalised),
                      killed(5, SIGKILL, RankPhase::absent)};
    std::vector<ExitedRank> const alike = take_alike(exits);
    ASSERT_EQ(alike.size(), 2u);
    EXPECT_EQ(alike[0].rank, 1);
    EXPECT_EQ(alike[1].rank, 3);
    EXPECT_EQ(exits.size(), 3u);
    std::ranges::reverse(exits);
    EXPECT_TRUE(take_alike(exits).empty());
    EXPECT_EQ(exits.size(), 2u);
}

TEST(RankExit, prefers_the_end_that_explains_more) {
    EXPECT_GT(of(exited(5), RankPhase::aborted, 1).kind, of(SIGKILL, RankPhase::initialised).kind);
    EXPECT_GT(of(SIGKILL, RankPhase::initialised).kind, of(exited(1), RankPhase::initialised).kind);
}

}   // namespace
}   // namespace tutti::launcher
