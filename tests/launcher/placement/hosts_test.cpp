// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/placement/allocation.hpp"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/job/interfaces.hpp"

namespace tutti::launcher {
namespace {

using testing::HasSubstr;

TEST(Hosts, ignores_the_case_of_this_nodes_name) {
    for (char const* name : {"localhost", "127.0.0.1", "::1", "ip6-localhost", "node7", "node7.cluster.org"})
        EXPECT_TRUE(is_this_node(name, "node7.cluster.org")) << name;
    EXPECT_TRUE(is_this_node("node7.cluster.org", "node7"));
    for (char const* name : {"node8", "node", "node7.elsewhere.net", "cluster.org", "192.0.2.77", "me@node7", ""})
        EXPECT_FALSE(is_this_node(name, "node7.cluster.org")) << name;
}

TEST(Hosts, treats_other_loopback_addresses_as_other_nodes) {
    EXPECT_FALSE(is_this_node("127.0.0.2", "node7"));
    EXPECT_FALSE(is_this_node("127.0.1.1", "node7"));
    EXPECT_FALSE(same_node("127.0.0.2", "127.0.0.3"));
}

TEST(Hosts, knows_this_node_by_the_addresses_of_its_interfaces) {
    for (Interface const& i : interfaces())
        EXPECT_EQ(is_this_node(i.address.host(), "node7"),
                  !i.address.is_loopback() || i.address.host() == "127.0.0.1" || i.address.host() == "::1");
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
    EXPECT_THROW(list("a:many"), LaunchError);
    EXPECT_THROW(list("a:0"), LaunchError);
}

TEST(Hosts, refuses_names_that_an_agent_would_parse_as_options) {
    EXPECT_THROW(list("-oProxyCommand=true"), LaunchError);
    EXPECT_THROW(list("[-x]:2"), LaunchError);
}

class HostFile : public testing::Test {
protected:
    std::vector<Host> read(char const* text) {
        std::ofstream(file_) << text;
        std::vector<Host> hosts;
        notes.clear();
        add_host_file(hosts, file_, notes);
        return hosts;
    }
    std::string error_message(std::string const& text) {
        try {
            read(text.c_str());
        } catch (LaunchError const& c) { return c.what(); }
        return "accepted";
    }
    ~HostFile() override { std::remove(file_.c_str()); }

    std::vector<std::string> notes;

private:
    std::string const file_ = testing::TempDir() + "tutti_hosts";
};

TEST_F(HostFile, accepts_the_formats_of_hydra_and_orte) {
    std::vector<Host> const hosts =
        read("# nodes\na\nb:2   # two\nc slots=3 max_slots=4\n\n  d  max-slots=2 slots=1\ne:5 ifname=eth0\n");
    ASSERT_EQ(hosts.size(), 5u);
    EXPECT_EQ(hosts[0].slots, 0);
    EXPECT_EQ(hosts[1].slots, 2);
    EXPECT_EQ(hosts[2].slots, 3);
    EXPECT_EQ(hosts[2].max_ranks, 4);
    EXPECT_EQ(hosts[3].slots, 1);
    EXPECT_EQ(hosts[3].max_ranks, 2);
    EXPECT_EQ(hosts[4].slots, 5);
}

TEST_F(HostFile, reports_errors) {
    EXPECT_THROW(read("# no host\n"), LaunchError);
    EXPECT_THROW(read("a slots=none\n"), LaunchError);
    EXPECT_THROW(read("a slots=4 max-slots=2\n"), LaunchError);
    std::vector<Host> hosts;
    EXPECT_THROW(add_host_file(hosts, "/nowhere/hosts", notes), LaunchError);
}

TEST_F(HostFile, refuses_unknown_settings) {
    EXPECT_THAT(error_message("a\nb foo=bar\n"), HasSubstr("line 2: 'foo=bar' is not understood"));
    EXPECT_THAT(error_message("a 4\n"), HasSubstr("'4' is not understood; a line is NAME, NAME:SLOTS or NAME slots="));
    EXPECT_THAT(error_message("$(touch x)\n"), HasSubstr("'$(touch' is not the name of a host"));
    EXPECT_THAT(error_message("a slots=99999999999\n"), HasSubstr("from 1 to 1000000, not '99999999999'"));
}

TEST_F(HostFile, must_be_a_text_file) {
    std::string const binary = error_message(std::string("a\n\177ELF\2\1\1"));
    EXPECT_THAT(binary, HasSubstr("is not a text file: line 2"));
    EXPECT_EQ(binary.find('\177'), std::string::npos) << "bytes of a binary must not be printed to a terminal";
    std::vector<Host> hosts;
    try {
        add_host_file(hosts, testing::TempDir(), notes);
        ADD_FAILURE() << "reading a folder must fail";
    } catch (LaunchError const& c) { EXPECT_THAT(c.what(), HasSubstr("is a folder")); }
    EXPECT_EQ(printable("a\033[2Jb\n"), "a\\x1b[2Jb\\x0a");
}

TEST_F(HostFile, accepts_a_user_and_reports_settings_without_effect) {
    EXPECT_EQ(read("a user=me slots=2\n").at(0).name, "me@a");
    EXPECT_TRUE(notes.empty());
    read("a ifname=eth0\nb binding=user:0,1\n");
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_THAT(notes[0], HasSubstr("host a: ifname=eth0 has no effect; use -iface"));
    EXPECT_THAT(notes[1], HasSubstr("--bind-to"));
}

}   // namespace
}   // namespace tutti::launcher
