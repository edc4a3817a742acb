// SPDX-License-Identifier: BSD-3-Clause
// Reports of ended processes, from the state that they have published; this process publishes the state.
#include "launcher/diagnosis/report.hpp"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/job/last_call.hpp"

namespace tutti::launcher {
namespace {

/// Returns the location of the call.
[[gnu::noinline]] void const* here() { return __builtin_return_address(0); }

class ExitReport : public testing::Test {
protected:
    ExitReport() { publish_program(call_); }
    ExitedRank ended(int rank, int signal, std::string description, std::string process) const {
        ExitedRank one{
            .rank = rank, .signal = signal, .description = std::move(description), .process = std::move(process)};
        one.locate(call_);
        return one;
    }
    LastCall call_{};
};

TEST_F(ExitReport, NamesTheLastCallAndItsPlace) {
    call_.function = "MPI_Bcast";
    call_.site = here();
    EXPECT_NE(position_of(call_).text, "");
    Report const report = make_exit_report({ended(3, SIGSEGV, "was killed by signal 11", "process 9 on here")}, {});
    EXPECT_EQ(report.code, "T09");
    EXPECT_EQ(report.headline, "rank 3 was killed by signal 11");
    EXPECT_EQ(report.notes.front(), "process 9 on here");
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "MPI_Bcast");
    EXPECT_EQ(report.lines[0].remark, "was its last MPI call");
}

TEST_F(ExitReport, NamesTheLineOfACrash) {
    call_.function = "MPI_Bcast";
    call_.site = here();
    call_.crash = reinterpret_cast<std::uint64_t>(call_.site) - 1;
    Report const report = make_exit_report({ended(3, SIGSEGV, "was killed by signal 11", "rank 3 was killed")}, {});
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "crashed");
    EXPECT_EQ(report.lines[0].position, position_of(call_).text);
    EXPECT_EQ(report.lines[0].remark, "after MPI_Bcast at " + position_of(call_).text);
    EXPECT_NE(report.help.find("that line"), std::string::npos);
}

TEST_F(ExitReport, FindsACallInTheProgramBelowOneInALibrary) {
    call_.site = here();
    std::uint64_t const stack[] = {call_.program_end + 4096, reinterpret_cast<std::uint64_t>(call_.site)};
    EXPECT_NE(position_of(call_).text, "");
    EXPECT_EQ(position_in_program(call_, stack).text, position_of(call_).text);
    EXPECT_EQ(position_in_program(call_, std::span(stack).first(1)).text, "");
}

TEST_F(ExitReport, OfSeveralRanksIsOneReport) {
    std::string const how = "left with exit code 3 without calling MPI_Finalize";
    Report const report = make_exit_report({ended(2, 0, how, "one"), ended(0, 0, how, "another")}, {});
    EXPECT_EQ(report.headline, "ranks 0 and 2 " + how);
    EXPECT_EQ(report.lines.size(), 2u);
    ExitedRank late = ended(1, SIGSEGV, "was killed", "process 9");
    late.after_finalize = true;
    EXPECT_NE(make_exit_report({late}, {}).headline.find("after MPI_Finalize"), std::string::npos);
}

TEST_F(ExitReport, NamesEachRankThatWaitsForAnyOfThemOnce) {
    auto const waiting = [](int rank, int awaited) {
        BlockedRank one;
        one.rank = rank;
        one.wait.state = RankWait::State::blocked;
        one.wait.awaited = {{awaited, awaited, 1}};
        return one;
    };
    Report const report = make_exit_report({ended(1, SIGKILL, "was killed", ""), ended(3, SIGKILL, "was killed", "")},
                                           {waiting(0, 1), waiting(2, 3), waiting(3, 1), waiting(4, 2)});
    ASSERT_EQ(report.lines.size(), 4u) << "rank 3 has ended, and rank 4 waits for a rank that has not";
    EXPECT_EQ(report.lines[2].ranks, std::vector{0});
    EXPECT_EQ(report.lines[2].remark, "waiting for rank 1");
    EXPECT_EQ(report.lines[3].ranks, std::vector{2});
    EXPECT_EQ(report.lines[3].remark, "waiting for rank 3");
}

TEST_F(ExitReport, ReportsMissingFacts) {
    EXPECT_EQ(position_of(LastCall{}).text, "");
    call_.site = reinterpret_cast<void const*>(call_.program_end + 4096);
    EXPECT_EQ(position_of(call_).text, "");
    Report const report = make_exit_report({ended(0, 0, "left", "rank 0 left")}, {});
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "its last MPI call is not known");
    call_.function = Function::with_number(Function::count + 1);   // overwritten
    EXPECT_EQ(make_exit_report({ended(0, 0, "left", "rank 0 left")}, {}).lines[0].call,
              "its last MPI call is not known");
    EXPECT_NE(report.help.find("MPI_Finalize"), std::string::npos);
}

}   // namespace
}   // namespace tutti::launcher
