// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/hosts.hpp"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "runtime/interfaces.hpp"

namespace tutti::launcher {
namespace {

TEST(Hosts, knows_this_node_by_its_letters) {
    for (char const* name : {"localhost", "127.0.0.1", "::1", "ip6-localhost", "node7", "node7.cluster.org"})
        EXPECT_TRUE(means_this_node(name, "node7.cluster.org")) << name;
    EXPECT_TRUE(means_this_node("node7.cluster.org", "node7"));
    for (char const* name : {"node8", "node", "node7.elsewhere.net", "cluster.org", "192.0.2.77", "me@node7", ""})
        EXPECT_FALSE(means_this_node(name, "node7.cluster.org")) << name;
}

TEST(Hosts, takes_other_loopback_addresses_for_nodes_of_their_own) {
    EXPECT_FALSE(means_this_node("127.0.0.2", "node7"));
    EXPECT_FALSE(means_this_node("127.0.1.1", "node7"));
    EXPECT_FALSE(same_node("127.0.0.2", "127.0.0.3"));
}

TEST(Hosts, knows_this_node_by_the_addresses_of_its_interfaces) {
    for (Interface const& i : interfaces())
        EXPECT_EQ(means_this_node(i.address.host(), "node7"),
                  !i.address.loopback() || i.address.host() == "127.0.0.1" || i.address.host() == "::1");
}

TEST(Hosts, shortens_names_but_not_numbers) {
    EXPECT_TRUE(same_node("a", "a.cluster.org"));
    EXPECT_FALSE(same_node("a.x", "a.y"));
    EXPECT_FALSE(same_node("10.0.0.1", "10"));
}

std::vector<Host> list(char const* text) {
    std::vector<Host> hosts;
    add_host_list(hosts, text);
    return hosts;
}

TEST(Hosts, reads_lists_with_slots) {
    std::vector<Host> const hosts = list("a, b:4,,fe80::1,[fd00::2]:3");
    ASSERT_EQ(hosts.size(), 4u);
    EXPECT_EQ(hosts[1].name, "b");
    EXPECT_EQ(hosts[1].slots, 4);
    EXPECT_EQ(hosts[2].name, "fe80::1");
    EXPECT_EQ(hosts[3].name, "fd00::2");
    EXPECT_EQ(hosts[3].slots, 3);
    EXPECT_THROW(list("a:many"), Complaint);
    EXPECT_THROW(list("a:0"), Complaint);
}

TEST(Hosts, refuses_names_that_an_agent_would_take_for_options) {
    EXPECT_THROW(list("-oProxyCommand=true"), Complaint);
    EXPECT_THROW(list("[-x]:2"), Complaint);
}

class HostFile : public testing::Test {
protected:
    std::vector<Host> read(char const* text) {
        std::ofstream(file_) << text;
        std::vector<Host> hosts;
        add_host_file(hosts, file_);
        return hosts;
    }
    ~HostFile() override { std::remove(file_.c_str()); }

private:
    std::string const file_ = testing::TempDir() + "tutti_hosts";
};

TEST_F(HostFile, may_be_of_either_world) {
    std::vector<Host> const hosts =
        read("# nodes\na\nb:2   # two\nc slots=3 max_slots=4\n\n  d  max-slots=2 slots=1\ne:5 ifname=eth0\n");
    ASSERT_EQ(hosts.size(), 5u);
    EXPECT_EQ(hosts[0].slots, 0);
    EXPECT_EQ(hosts[1].slots, 2);
    EXPECT_EQ(hosts[2].slots, 3);
    EXPECT_EQ(hosts[2].most, 4);
    EXPECT_EQ(hosts[3].slots, 1);
    EXPECT_EQ(hosts[3].most, 2);
    EXPECT_EQ(hosts[4].slots, 5);
}

TEST_F(HostFile, says_what_is_wrong_with_it) {
    EXPECT_THROW(read("# nobody\n"), Complaint);
    EXPECT_THROW(read("a slots=none\n"), Complaint);
    EXPECT_THROW(read("a slots=4 max-slots=2\n"), Complaint);
    std::vector<Host> hosts;
    EXPECT_THROW(add_host_file(hosts, "/nowhere/hosts"), Complaint);
}

}  // namespace
}  // namespace tutti::launcher
