// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/lines.hpp"

#include <regex>

#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(LineSplitter, keeps_an_unfinished_line_until_it_is_finished) {
    LineSplitter splitter;
    std::string out;
    splitter.add("one\ntw", out);
    EXPECT_EQ(out, "one\n");
    EXPECT_TRUE(splitter.has_unfinished());
    splitter.add("o\n", out);
    EXPECT_EQ(out, "one\ntwo\n");
    EXPECT_FALSE(splitter.has_unfinished());
}

TEST(LineSplitter, puts_the_prefix_before_every_line) {
    LineSplitter splitter({"[3] "});
    std::string out;
    splitter.add("a\n\nb\nc", out);
    splitter.add("d\ne", out);
    splitter.finish(out);
    EXPECT_EQ(out, "[3] a\n[3] \n[3] b\n[3] cd\n[3] e\n");
}

TEST(LineSplitter, puts_the_time_before_the_prefix) {
    LineSplitter splitter({.text = "[3] ", .time = true});
    std::string out;
    splitter.add("a\nb\n", out);
    EXPECT_TRUE(std::regex_match(out, std::regex(R"((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[3\] [ab]\n){2})"))) << out;
}

TEST(LineSplitter, delivers_a_last_line_without_newline_unchanged) {
    LineSplitter splitter;
    std::string out;
    splitter.add("no newline", out);
    EXPECT_EQ(out, "");
    splitter.finish(out);
    EXPECT_EQ(out, "no newline");
}

TEST(LineSplitter, passes_every_byte_in_whatever_pieces_it_comes) {
    std::string all;
    for (int i = 0; i < 5000; ++i) all += static_cast<char>((i * 37 + i / 7) % 256);
    for (std::size_t piece : {1, 2, 3, 7, 64, 5000}) {
        LineSplitter splitter({}, 100);
        std::string out;
        for (std::size_t at = 0; at < all.size(); at += piece)
            splitter.add(std::string_view(all).substr(at, piece), out);
        splitter.finish(out);
        EXPECT_EQ(out, all) << "in pieces of " << piece;
    }
}

TEST(LineSplitter, passes_an_endless_line_on_in_pieces_with_one_prefix) {
    LineSplitter splitter({"> "}, 10);
    std::string out;
    for (int i = 0; i < 4; ++i) splitter.add("123456", out);
    EXPECT_EQ(out, "> 123456123456123456123456");
    splitter.add("\nnext\n", out);
    EXPECT_EQ(out, "> 123456123456123456123456\n> next\n");
}

TEST(LineSplitter, continues_a_line_that_was_printed_early) {
    LineSplitter splitter({"> "});
    std::string out;
    splitter.add("name? ", out);
    splitter.show_unfinished(out);
    EXPECT_EQ(out, "> name? ");
    splitter.add("ok\n", out);
    EXPECT_EQ(out, "> name? ok\n");
}

}   // namespace
}   // namespace tutti::launcher
