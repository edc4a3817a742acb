// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/hosts.hpp"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(Hosts, knows_this_node_by_its_letters) {
    for (char const* name :
         {"localhost", "127.0.0.1", "127.0.1.1", "::1", "ip6-localhost", "node7", "node7.cluster.org"})
        EXPECT_TRUE(means_this_node(name, "node7.cluster.org")) << name;
    EXPECT_TRUE(means_this_node("node7.cluster.org", "node7"));
    for (char const* name : {"node8", "node", "node7.elsewhere.net", "cluster.org", "10.0.0.1", ""})
        EXPECT_FALSE(means_this_node(name, "node7.cluster.org")) << name;
}

TEST(Hosts, reads_lists_with_slots) {
    Job job;
    add_host_list(job, "a,b:4,,fe80::1");
    ASSERT_EQ(job.hosts.size(), 3u);
    EXPECT_EQ(job.hosts[1].name, "b");
    EXPECT_EQ(job.hosts[1].slots, 4);
    EXPECT_EQ(job.hosts[2].name, "fe80::1");
    EXPECT_THROW(add_host_list(job, "a:many"), Complaint);
}

TEST(Hosts, reads_files_of_both_worlds) {
    std::string file = testing::TempDir() + "tutti_hosts";
    std::ofstream(file) << "# nodes\na\nb:2   # two\nc slots=3 max_slots=4\n\n";
    Job job;
    add_host_file(job, file);
    std::remove(file.c_str());
    ASSERT_EQ(job.hosts.size(), 3u);
    EXPECT_EQ(job.hosts[0].slots, 0);
    EXPECT_EQ(job.hosts[1].slots, 2);
    EXPECT_EQ(job.hosts[2].slots, 3);
    EXPECT_THROW(add_host_file(job, "/nowhere/hosts"), Complaint);
}

TEST(Hosts, refuses_other_nodes_by_name) {
    Job job;
    add_host_list(job, "localhost," + host_name());
    EXPECT_NO_THROW(require_this_node(job));
    add_host_list(job, "some-other-node");
    try {
        require_this_node(job);
        FAIL() << "accepted";
    } catch (Complaint const& c) {
        EXPECT_NE(std::string(c.what()).find("some-other-node"), std::string::npos);
    }
}

}  // namespace
}  // namespace tutti::launcher
