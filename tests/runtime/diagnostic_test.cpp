// SPDX-License-Identifier: BSD-3-Clause
// What a rank shows of a mistake, and who tells it.
#include "runtime/diagnostic.hpp"

#include <thread>

#include <gmock/gmock.h>

namespace tutti::test {
namespace {

using testing::HasSubstr;

struct JobEnded {};

class MistakeOfARank : public testing::Test {
protected:
    MistakeOfARank() : segment_(Segment::create(1)), process_(segment_, 0, {}) {
        process_.end_job = [](int code, std::string const&) {
            EXPECT_EQ(code, 125);
            throw JobEnded();
        };
    }
    Mistake mistake() const { return {"T07", "requests left over at MPI_Finalize", "complete them", parts_}; }
    Finding& finding() { return process_.rank_state().finding; }

    Mistake::Part parts_[1]{{0, "MPI_Irecv(1 MPI_INT from rank 1, tag 8)", "never completed", 0x1234}};
    Segment segment_;
    Process process_;
};

TEST_F(MistakeOfARank, IsShownWithItsParts) {
    EXPECT_THROW(report(process_, mistake()), JobEnded);
    EXPECT_EQ(finding().kind, Finding::Kind::error);
    EXPECT_STREQ(finding().code, "T07");
    EXPECT_STREQ(finding().headline, "requests left over at MPI_Finalize");
    ASSERT_EQ(finding().places, 1u);
    EXPECT_STREQ(finding().place[0].call, parts_[0].call.c_str());
    EXPECT_STREQ(finding().place[0].remark, "never completed");
    ASSERT_EQ(finding().place[0].addresses, 1u);
    EXPECT_EQ(finding().place[0].stack[0], 0x1234u);
}

TEST_F(MistakeOfARank, IsTakenByTheLauncherIfItIsAWarning) {
    process_.supervised = true;
    std::thread launcher([this] {
        while (finding().kind.load() != Finding::Kind::warning) std::this_thread::yield();
        finding().kind = Finding::Kind::nothing;
    });
    testing::internal::CaptureStderr();
    warn(process_, mistake());
    launcher.join();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(MistakeOfARank, IsPrintedByTheRankWhereNobodyLooks) {
    testing::internal::CaptureStderr();
    warn(process_, mistake());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning[T07] requests left over at MPI_Finalize\n"
              "  rank 0  MPI_Irecv(1 MPI_INT from rank 1, tag 8)  never completed\n"
              "  help: complete them\n"
              "  more: mpiexec --explain T07\n");
    EXPECT_EQ(finding().kind, Finding::Kind::nothing);
}

TEST_F(MistakeOfARank, TellsNoMorePartsThanThereIsRoomFor) {
    std::vector<Mistake::Part> const many(Finding::most_places + 2, parts_[0]);
    EXPECT_THROW(report(process_, {"T07", "many", "", many}), JobEnded);
    EXPECT_EQ(finding().places, Finding::most_places);
}

}   // namespace
}   // namespace tutti::test
