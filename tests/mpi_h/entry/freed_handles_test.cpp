// SPDX-License-Identifier: BSD-3-Clause
// What is told of handles that name nothing.
#include "mpi_h/entry/usage_checks.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct HandleRefused {};

TEST(FreedHandle, IsToldWithThePlaceWhereItWasFreed) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, {});
    process.end_job = [](int, std::string const&) { throw HandleRefused(); };
    Finding const& finding = process.rank_state().finding;
    FreedHandles freed;
    process.call_name = "MPI_Type_free";
    process.call_site = reinterpret_cast<void const*>(0x1000);
    freed.note(process, 0x4c00abcd);
    process.call_name = "MPI_Send";
    process.call_site = reinterpret_cast<void const*>(0x2000);
    testing::internal::CaptureStderr();
    EXPECT_THROW(freed.refuse(process, "MPI_Send(4 MPI_INT)", "datatype", 0x4c00abcd), HandleRefused);
    EXPECT_STREQ(finding.code, "T13");
    ASSERT_EQ(finding.places, 2u);
    EXPECT_STREQ(finding.place[0].call, "MPI_Type_free");
    EXPECT_EQ(finding.place[0].stack[0], 0x1000u);
    EXPECT_EQ(finding.place[1].stack[0], 0x2000u);
    EXPECT_THROW(freed.refuse(process, "MPI_Send(4 MPI_INT)", "datatype", 0x12345678), HandleRefused);
    EXPECT_EQ(finding.places, 1u);
    testing::internal::GetCapturedStderr();
}

}   // namespace
}   // namespace tutti
