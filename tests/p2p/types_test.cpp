// SPDX-License-Identifier: BSD-3-Clause
// Messages of other types than their receives are told, whatever their size and way, and no others.
#include <gmock/gmock.h>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using testing::HasSubstr;
using Type = Ref<Datatype>;

struct TypesTold {};

class TypesOfMessages : public testing::TestWithParam<Layout> {
protected:
    /// Rank 0 sends `bytes` of one type, rank 1 receives them as another. What rank 1 has found, empty: nothing.
    static std::string told(std::size_t bytes, Basic sent, Basic received, Mode mode = Mode::standard,
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
                r.process.end_job = [](int, std::string const&) { throw TypesTold(); };
                try {
                    Status status;
                    if (nonblocking) r.wait(*irecv(*r.comm, data.data(), count, *type, 0, 5));
                    else recv(*r.comm, of_mine, 0, 5, status, "MPI_Recv");
                } catch (TypesTold const&) {}
                headline = r.process.rank_state().finding.headline;
            },
            v, GetParam());
        return headline;
    }
};

TEST_P(TypesOfMessages, ThatDifferAreTold) {
    for (std::size_t bytes : {24, 960, 9600, 960'000}) {
        EXPECT_THAT(told(bytes, Basic::int32, Basic::float64), HasSubstr("where rank 0 sends MPI_INT")) << bytes;
        EXPECT_THAT(told(bytes, Basic::float64, Basic::int32), HasSubstr("where rank 0 sends MPI_DOUBLE")) << bytes;
        EXPECT_NE(told(bytes, Basic::int32, Basic::float32, Mode::synchronous), "") << bytes;
        EXPECT_NE(told(bytes, Basic::double_int, Basic::float64, Mode::standard), "") << bytes;
    }
}

TEST_P(TypesOfMessages, ThatAreTheSameInMemoryAreNotTold) {
    for (std::size_t bytes : {0, 24, 960, 9600, 960'000}) {
        EXPECT_EQ(told(bytes, Basic::fortran_logical, Basic::int32), "") << bytes;
        EXPECT_EQ(told(bytes, Basic::byte_, Basic::float64), "") << bytes;
        EXPECT_EQ(told(bytes, Basic::float64, Basic::byte_), "") << bytes;
        EXPECT_EQ(told(bytes, Basic::double_int, Basic::double_int), "") << bytes;
    }
    EXPECT_EQ(told(0, Basic::int32, Basic::float64), "");
    EXPECT_EQ(told(800, Basic::int32, Basic::float64, Mode::standard, false, "no"), "");
}

TEST_P(TypesOfMessages, OfRequestsAreToldToo) {
    // Told while the message arrives: what this test throws in place of ending the job would break a connection.
    if (GetParam() == Layout::one_node) {
        EXPECT_THAT(told(8, Basic::int64, Basic::float64, Mode::standard, true), HasSubstr("sends MPI_LONG"));
    }
    EXPECT_EQ(told(8, Basic::int64, Basic::int64, Mode::standard, true), "");
}

INSTANTIATE_TEST_SUITE_P(AllWays, TypesOfMessages, testing::Values(Layout::one_node, Layout::alternating));

}   // namespace
}   // namespace tutti::p2p::test
