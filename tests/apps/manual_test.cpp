// SPDX-License-Identifier: BSD-3-Clause
#include "apps/manual.hpp"

#include <cstdlib>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apps {
namespace {

using testing::HasSubstr;
using testing::Not;

Manual small() {
    Manual all;
    all.name = "tool";
    all.purpose = "does its work";
    all.usage = {"tool [OPTION…]"};
    all.examples = {{"tool --size 4", "four"}};
    all.sections = {{"options",
                     "Options",
                     "",
                     {{"-s --size", "N", "Sets the size. It isn't \\small.", "the size"}},
                     Section::Kind::options},
                    {"exit-codes", "Exit status", ".first\n\n    verbatim\n\nlast (guides/none.md)."},
                    {"rare", "Rare", "rarely read", {}, Section::Kind::on_request}};
    all.see_also = "other(1)";
    return all;
}

TEST(Manual, describes_options_sections_and_unknown_topics) {
    for (char const* topic : {"--size", "-size", "size", "s"})
        EXPECT_THAT(help_on(small(), topic), HasSubstr("Sets the size.")) << topic;
    EXPECT_THAT(help_on(small(), "rare"), HasSubstr("rarely read"));
    EXPECT_THAT(help_on(small(), ""), Not(HasSubstr("rarely read")));
    EXPECT_THAT(help_on(small(), ""), HasSubstr("    verbatim\n"));
    try {
        help_on(small(), "exit-cods");
        FAIL();
    } catch (std::invalid_argument const& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean exit-codes? The topics are options, exit-codes, rare"));
    }
}

TEST(Manual, shows_the_common_options_and_the_examples_on_one_screen) {
    std::string const text = short_help(small());
    EXPECT_THAT(text, HasSubstr("  -s N  the size\n"));
    EXPECT_THAT(text, HasSubstr("  tool --size 4    four\n"));
    EXPECT_THAT(text, Not(HasSubstr("Sets the size")));
}

TEST(Manual, answers_the_options_that_request_a_text) {
    Information none, version, brief, all;
    parse_options(information_options(version), {"--version", "-h"});
    parse_options(information_options(brief), {"-h"});
    parse_options(information_options(all), {"--help", "rare"});
    EXPECT_FALSE(none.requested());
    EXPECT_TRUE(version.requested() && brief.requested() && all.requested());
    EXPECT_EQ(information_text(small(), version), version_text("tool"));
    EXPECT_THAT(version_text("tool"), testing::MatchesRegex("tool of Tutti [0-9.]+\n"));
    EXPECT_EQ(information_text(small(), brief), short_help(small()));
    EXPECT_EQ(information_text(small(), all), help_on(small(), "rare"));
}

TEST(Manual, escapes_what_roff_would_interpret) {
    std::string const page = man_page(small());
    EXPECT_THAT(page, HasSubstr("\\fB\\-s\\fR, \\fB\\-\\-size\\fR\\fI N\\fR\n"));
    EXPECT_THAT(page, HasSubstr("isn\\(aqt \\esmall"));
    EXPECT_THAT(page, HasSubstr("\n\\&.first\n"));
    EXPECT_THAT(page, HasSubstr("[OPTION\\[u2026]]"));
    EXPECT_THAT(page, Not(HasSubstr("rarely")));
}

TEST(Manual, names_guides_where_they_are) {
    EXPECT_EQ(with_documents("more (guides/a.md). guides/b.md", "/f"), "more (/f/guides/a.md). /f/guides/b.md");
    EXPECT_EQ(with_documents("more (guides/a.md).", ""), "more.");
}

TEST(CommandLine, wraps_by_characters_at_the_width) {
    EXPECT_EQ(wrapped("aa bb cc", 2, 7), "aa bb\n  cc\n");
    EXPECT_EQ(wrapped("…… bb", 0, 5), "…… bb\n");
    setenv("COLUMNS", "70", 1);
    EXPECT_EQ(text_width(), 70u);
    setenv("COLUMNS", "500", 1);
    EXPECT_EQ(text_width(), 110u);
    unsetenv("COLUMNS");
}

TEST(CommandLine, suggests_the_option_that_was_meant) {
    std::vector<OptionName> const names{{"-n", true}, {"--sizes", true}, {"--csv", false}, {"--bind-to", true}};
    EXPECT_EQ(intended_option("--size", names), "--sizes");
    EXPECT_EQ(intended_option("-csv", names), "--csv");
    EXPECT_EQ(intended_option("-n12", names), "-n 12");
    EXPECT_EQ(intended_option("--csv1", names), "--csv");
    EXPECT_EQ(intended_option("--bind-to-core", names), "--bind-to core");
    EXPECT_EQ(intended_option("--zzzzzz", names), "");
    EXPECT_EQ(unknown_option("–n", names), "–n: this is a dash of typography; write -n");
    EXPECT_THAT(unknown_option("—", names), HasSubstr("write hyphens (-)"));
}

TEST(CommandLine, reads_omitted_arguments_and_further_names) {
    std::string list = "none", topic = "none";
    std::vector<Option> const options{
        {"--list -l", "[WORDS]", "words", "", [&](std::string const& text) { return list = text, text != "bad"; }},
        {"--help", "[TOPIC]", "a topic", "", [&](std::string const& text) { return topic = text, true; }}};
    parse_options(options, {"-l", "--help", "-l"});
    EXPECT_EQ(list, "");
    EXPECT_EQ(topic, "-l");
    parse_options(options, {"--list", "a,b"});
    EXPECT_EQ(list, "a,b");
    try {
        parse_options(options, {"-l=bad"});
        FAIL();
    } catch (std::invalid_argument const& error) { EXPECT_STREQ(error.what(), "-l needs words, not 'bad'"); }
}

}   // namespace
}   // namespace apps
