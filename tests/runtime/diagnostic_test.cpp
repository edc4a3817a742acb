// SPDX-License-Identifier: BSD-3-Clause
// How a rank publishes a usage error, and which process reports it.
#include "runtime/diagnostic.hpp"

#include <thread>

#include <gmock/gmock.h>

namespace tutti::test {
namespace {

using testing::HasSubstr;

struct JobEnded {};

class UsageErrorOfARank : public testing::Test {
protected:
    UsageErrorOfARank() : segment_(Segment::create(1)), process_(segment_, 0, {}) {
        process_.end_job = [](int code, std::string const&) {
            EXPECT_EQ(code, 125);
            throw JobEnded();
        };
    }
    UsageError usage_error() const { return {"T07", "requests left over at MPI_Finalize", "complete them", calls_}; }
    Diagnostic& diagnostic() { return process_.rank_state().diagnostic; }

    UsageError::Call calls_[1]{{0, "MPI_Irecv(1 MPI_INT from rank 1, tag 8)", "never completed", 0x1234}};
    Segment segment_;
    Process process_;
};

TEST_F(UsageErrorOfARank, IsPublishedWithItsCalls) {
    EXPECT_THROW(report(process_, usage_error()), JobEnded);
    EXPECT_EQ(diagnostic().kind, Diagnostic::Kind::error);
    EXPECT_STREQ(diagnostic().error.code, "T07");
    EXPECT_STREQ(diagnostic().error.headline, "requests left over at MPI_Finalize");
    ASSERT_EQ(diagnostic().locations, 1u);
    EXPECT_STREQ(diagnostic().location[0].call.text, calls_[0].text.c_str());
    EXPECT_STREQ(diagnostic().location[0].remark, "never completed");
    ASSERT_EQ(diagnostic().location[0].call.addresses, 1u);
    EXPECT_EQ(diagnostic().location[0].call.stack[0], 0x1234u);
}

TEST_F(UsageErrorOfARank, IsReadByTheLauncherIfItIsAWarning) {
    process_.is_supervised = true;
    std::thread launcher([this] {
        while (diagnostic().kind.load() != Diagnostic::Kind::warning) std::this_thread::yield();
        diagnostic().kind = Diagnostic::Kind::none;
    });
    testing::internal::CaptureStderr();
    warn(process_, usage_error());
    launcher.join();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(UsageErrorOfARank, IsPrintedByTheRankWithoutALauncher) {
    testing::internal::CaptureStderr();
    warn(process_, usage_error());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning[T07] requests left over at MPI_Finalize\n"
              "  rank 0  MPI_Irecv(1 MPI_INT from rank 1, tag 8)  never completed\n"
              "  help: complete them\n"
              "  For details, run: mpiexec --explain T07\n");
    EXPECT_EQ(diagnostic().kind, Diagnostic::Kind::none);
}

TEST_F(UsageErrorOfARank, HasAtMostTheMaximumNumberOfCalls) {
    std::vector<UsageError::Call> const many(Diagnostic::max_locations + 2, calls_[0]);
    EXPECT_THROW(report(process_, {"T07", "many", "", many}), JobEnded);
    EXPECT_EQ(diagnostic().locations, Diagnostic::max_locations);
}

}   // namespace
}   // namespace tutti::test
