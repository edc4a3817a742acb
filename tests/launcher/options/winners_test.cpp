// SPDX-License-Identifier: BSD-3-Clause
// Rules for a tuning file from measured times.
#include "launcher/tune/search.hpp"

#include <gtest/gtest.h>

namespace tutti::tune {
namespace {

Sample sample(std::size_t bytes, double ours, double rival, double other = 100, double noise = 0) {
    return {bytes, "ours", {{"ours", ours}, {"rival", rival}, {"other", other}}, noise};
}

std::string text(std::vector<SizeRange> const& all) {
    std::string words;
    for (SizeRange const& s : all) words += (words.empty() ? "" : " ") + s.setting + "<=" + std::to_string(s.bytes);
    return words;
}

TEST(Winners, AreOnlyClearlyFasterSettings) {
    EXPECT_EQ(text(size_ranges({sample(8, 10, 9.8)}, 0.03)), "ours<=8");
    EXPECT_EQ(text(size_ranges({sample(8, 10, 9.5)}, 0.03)), "rival<=8");
    EXPECT_EQ(text(size_ranges({sample(8, 10, 9.5, 100, 0.1)}, 0.03)), "ours<=8") << "within the noise";
}

TEST(Winners, NeighboursWithOneWinnerAreOneRange) {
    EXPECT_EQ(text(size_ranges({sample(8, 10, 11), sample(16, 10, 10), sample(32, 10, 5), sample(64, 10, 6)}, 0.03)),
              "ours<=16 rival<=64");
}

TEST(Winners, StayUnlessAnotherSettingIsClearlyFaster) {
    auto const all = size_ranges({sample(8, 10, 5), sample(16, 10, 5, 4.9), sample(32, 10, 5, 3)}, 0.03);
    EXPECT_EQ(text(all), "rival<=16 other<=32");
    EXPECT_TRUE(has_gain(all));
    EXPECT_FALSE(has_gain(size_ranges({sample(8, 10, 10)}, 0.03)));
}

TEST(Winners, HaveNoParameterThatMakesNoDifference) {
    Sample s = sample(8, 10, 5);
    s.times["rival:chunk=64K"] = 4.9;
    EXPECT_EQ(text(size_ranges({s}, 0.03)), "rival<=8");
    s.times["rival:chunk=64K"] = 4;
    EXPECT_EQ(text(size_ranges({s}, 0.03)), "rival:chunk=64K<=8");
}

TEST(Winners, ReportTheGreatestGain) {
    auto const all = size_ranges({sample(8, 10, 5), sample(16, 10, 2), sample(32, 10, 6)}, 0.03);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_DOUBLE_EQ(all[0].gain, 0.8);
    EXPECT_EQ(all[0].default_setting, "ours");
}

TEST(Winners, MayBeUnknownAtSomeSize) {
    std::vector<Sample> samples = {sample(8, 10, 5), sample(16, 10, 5)};
    samples[1].times.erase("rival");
    EXPECT_EQ(text(size_ranges(samples, 0.03)), "rival<=8 ours<=16");
}

}   // namespace
}   // namespace tutti::tune
