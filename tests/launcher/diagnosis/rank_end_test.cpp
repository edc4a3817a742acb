// SPDX-License-Identifier: BSD-3-Clause
// What is told of a process that is gone, from what it has shown: here this one, of which all can be checked.
#include "launcher/diagnosis/rank_end.hpp"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/diagnosis/last_call.hpp"

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
    Report const report = report_of_end(3, "was killed by signal 11", SIGSEGV, call_);
    EXPECT_EQ(report.code, "T09");
    EXPECT_EQ(report.headline, "rank 3 was killed by signal 11");
    ASSERT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.lines[0].call, "MPI_Bcast");
    EXPECT_EQ(report.lines[0].remark, "was its last call of MPI");
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
    EXPECT_NE(report_of_end(0, "left", 0, call_).help.find("MPI_Finalize"), std::string::npos);
}

}   // namespace
}   // namespace tutti::launcher
