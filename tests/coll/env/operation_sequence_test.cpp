// SPDX-License-Identifier: BSD-3-Clause
// Operation sequences: the maximum distance between operations between nodes, and the ranks that a rank far ahead waits
// for.
#include <gmock/gmock.h>

#include <thread>

#include "coll/blocks/messages.hpp"
#include "coll/comm/derive.hpp"
#include "coll/env/operation_sequence.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

TEST(OperationSequences, BetweenNodesNeverShareATagWhileInFlight) {
    Segment segment = Segment::create(1);
    Process process(segment, 0, Variables{});
    OperationSequence sequence(process, Area(nullptr, 4), 0);
    std::uint64_t const first = sequence.allocate_numbers(), far = first + OperationSequence::max_distance;
    ++sequence.active;
    EXPECT_TRUE(sequence.may_begin(first));
    EXPECT_TRUE(sequence.may_begin(far - 1));
    EXPECT_FALSE(sequence.may_begin(far)) << "the first one is still in flight";
    --sequence.active;
    EXPECT_TRUE(sequence.may_begin(far));
}

/// A rank that is far ahead in a broadcast publishes the world ranks that it waits for.
TEST(OperationSequences, AWaitForAChannelNamesTheWorldRank) {
    Variables variables;
    variables.wait = "shared";
    variables.sleep_after = 1;
    NodesWorld world({0, 0, 0}, variables);
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            Comm& all = world.comm(r);
            Ref<Comm> const pair = split(all, r % 2, r);
            if (r == 2) {   // runs when the root waits for it
                RankState const& rank_state = world.process(0).rank_state();
                Blocked const& published = rank_state.blocked;
                while (published.changes.load(std::memory_order_acquire) % 2 == 0) std::this_thread::yield();
                EXPECT_EQ(published.thread[0].awaiting, Awaiting::all);
                EXPECT_EQ(published.thread[0].awaited[0], (RankRange{2, 2, 1})) << published.thread[0].call.text;
            }
            for (int i = 0; r != 1 && i < channel_depth + 1; ++i) {
                execute(BoundCall<BcastArgs>{*pair, Collective::bcast, bcast_bytes_args(&i, sizeof i, 0)});
            }
            world.leave(r);
        });
    for (auto& t : threads) t.join();
}

}   // namespace
}   // namespace tutti::coll::test
