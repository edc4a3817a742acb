// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "runtime/base/error.hpp"
#include "runtime/process.hpp"
#include "runtime/settings/cluster.hpp"

namespace tutti {
namespace {

JobKey some_key() {
    JobKey key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(7 * i + 3);
    return key;
}

/// Ranks 0 2 3 on the first node, 1 and 4 on the second.
Cluster uneven(int here) {
    return Cluster({{"one", {"10.0.0.1/24", "fd00::1/64"}}, {"two", {"10.0.0.2/24"}}},
                   {{0, 0, 4000}, {1, 0, 4001}, {0, 1, 4002}, {0, 2, 4003}, {1, 1, 4004}}, here, some_key());
}

TEST(Cluster, on_one_node_rank_local_rank_and_peer_are_equal) {
    Cluster const c = Cluster::one_node(3);
    EXPECT_TRUE(c.is_single_node());
    EXPECT_EQ(c.size(), 3);
    EXPECT_EQ(c.nodes(), 1);
    for (int r = 0; r < 3; ++r) {
        EXPECT_EQ(c.local_rank_of(r), r);
        EXPECT_EQ(c.peer_id(r), r);
        EXPECT_EQ(c.world_rank_of_peer(r), r);
        EXPECT_EQ(c.world_rank_at(r), r);
        EXPECT_TRUE(c.is_local(r));
    }
    EXPECT_EQ(c.to_text(), "");
}

TEST(Cluster, peer_ids_are_local_ranks_here_and_follow_them_elsewhere) {
    for (int here = 0; here < 2; ++here) {
        Cluster const c = uneven(here);
        EXPECT_EQ(c.local_size(), here == 0 ? 3 : 2);
        for (int r = 0; r < c.size(); ++r) {
            EXPECT_EQ(c.is_local(r), c.node_of(r) == here);
            EXPECT_EQ(c.peer_id(r) < c.local_size(), c.is_local(r));
            EXPECT_EQ(c.world_rank_of_peer(c.peer_id(r)), r);
            if (!c.is_local(r)) continue;
            EXPECT_EQ(c.world_rank_at(c.local_rank_of(r)), r);
        }
        EXPECT_EQ(c.world_rank_of_peer(-1), -1);
    }
}

TEST(Cluster, round_trips) {
    Cluster const c = uneven(1);
    auto const again = Cluster::from_text(c.to_text());
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->to_text(), c.to_text());
    EXPECT_EQ(again->this_node(), 1);
    EXPECT_EQ(again->key(), some_key());
    EXPECT_EQ(again->node(0).addresses.at(1), "fd00::1/64");
    EXPECT_EQ(again->at(4).port, 4004);
}

TEST(Cluster, invalid_text_is_refused) {
    std::string const good = uneven(0).to_text();
    EXPECT_FALSE(Cluster::from_text(""));
    EXPECT_FALSE(Cluster::from_text("cluster 2 0\n"));
    EXPECT_FALSE(Cluster::from_text("cluster 1 0\nnode one\n"));                           // no ranks
    EXPECT_FALSE(Cluster::from_text("cluster 1 1\nnode one\nrank 0 0 1\n"));               // no such local node
    EXPECT_FALSE(Cluster::from_text("cluster 1 0\nnode one\nrank 1 0 1\n"));               // no such node
    EXPECT_FALSE(Cluster::from_text("cluster 1 0\nnode one\nrank 0 1 1\n"));               // a local rank is missing
    EXPECT_FALSE(Cluster::from_text("cluster 1 0\nnode one\nrank 0 0 1\nrank 0 0 2\n"));   // duplicate local rank
    EXPECT_FALSE(Cluster::from_text("cluster 1 0\nkey 12\nnode one\nrank 0 0 1\n"));
    EXPECT_FALSE(Cluster::from_text(good + "and more\n"));
    EXPECT_TRUE(Cluster::from_text(good));
}

TEST(Cluster, a_process_derives_its_rank_from_its_local_rank) {
    Segment segment = Segment::create(2, {}, {}, uneven(1).to_text());
    EXPECT_EQ(segment.layout().world_size, 5u);
    EXPECT_EQ(segment.rank_state(0).world_rank, 1);
    EXPECT_EQ(segment.rank_state(1).world_rank, 4);
    Process process(segment, 1, {});
    EXPECT_EQ(process.rank(), 4);
    EXPECT_EQ(process.local_rank(), 1u);
    EXPECT_EQ(process.size(), 5);
    EXPECT_EQ(&process.rank_state(), &segment.rank_state(1));
}

TEST(Cluster, a_segment_for_another_number_of_ranks_is_refused) {
    EXPECT_THROW(Segment::create(3, {}, {}, uneven(1).to_text()), Error);
}

}   // namespace
}   // namespace tutti
