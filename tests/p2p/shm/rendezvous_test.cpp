// SPDX-License-Identifier: BSD-3-Clause
// Large messages through XPMEM: the receiver attaches to the sender's buffer once, or, without a registration cache,
// once for each message.
#include "tests/p2p/world.hpp"
#include "tests/runtime/memory/fake_xpmem.hpp"

namespace tutti::p2p::test {
namespace {

class Rendezvous : public WithFakeXpmem {};

TEST_F(Rendezvous, WithoutARegistrationCacheAttachesForEachMessage) {
    constexpr unsigned messages = 5;
    for (std::size_t bytes : {std::size_t{32} << 10, std::size_t{1} << 20})   // one copy; a copy by both ranks
        for (bool cache : {true, false}) {
            run(
                2,
                [&](Rank& rank) {
                    std::vector<int> const sent = numbers(bytes / sizeof(int), 3);
                    std::vector<int> got(sent.size());
                    CountedMappings const counted(rank.process.rank_state().counters);
                    for (unsigned k = 0; k < messages; ++k) {
                        Status status;
                        if (rank.me() == 0) rank.send(sent, 1, 5);
                        else p2p::recv(*rank.comm, Data::of_bytes(got.data(), bytes), 0, 5, status, "recv");
                    }
                    rank.barrier();
                    bool const receives = rank.me() == 1, shares = bytes > rank.process.variables.share;
                    if (receives) {
                        EXPECT_EQ(got, sent);
                        EXPECT_EQ(counted.maps(), cache ? 1 : messages);
                    }
                    EXPECT_EQ(counted.unmaps(), cache ? 0 : counted.maps());
                    EXPECT_GE(counted.hits(), cache && receives ? messages - 1 : 0u);
                    EXPECT_TRUE(cache || counted.hits() == 0);
                    EXPECT_TRUE(receives || shares || counted.maps() == 0) << "only the receiver copies";
                },
                variables(cache));
            EXPECT_EQ(attached(), 0) << "all are detached in the end";
        }
}

/// The receiver unpacks from the attached memory.
TEST_F(Rendezvous, WithoutARegistrationCacheDetachesAfterUnpacking) {
    run(
        2,
        [&](Rank& rank) {
            constexpr std::int64_t count = 20'000;
            auto const element = TypeBuilder::predefined(Basic::int32);
            auto const spaced = TypeBuilder::hvector(count, 1, 2 * sizeof(int), *element);
            std::vector<int> const sent = numbers(count, 2);
            std::vector<int> got(2 * count);
            CountedMappings const counted(rank.process.rank_state().counters);
            Status status;
            if (rank.me() == 0) rank.send(sent, 1, 5);
            else p2p::recv(*rank.comm, Data::of(got.data(), 1, *spaced), 0, 5, status, "recv");
            if (rank.me() == 0) return;
            for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(got[2 * i], sent[i]);
            EXPECT_EQ(counted.maps(), 1u);
            EXPECT_EQ(counted.unmaps(), 1u);
        },
        variables(false));
}

}   // namespace
}   // namespace tutti::p2p::test
