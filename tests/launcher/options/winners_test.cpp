// SPDX-License-Identifier: BSD-3-Clause
// From times to choices.
#include "launcher/tune/search.hpp"

#include <gtest/gtest.h>

namespace tutti::tune {
namespace {

Sample sample(std::size_t bytes, double ours, double rival, double other = 100, double noise = 0) {
    return {bytes, "ours", {{"ours", ours}, {"rival", rival}, {"other", other}}, noise};
}

std::string text(std::vector<Stretch> const& all) {
    std::string words;
    for (Stretch const& s : all) words += (words.empty() ? "" : " ") + s.setting + "<=" + std::to_string(s.bytes);
    return words;
}

TEST(Winners, AreOnlyThoseWhoAreClearlyFaster) {
    EXPECT_EQ(text(stretches({sample(8, 10, 9.8)}, 0.03)), "ours<=8");
    EXPECT_EQ(text(stretches({sample(8, 10, 9.5)}, 0.03)), "rival<=8");
    EXPECT_EQ(text(stretches({sample(8, 10, 9.5, 100, 0.1)}, 0.03)), "ours<=8") << "within the noise";
}

TEST(Winners, NeighboursWithOneWinnerAreOneStretch) {
    EXPECT_EQ(text(stretches({sample(8, 10, 11), sample(16, 10, 10), sample(32, 10, 5), sample(64, 10, 6)}, 0.03)),
              "ours<=16 rival<=64");
}

TEST(Winners, StayWhereNobodyIsClearlyFasterThanTheyAre) {
    auto const all = stretches({sample(8, 10, 5), sample(16, 10, 5, 4.9), sample(32, 10, 5, 3)}, 0.03);
    EXPECT_EQ(text(all), "rival<=16 other<=32");
    EXPECT_TRUE(differs(all));
    EXPECT_FALSE(differs(stretches({sample(8, 10, 10)}, 0.03)));
}

TEST(Winners, HaveNoParameterThatMakesNoDifference) {
    Sample s = sample(8, 10, 5);
    s.times["rival:chunk=64K"] = 4.9;
    EXPECT_EQ(text(stretches({s}, 0.03)), "rival<=8");
    s.times["rival:chunk=64K"] = 4;
    EXPECT_EQ(text(stretches({s}, 0.03)), "rival:chunk=64K<=8");
}

TEST(Winners, TellTheGreatestGain) {
    auto const all = stretches({sample(8, 10, 5), sample(16, 10, 2), sample(32, 10, 6)}, 0.03);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_DOUBLE_EQ(all[0].gain, 0.8);
    EXPECT_EQ(all[0].standard, "ours");
}

TEST(Winners, MayBeUnknownAtSomeSize) {
    std::vector<Sample> samples = {sample(8, 10, 5), sample(16, 10, 5)};
    samples[1].times.erase("rival");
    EXPECT_EQ(text(stretches(samples, 0.03)), "rival<=8 ours<=16");
}

}   // namespace
}   // namespace tutti::tune
