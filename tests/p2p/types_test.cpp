// SPDX-License-Identifier: BSD-3-Clause
// A message whose type differs from its receive's is reported, for every size and protocol; matching types are not.
#include <gmock/gmock.h>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using testing::HasSubstr;
using Type = Ref<Datatype>;

struct MismatchReported {};

class TypesOfMessages : public testing::TestWithParam<Layout> {
protected:
    /// Rank 0 sends `bytes` of one type, rank 1 receives them as another. Returns rank 1's diagnostic; empty: none.
    static std::string reported(std::size_t bytes, Basic sent, Basic received, Mode mode = Mode::standard,
                                bool nonblocking = false, std::string const& diagnosis = "auto") {
        std::string headline;
        Variables v = shared_wait();
        v.diagnosis = diagnosis;
        test::run(
            2,
            [&](Rank& r) {
                Type const type = TypeBuilder::predefined(r.me() == 0 ? sent : received);
                auto const count = static_cast<std::int64_t>(bytes) / type->size();
                std::vector<double> data(bytes / 4 + 1);   // some types have gaps
                Data const of_mine = Data::of(data.data(), count, *type);
                if (r.me() == 0) return send(*r.comm, of_mine, 1, 5, mode, "MPI_Send");
                r.process.end_job = [](int, std::string const&) { throw MismatchReported(); };
                try {
                    Status status;
                    if (nonblocking) r.wait(*irecv(*r.comm, data.data(), count, *type, 0, 5));
                    else recv(*r.comm, of_mine, 0, 5, status, "MPI_Recv");
                } catch (MismatchReported const&) {}
                headline = r.process.rank_state().diagnostic.error.headline;
            },
            v, GetParam());
        return headline;
    }
};

TEST_P(TypesOfMessages, ThatDifferAreReported) {
    for (std::size_t bytes : {24, 960, 9600, 960'000}) {
        EXPECT_THAT(reported(bytes, Basic::int32, Basic::float64), HasSubstr("where rank 0 sends MPI_INT")) << bytes;
        EXPECT_THAT(reported(bytes, Basic::float64, Basic::int32), HasSubstr("where rank 0 sends MPI_DOUBLE")) << bytes;
        EXPECT_NE(reported(bytes, Basic::int32, Basic::float32, Mode::synchronous), "") << bytes;
        EXPECT_NE(reported(bytes, Basic::double_int, Basic::float64, Mode::standard), "") << bytes;
    }
}

TEST_P(TypesOfMessages, ThatAreTheSameInMemoryAreNotReported) {
    for (std::size_t bytes : {0, 24, 960, 9600, 960'000}) {
        EXPECT_EQ(reported(bytes, Basic::fortran_logical, Basic::int32), "") << bytes;
        EXPECT_EQ(reported(bytes, Basic::byte_, Basic::float64), "") << bytes;
        EXPECT_EQ(reported(bytes, Basic::float64, Basic::byte_), "") << bytes;
        EXPECT_EQ(reported(bytes, Basic::double_int, Basic::double_int), "") << bytes;
    }
    EXPECT_EQ(reported(0, Basic::int32, Basic::float64), "");
    EXPECT_EQ(reported(800, Basic::int32, Basic::float64, Mode::standard, false, "no"), "");
}

TEST_P(TypesOfMessages, OfRequestsAreReportedToo) {
    // Reported while the message arrives: between nodes, the exception that this test throws would break a connection.
    if (GetParam() == Layout::one_node) {
        EXPECT_THAT(reported(8, Basic::int64, Basic::float64, Mode::standard, true), HasSubstr("sends MPI_LONG"));
    }
    EXPECT_EQ(reported(8, Basic::int64, Basic::int64, Mode::standard, true), "");
}

INSTANTIATE_TEST_SUITE_P(Layouts, TypesOfMessages, testing::Values(Layout::one_node, Layout::alternating));

}   // namespace
}   // namespace tutti::p2p::test
