// SPDX-License-Identifier: BSD-3-Clause
// Settings: parsing, complaints, description.
#include "runtime/variables.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/launch.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Variables read(std::vector<char const*> environment, std::vector<std::string>& complaints) {
    environment.push_back(nullptr);
    return read_variables(environment.data(), complaints);
}

TEST(Variables, KeepTheirDefaultsWhenNothingIsSet) {
    std::vector<std::string> complaints;
    Variables v = read({"PATH=/bin", "TUTTIX=1"}, complaints);
    EXPECT_EQ(v.eager, 16384u);
    EXPECT_TRUE(v.cma);
    EXPECT_THAT(complaints, IsEmpty());
}

TEST(Variables, AreReadInTheirTypes) {
    std::vector<std::string> complaints;
    Variables v = read({"TUTTI_EAGER=4K", "TUTTI_CMA=no", "TUTTI_SLEEP_AFTER=7", "TUTTI_WAIT=shared"}, complaints);
    EXPECT_EQ(v.eager, 4096u);
    EXPECT_FALSE(v.cma);
    EXPECT_EQ(v.sleep_after, 7);
    EXPECT_EQ(v.wait, "shared");
    EXPECT_THAT(complaints, IsEmpty());
    EXPECT_EQ(read({"TUTTI_EAGER=2M"}, complaints).eager, 2u << 20);
    EXPECT_TRUE(read({"TUTTI_CMA=ON"}, complaints).cma);
}

TEST(Variables, ThatDoNotParseAreReportedAndKeepTheirDefault) {
    for (char const* wrong : {"TUTTI_EAGER=many", "TUTTI_EAGER=-1", "TUTTI_EAGER=99999999999999999999G",
                              "TUTTI_CMA=perhaps",
                              "TUTTI_SLEEP_AFTER=1.5", "TUTTI_EAGER="}) {
        std::vector<std::string> complaints;
        Variables v = read({wrong}, complaints);
        EXPECT_THAT(complaints, SizeIs(1)) << wrong;
        EXPECT_EQ(v.eager, 16384u);
        EXPECT_TRUE(v.cma);
    }
}

TEST(Variables, ThatAreMisspeltAreReportedWithTheNearestName) {
    std::vector<std::string> complaints;
    read({"TUTTI_EAGR=1K", "TUTTI_QQQQQQQQQQ=1"}, complaints);
    ASSERT_THAT(complaints, SizeIs(2));
    EXPECT_THAT(complaints[0], HasSubstr("TUTTI_EAGER"));
    EXPECT_THAT(complaints[1], Not(HasSubstr("did you mean")));
}

TEST(Variables, OfTheLaunchersContractAreNoSettings) {
    std::vector<std::string> complaints;
    std::string rank = std::string(launch::rank_variable) + "=0";
    std::string segment = std::string(launch::segment_variable) + "=5";
    read({rank.c_str(), segment.c_str()}, complaints);
    EXPECT_THAT(complaints, IsEmpty());
}

TEST(Variables, AreDescribedWithValueAndOrigin) {
    char const* environment[] = {"TUTTI_EAGER=1K", nullptr};
    auto rows = describe_variables(environment);
    auto row = [&](std::string const& name) {
        return *std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.name == name; });
    };
    EXPECT_EQ(row("TUTTI_EAGER").value, "1024");
    EXPECT_EQ(row("TUTTI_EAGER").fallback, "16384");
    EXPECT_EQ(row("TUTTI_EAGER").origin, "environment");
    EXPECT_EQ(row("TUTTI_CMA").origin, "default");
    for (auto const& r : rows) EXPECT_TRUE(r.sentence.ends_with('.')) << r.name << " needs a whole sentence";
}

TEST(Nearest, FindsASlipOfTheFingerOnly) {
    std::string_view words[] = {"bind-to", "map-by", "timeout"};
    EXPECT_EQ(nearest("bindto", words), "bind-to");
    EXPECT_EQ(nearest("timout", words), "timeout");
    EXPECT_EQ(nearest("zzzzzz", words), "");
}

}  // namespace
}  // namespace tutti
