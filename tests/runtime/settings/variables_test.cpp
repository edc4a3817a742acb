// SPDX-License-Identifier: BSD-3-Clause
// Settings: parsing, complaints, description.
#include "runtime/settings/variables.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/settings/launch.hpp"

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
    EXPECT_EQ(read({"TUTTI_ARENA_KEEP=2M"}, complaints).arena_keep, 2u << 20);
    EXPECT_TRUE(read({"TUTTI_CMA=ON"}, complaints).cma);
}

TEST(Variables, ThatDoNotParseAreReportedAndKeepTheirDefault) {
    for (char const* wrong : {"TUTTI_EAGER=many", "TUTTI_EAGER=-1", "TUTTI_EAGER=99999999999999999999G",
                              "TUTTI_CMA=perhaps", "TUTTI_SLEEP_AFTER=1.5", "TUTTI_EAGER="}) {
        std::vector<std::string> complaints;
        Variables v = read({wrong}, complaints);
        EXPECT_THAT(complaints, SizeIs(1)) << wrong;
        EXPECT_EQ(v.eager, 16384u);
        EXPECT_TRUE(v.cma);
    }
}

TEST(Variables, OutsideTheirRangesAreReportedWithThemAndKeepTheirDefault) {
    std::pair<char const*, char const*> const wrong[] = {
        {"TUTTI_WAIT=dedicatd",
         "TUTTI_WAIT=dedicatd: it must be auto, dedicated or shared; did you mean dedicated? auto is used"},
        {"TUTTI_WAIT=", "it must be auto, dedicated or shared; auto is used"},
        {"TUTTI_COPY=bogus", "it must be auto, temporal or nontemporal; auto is used"},
        {"TUTTI_FRAGMENTS=99", "TUTTI_FRAGMENTS=99: it must be 1 to 4; 2 is used"},
        {"TUTTI_FRAGMENTS=0", "it must be 1 to 4"},
        {"TUTTI_FRAGMENT=8", "it must be 0 or 4K to 1T bytes; 1048576 is used"},
        {"TUTTI_STAGING=0", "it must be 4K to 4M bytes; 65536 is used"},
        {"TUTTI_STAGING=1G", "it must be 4K to 4M bytes"},
        {"TUTTI_CMA=perhaps", "it must be yes or no; yes is used"},
        {"TUTTI_HIERARCHY=nuna", "it must be auto, flat, or a sum of l2, l3, numa and socket; auto is used"},
        {"TUTTI_PORT_RANGE=90000", "such as 40000-40100; no job on several nodes starts with it"}};
    for (auto const& [setting, told] : wrong) {
        std::vector<std::string> complaints;
        Variables const v = read({setting}, complaints);
        ASSERT_THAT(complaints, SizeIs(1)) << setting;
        EXPECT_THAT(complaints[0], HasSubstr(told));
        EXPECT_TRUE(v.wait == "auto" && v.copy == "auto" && v.fragments == 2 && v.fragment == 1u << 20);
        EXPECT_TRUE(v.staging == 65536 && v.cma && v.hierarchy == "auto");
    }
}

TEST(Variables, AtTheEndsOfTheirRangesAreTaken) {
    std::vector<std::string> complaints;
    Variables const v =
        read({"TUTTI_WAIT=dedicated", "TUTTI_COPY=nontemporal", "TUTTI_FRAGMENTS=4", "TUTTI_FRAGMENT=0",
              "TUTTI_STAGING=4096", "TUTTI_ARENA_KEEP=1T", "TUTTI_HIERARCHY=l3+numa", "TUTTI_PORT_RANGE=40000-40100"},
             complaints);
    EXPECT_THAT(complaints, IsEmpty());
    EXPECT_TRUE(v.wait == "dedicated" && v.copy == "nontemporal" && v.fragments == 4 && v.fragment == 0);
    EXPECT_TRUE(v.staging == 4096 && v.arena_keep == std::size_t{1} << 40 && v.hierarchy == "l3+numa");
    EXPECT_EQ(v.port_range, "40000-40100");
}

TEST(Variables, HaveDefaultsThatFitAndARangeInWords) {
    for (VariableRow const& row : describe_variables(nullptr)) {
        EXPECT_TRUE(fits_variable(row.name, row.fallback)) << row.name << "=" << row.fallback;
        EXPECT_FALSE(row.range.empty()) << row.name;
    }
    EXPECT_FALSE(fits_variable("TUTTI_FRAGMENTS", "5"));
    EXPECT_FALSE(fits_variable("TUTTI_FRAGMENTS", "-1"));
    EXPECT_FALSE(fits_variable("TUTTI_NOTHING", "1"));
}

TEST(Variables, ThatWereToldAreKnownByTheirFingerprint) {
    EXPECT_EQ(fingerprint({}), 0u);
    EXPECT_EQ(fingerprint({"a", "b"}), fingerprint({"a", "b"}));
    EXPECT_NE(fingerprint({"a", "b"}), fingerprint({"a"}));
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

}   // namespace
}   // namespace tutti
