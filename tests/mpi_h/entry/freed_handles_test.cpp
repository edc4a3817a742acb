// SPDX-License-Identifier: BSD-3-Clause
// Tests the report about a handle that is not valid (already freed, or never created).
#include "mpi_h/entry/usage_checks.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct HandleRefused {};

TEST(FreedHandle, IsReportedWithTheCallThatFreedIt) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, {});
    process.end_job = [](int, std::string const&) { throw HandleRefused(); };
    Diagnostic const& finding = process.rank_state().diagnostic;
    FreedHandles freed;
    process.call_function = "MPI_Type_free";
    process.call_site = reinterpret_cast<void const*>(0x1000);
    freed.record(process, 0x4c00abcd);
    process.call_function = "MPI_Send";
    process.call_site = reinterpret_cast<void const*>(0x2000);
    testing::internal::CaptureStderr();
    EXPECT_THROW(freed.report_use(process, "MPI_Send(4 MPI_INT)", "datatype", 0x4c00abcd), HandleRefused);
    EXPECT_STREQ(finding.error.code, "T13");
    ASSERT_EQ(finding.locations, 2u);
    EXPECT_STREQ(finding.location[0].call.text, "MPI_Type_free");
    EXPECT_EQ(finding.location[0].call.stack[0], 0x1000u);
    EXPECT_EQ(finding.location[1].call.stack[0], 0x2000u);
    EXPECT_THROW(freed.report_use(process, "MPI_Send(4 MPI_INT)", "datatype", 0x12345678), HandleRefused);
    EXPECT_EQ(finding.locations, 1u);
    testing::internal::GetCapturedStderr();
}

}   // namespace
}   // namespace tutti
