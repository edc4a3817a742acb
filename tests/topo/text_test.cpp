// SPDX-License-Identifier: BSD-3-Clause
// Numbers, sizes and lists of numbers as users and the kernel write them.
#include "topo/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace tutti::topo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Number, is_the_whole_text_and_within_its_bounds) {
    EXPECT_EQ(parse_number("42", 0, 42), 42);
    EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(whole_number("1000000"), 1000000);
    for (const char* wrong : {"", " 1", "1 ", "+1", "-1", "1x", "x", "0x1", "1.0", "1000001", "99999999999999999999"})
        EXPECT_EQ(whole_number(wrong), std::nullopt) << wrong;
    EXPECT_EQ(parse_number("2", 3, 5), std::nullopt);
    EXPECT_EQ(parse_number("6", 3, 5), std::nullopt);
}

TEST(Bytes, have_units) {
    EXPECT_EQ(parse_bytes("0"), 0u);
    EXPECT_EQ(parse_bytes("4096"), 4096u);
    EXPECT_EQ(parse_bytes("64K"), std::size_t{64} << 10);
    EXPECT_EQ(parse_bytes("2m"), std::size_t{2} << 20);
    EXPECT_EQ(parse_bytes("3G"), std::size_t{3} << 30);
    EXPECT_EQ(parse_bytes("1t"), std::size_t{1} << 40);
    EXPECT_EQ(parse_bytes("16777215T"), std::size_t{16777215} << 40);
    for (const char* wrong : {"", "K", "-1", "1 K", "1KB", "1P", "1.5M", "16777216T", "99999999999999999999"})
        EXPECT_EQ(parse_bytes(wrong), std::nullopt) << wrong;
}

TEST(NumberList, has_ranges_up_to_the_first_invalid_part) {
    EXPECT_THAT(parse_number_list("0-3,8").numbers, ElementsAre(0, 1, 2, 3, 8));
    EXPECT_TRUE(parse_number_list("0-3, 8 ").valid);
    EXPECT_THAT(parse_number_list("0-1,5-2147483647").numbers, ElementsAre(0, 1));
    EXPECT_THAT(parse_number_list("0-1,4,…").numbers, ElementsAre(0, 1, 4));
    EXPECT_THAT(parse_number_list("7-3").numbers, IsEmpty());
    for (const char* wrong : {"", "0,,1", "1-", "-1", "7-3", "0-1,…", "0-1000000,0-1000000", "99999999999"})
        EXPECT_FALSE(parse_number_list(wrong).valid) << wrong;
    EXPECT_LE(parse_number_list("0-1000000,0-1000000,0-1000000").numbers.size(), std::size_t{1} << 20);
}

TEST(RankMap, has_numbers_of_nodes_or_blocks) {
    using Map = std::vector<int>;
    EXPECT_EQ(parse_rank_map("0,0,1"), (Map{0, 0, 1}));
    EXPECT_EQ(parse_rank_map("(0,2,2),2"), (Map{0, 0, 1, 1, 2}));
    EXPECT_EQ(parse_rank_map("(vector,(0,1,2),(3,1,1))"), (Map{0, 0, 3}));
    for (char const* text : {"", "(vector,)", "(0,1)", "(0,1,2", "a", "0,,-1", "(0,1,99999999)", "(0,99999,99999)"})
        EXPECT_EQ(parse_rank_map(text), std::nullopt) << text;
}

}   // namespace
}   // namespace tutti::topo
