// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/placement/allocation.hpp"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two sockets with two cores of two hardware threads each: core c has the processing units c and c + 4.
topo::Machine two_sockets() {
    topo::Machine machine;
    for (int core = 0; core < 4; ++core)
        for (int thread = 0; thread < 2; ++thread)
            machine.pus.push_back({.os = core + 4 * thread, .core = core, .socket = core / 2});
    return machine;
}

std::vector<int> units(char const* slots) { return slot_units(slots, two_sockets()); }

class RankFile : public testing::Test {
protected:
    std::vector<RankFileEntry> read(char const* text) {
        std::ofstream(file_) << text;
        return read_rank_file(file_, {{"first", 2, 0}, {"second", 2, 0}});
    }
    std::string error_message(char const* text) {
        try {
            read(text);
        } catch (LaunchError const& c) { return c.what(); }
        return "accepted";
    }
    ~RankFile() override { std::remove(file_.c_str()); }

private:
    std::string const file_ = testing::TempDir() + "tutti_ranks";
};

TEST_F(RankFile, assigns_each_rank) {
    std::vector<RankFileEntry> const places =
        read("# ranks\nrank 1=b slot=1:0-2\n rank 0=+n1 slot=0,1   # the second host\n\nrank 2=c\n");
    ASSERT_EQ(places.size(), 3u);
    EXPECT_EQ(places[0].host, "second");
    EXPECT_EQ(places[0].slots, "0,1");
    EXPECT_EQ(places[1].host, "b");
    EXPECT_EQ(places[1].slots, "1:0-2");
    EXPECT_EQ(places[2].slots, "");
}

TEST_F(RankFile, reports_errors) {
    EXPECT_THAT(error_message("rank 0=a\nrunk 1=a\n"), HasSubstr("line 2: 'runk 1=a' is not understood"));
    EXPECT_THAT(error_message("rank 0=a slot=0 slot=1\n"), HasSubstr("a line is rank N=HOST slot=CORES"));
    EXPECT_THAT(error_message("rank 0=+n2\n"), HasSubstr("no node +n2 among the 2"));
    EXPECT_THAT(error_message("rank 0=$(x\n"), HasSubstr("is not the name of a host"));
    EXPECT_THAT(error_message("rank 0=a\nrank 2=a\n"), HasSubstr("does not place rank 1"));
    EXPECT_THAT(error_message("rank 0=a\nrank 0=b\n"), HasSubstr("names rank 0 twice"));
    EXPECT_THAT(error_message("\n"), HasSubstr("names no rank"));
    EXPECT_THROW(read_rank_file("/nowhere/ranks", {}), LaunchError);
}

TEST(Slots, are_cores_of_the_machine_or_of_a_socket_or_units) {
    EXPECT_THAT(units("0"), ElementsAre(0, 4));
    EXPECT_THAT(units("1-2"), ElementsAre(1, 5, 2, 6));
    EXPECT_THAT(units("1:0"), ElementsAre(2, 6));
    EXPECT_THAT(units("1:*"), ElementsAre(2, 6, 3, 7));
    EXPECT_THAT(units("1:0,1"), ElementsAre(2, 6, 3, 7)) << "a socket applies to the numbers after it";
    EXPECT_THAT(units("p5,p7"), ElementsAre(5, 7));
    for (char const* wrong : {"4", "0:2", "2:0", "x", "", "p8", "1-", "2-1"})
        EXPECT_THROW(units(wrong), LaunchError) << wrong;
}

TEST(NumberList, has_ranges) {
    EXPECT_THAT(parse_number_list("x", "0,2-4"), ElementsAre(0, 2, 3, 4));
    EXPECT_THROW(parse_number_list("x", "0,,1"), LaunchError);
    EXPECT_THROW(parse_number_list("x", "99999999999"), LaunchError);
}

}   // namespace
}   // namespace tutti::launcher
