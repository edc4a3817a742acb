// SPDX-License-Identifier: BSD-3-Clause
#include "topo/nearest.hpp"

#include <gtest/gtest.h>

namespace tutti::topo {
namespace {

TEST(Nearest, finds_typing_errors_only) {
    std::string_view words[] = {"bind-to", "map-by", "timeout"};
    EXPECT_EQ(nearest("bindto", words), "bind-to");
    EXPECT_EQ(nearest("timout", words), "timeout");
    EXPECT_EQ(nearest("zzzzzz", words), "");
}

TEST(Nearest, counts_exchanged_neighbours_once) {
    EXPECT_EQ(edit_distance("hepl", "help"), 1u);
    EXPECT_EQ(edit_distance("ab", ""), 2u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("abc", "cba"), 2u);
}

TEST(Nearest, returns_the_hint_that_ends_a_message) {
    const std::vector<std::string> names = {"bcast", "barrier"};
    EXPECT_EQ(nearest_hint("bcats", names), "; did you mean bcast?");
    EXPECT_EQ(nearest_hint("x", names), "");
}

}   // namespace
}   // namespace tutti::topo
