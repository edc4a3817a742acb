// SPDX-License-Identifier: BSD-3-Clause
// What is told of a process that is gone, from what it has shown: here this one, of which all can be checked.
#include "launcher/diagnosis/report.hpp"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/job/last_call.hpp"

namespace tutti::launcher {
namespace {

constexpr char function[] = "MPI_Bcast";

/// Where it is called.
[[gnu::noinline]] void const* here() { return __builtin_return_address(0); }

class RankEnd : public testing::Test {
protected:
    RankEnd() { show_images(call_); }
    LastCall call_{};
};

TEST_F(RankEnd, NamesTheLastCallAndItsPlace) {
    call_.name = function;
    call_.site = here();
    EXPECT_EQ(name_in(call_), "MPI_Bcast");
    EXPECT_EQ(name_of(call_, call_), "MPI_Bcast");
    EXPECT_NE(place_of(call_).words, "");
    Report const report = report_of_ends({{3, "was killed by signal 11", "process 9 on here", &call_}}, SIGSEGV);
    EXPECT_EQ(report.code, "T09");
    EXPECT_EQ(report.headline, "rank 3 was killed by signal 11");
    EXPECT_EQ(report.notes.front(), "process 9 on here");
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "MPI_Bcast");
    EXPECT_EQ(report.lines[0].remark, "was its last call of MPI");
}

TEST_F(RankEnd, NamesTheLineOfACrash) {
    call_.name = function;
    call_.site = here();
    call_.crash = reinterpret_cast<std::uint64_t>(call_.site) - 1;
    Report const report = report_of_ends({{3, "was killed by signal 11", "rank 3 was killed", &call_}}, SIGSEGV);
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "crashed");
    EXPECT_EQ(report.lines[0].place, place_of(call_).words);
    EXPECT_EQ(report.lines[0].remark, "after MPI_Bcast at " + place_of(call_).words);
    EXPECT_NE(report.help.find("that line"), std::string::npos);
}

TEST_F(RankEnd, OfSeveralRanksIsOneReport) {
    std::string const how = "left with exit code 3 without calling MPI_Finalize";
    Report const report = report_of_ends({{2, how, "one", &call_}, {0, how, "another", &call_}}, 0);
    EXPECT_EQ(report.headline, "ranks 0 and 2 " + how);
    EXPECT_EQ(report.lines.size(), 2u);
    EXPECT_NE(
        report_of_ends({{1, "was killed", "process 9", &call_}}, SIGSEGV, true).headline.find("after MPI_Finalize"),
        std::string::npos);
}

TEST_F(RankEnd, KnowsWhatItDoesNotKnow) {
    EXPECT_EQ(name_in(LastCall{}), "");
    EXPECT_EQ(place_of(LastCall{}).words, "");
    call_.name = "nonsense";
    EXPECT_EQ(name_in(call_), "");
    call_.name = reinterpret_cast<char const*>(call_.library + (1ULL << 40));
    EXPECT_EQ(name_in(call_), "");
    EXPECT_EQ(name_of(call_, call_), "");
    call_.site = reinterpret_cast<void const*>(call_.program_end + 4096);
    EXPECT_EQ(place_of(call_).words, "");
    std::strcpy(call_.library_file, "/nowhere");
    EXPECT_EQ(name_in(call_), "");
    EXPECT_NE(report_of_ends({{0, "left", "rank 0 left", &call_}}, 0).help.find("MPI_Finalize"), std::string::npos);
}

}   // namespace
}   // namespace tutti::launcher
