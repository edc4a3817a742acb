// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/placement/allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>


namespace tutti::launcher {
namespace {

using testing::ElementsAre;

Job job_on(char const* hosts, int ranks) {
    Job job;
    add_host_list(job.hosts, hosts);
    job.programs.emplace_back().ranks = ranks;
    return job;
}

TEST(Allocation, fills_the_slots_of_each_host_in_several_rounds) {
    Allocation const a = allocate(job_on("a:2,b:1", 7), "here");
    EXPECT_THAT(a.nodes, ElementsAre("a", "b"));
    EXPECT_THAT(a.node_of, ElementsAre(0, 0, 1, 0, 0, 1, 0));
    EXPECT_EQ(a.local_node, -1);
    EXPECT_THAT(a.ranks_on(1), ElementsAre(2, 5));
}

TEST(Allocation, gives_a_host_without_slots_one) {
    EXPECT_THAT(allocate(job_on("a,b", 3), "here").node_of, ElementsAre(0, 1, 0));
}

TEST(Allocation, assigns_ranks_by_node) {
    Job job = job_on("a:3,b:1,c:2", 7);
    job.map.unit = topo::Unit::node;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 1, 2, 0, 2, 0, 0));
}

TEST(Allocation, numbers_ranks_across_nodes) {
    Job job = job_on("a:3,b:1,c:2", 6);
    job.rank_by_node = true;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 1, 2, 0, 2, 0)) << "three on a, one on b, two on c";
    job.programs.emplace_back().ranks = 2;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 1, 2, 0, 2, 0, 0, 0)) << "each program separately";
}

TEST(Allocation, follows_a_rank_file) {
    Job job = job_on("a:2,b:2", 3);
    job.rank_file_entries = {{0, "b", ""}, {1, "here", ""}, {2, "b", ""}};
    Allocation const a = allocate(job, "here");
    EXPECT_THAT(a.nodes, ElementsAre("b", "here"));
    EXPECT_THAT(a.node_of, ElementsAre(0, 1, 0));
    EXPECT_EQ(a.local_node, 1);
    job.programs[0].ranks = 4;
    EXPECT_THROW(allocate(job, "here"), LaunchError);
}

TEST(Allocation, has_room_for_as_many_rounds_as_there_are_ranks) {
    EXPECT_EQ(allocate(job_on("a:1", 5000), "here").node_of.size(), 5000u);
    EXPECT_THAT(allocate(job_on("a,b", 5000), "here").ranks_on(1).size(), 2500u) << "costs must not overflow";
}

TEST(Allocation, uses_ppn_and_ppr_instead_of_slots) {
    Job job = job_on("a:5,b", 5);
    job.per_node = 2;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 0, 1, 1, 0));
    job.per_node = 0;
    job.map.unit = topo::Unit::node;
    job.map.per_unit = 1;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 1, 0, 1, 0));
}

TEST(Allocation, leaves_out_nodes_without_ranks) {
    Allocation const a = allocate(job_on("a:4,b:4", 3), "here");
    EXPECT_THAT(a.nodes, ElementsAre("a"));
    EXPECT_FALSE(a.is_single_node()) << "it is not this node";
}

TEST(Allocation, knows_this_node_and_merges_its_names) {
    Allocation const a = allocate(job_on("x,localhost,here.cluster.org:2,here", 6), "here.cluster.org");
    EXPECT_THAT(a.nodes, ElementsAre("x", "here.cluster.org"));
    EXPECT_EQ(a.local_node, 1);
    EXPECT_THAT(a.node_of, ElementsAre(0, 1, 1, 1, 1, 0));
    EXPECT_TRUE(allocate(job_on("localhost:2,x:2", 2), "here").is_single_node());
    EXPECT_TRUE(allocate(job_on("", 5), "here").is_single_node());
}

TEST(Allocation, places_programs_on_separate_hosts) {
    Job job = job_on("a:2,b:2", 1);
    Program& other = job.programs.emplace_back();
    other.ranks = 2;
    add_host_list(other.hosts, "c");
    job.programs.emplace_back().ranks = 2;
    Allocation const a = allocate(job, "here");
    EXPECT_THAT(a.nodes, ElementsAre("a", "c", "b"));
    EXPECT_THAT(a.node_of, ElementsAre(0, 1, 1, 0, 2));
}

TEST(Allocation, keeps_to_the_maximum_of_a_host) {
    Job job;
    job.hosts = {{"a", 1, 2}, {"b", 1, 1}};
    job.programs.emplace_back().ranks = 3;
    EXPECT_THAT(allocate(job, "here").node_of, ElementsAre(0, 1, 0));
    job.programs[0].ranks = 4;
    EXPECT_THROW(allocate(job, "here"), LaunchError);
}

TEST(Allocation, counts_slots_without_a_number_of_ranks) {
    std::vector<Host> hosts;
    add_host_list(hosts, "a:3,b,a:2,localhost");
    EXPECT_EQ(total_slots(hosts, 0, "here"), 7);
    EXPECT_EQ(total_slots(hosts, 4, "here"), 12);
    EXPECT_EQ(total_slots({}, 0, "here"), 1);
    EXPECT_EQ(total_slots({}, 3, "here"), 3);
}

}   // namespace
}   // namespace tutti::launcher
