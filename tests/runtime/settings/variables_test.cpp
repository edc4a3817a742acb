// SPDX-License-Identifier: BSD-3-Clause
// Settings: parsing, diagnostics, descriptions.
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

Variables read(std::vector<char const*> environment, std::vector<std::string>& diagnostics) {
    environment.push_back(nullptr);
    return read_variables(environment.data(), diagnostics);
}

TEST(Variables, KeepTheirDefaultsWhenNothingIsSet) {
    std::vector<std::string> diagnostics;
    Variables v = read({"PATH=/bin", "TUTTIX=1"}, diagnostics);
    EXPECT_EQ(v.eager, 16384u);
    EXPECT_TRUE(v.cma);
    EXPECT_THAT(diagnostics, IsEmpty());
}

TEST(Variables, AreReadInTheirTypes) {
    std::vector<std::string> diagnostics;
    Variables v = read({"TUTTI_EAGER=4K", "TUTTI_CMA=no", "TUTTI_SLEEP_AFTER=7", "TUTTI_WAIT=shared"}, diagnostics);
    EXPECT_EQ(v.eager, 4096u);
    EXPECT_FALSE(v.cma);
    EXPECT_EQ(v.sleep_after, 7);
    EXPECT_EQ(v.wait, "shared");
    EXPECT_THAT(diagnostics, IsEmpty());
    EXPECT_EQ(read({"TUTTI_ARENA_KEEP=2M"}, diagnostics).arena_keep, 2u << 20);
    EXPECT_TRUE(read({"TUTTI_CMA=ON"}, diagnostics).cma);
}

TEST(Variables, ThatDoNotParseAreReportedAndKeepTheirDefault) {
    for (char const* wrong : {"TUTTI_EAGER=many", "TUTTI_EAGER=-1", "TUTTI_EAGER=99999999999999999999G",
                              "TUTTI_CMA=perhaps", "TUTTI_SLEEP_AFTER=1.5", "TUTTI_EAGER="}) {
        std::vector<std::string> diagnostics;
        Variables v = read({wrong}, diagnostics);
        EXPECT_THAT(diagnostics, SizeIs(1)) << wrong;
        EXPECT_EQ(v.eager, 16384u);
        EXPECT_TRUE(v.cma);
    }
}

TEST(Variables, OutOfRangeAreReportedWithTheRangeAndKeepTheirDefault) {
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
        {"TUTTI_HIERARCHY=nuna", "it must be auto, flat, or some of l2, l3, numa and socket joined by +; auto is used"},
        {"TUTTI_PORT_RANGE=90000", "such as 40000-40100; multi-node jobs cannot start"}};
    for (auto const& [setting, expected] : wrong) {
        std::vector<std::string> diagnostics;
        Variables const v = read({setting}, diagnostics);
        ASSERT_THAT(diagnostics, SizeIs(1)) << setting;
        EXPECT_THAT(diagnostics[0], HasSubstr(expected));
        EXPECT_TRUE(v.wait == "auto" && v.copy == "auto" && v.fragments == 2 && v.fragment == 1u << 20);
        EXPECT_TRUE(v.staging == 65536 && v.cma && v.hierarchy == "auto");
    }
}

TEST(Variables, AcceptTheLimitsOfTheirRanges) {
    std::vector<std::string> diagnostics;
    Variables const v =
        read({"TUTTI_WAIT=dedicated", "TUTTI_COPY=nontemporal", "TUTTI_FRAGMENTS=4", "TUTTI_FRAGMENT=0",
              "TUTTI_STAGING=4096", "TUTTI_ARENA_KEEP=1T", "TUTTI_HIERARCHY=l3+numa", "TUTTI_PORT_RANGE=40000-40100"},
             diagnostics);
    EXPECT_THAT(diagnostics, IsEmpty());
    EXPECT_TRUE(v.wait == "dedicated" && v.copy == "nontemporal" && v.fragments == 4 && v.fragment == 0);
    EXPECT_TRUE(v.staging == 4096 && v.arena_keep == std::size_t{1} << 40 && v.hierarchy == "l3+numa");
    EXPECT_EQ(v.port_range, "40000-40100");
}

TEST(Variables, HaveValidDefaultsAndADescribedRange) {
    for (VariableRow const& row : describe_variables(nullptr)) {
        EXPECT_TRUE(is_valid_setting(row.name, row.fallback)) << row.name << "=" << row.fallback;
        EXPECT_FALSE(row.range.empty()) << row.name;
    }
    EXPECT_FALSE(is_valid_setting("TUTTI_FRAGMENTS", "5"));
    EXPECT_FALSE(is_valid_setting("TUTTI_FRAGMENTS", "-1"));
    EXPECT_FALSE(is_valid_setting("TUTTI_NOTHING", "1"));
}

TEST(Variables, DiagnosticsHaveAFingerprint) {
    EXPECT_EQ(fingerprint({}), 0u);
    EXPECT_EQ(fingerprint({"a", "b"}), fingerprint({"a", "b"}));
    EXPECT_NE(fingerprint({"a", "b"}), fingerprint({"a"}));
}

TEST(Variables, ThatAreMisspeltAreReportedWithTheNearestName) {
    std::vector<std::string> diagnostics;
    read({"TUTTI_EAGR=1K", "TUTTI_QQQQQQQQQQ=1"}, diagnostics);
    ASSERT_THAT(diagnostics, SizeIs(2));
    EXPECT_THAT(diagnostics[0], HasSubstr("TUTTI_EAGER"));
    EXPECT_THAT(diagnostics[1], Not(HasSubstr("did you mean")));
}

TEST(Variables, OfTheLaunchersProtocolAreNotReported) {
    std::vector<std::string> diagnostics;
    std::string rank = std::string(launch::rank_variable) + "=0";
    std::string segment = std::string(launch::segment_variable) + "=5";
    read({rank.c_str(), segment.c_str()}, diagnostics);
    EXPECT_THAT(diagnostics, IsEmpty());
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
    for (auto const& r : rows) EXPECT_TRUE(r.description.ends_with('.')) << r.name << " must end with a full stop";
}

TEST(Variables, WithAnInvalidTextAreDescribedWithTheValueThatIsUsed) {
    char const* environment[] = {"TUTTI_WAIT=bogus",
                                 "TUTTI_FRAGMENTS=99",
                                 "TUTTI_HIERARCHY=l9",
                                 "TUTTI_QUIET=maybe",
                                 "TUTTI_PORT_RANGE=x",
                                 "TUTTI_COPY=temporal",
                                 nullptr};
    auto rows = describe_variables(environment);
    for (auto const& [name, value, invalid] : {std::tuple("TUTTI_WAIT", "auto", "bogus"),
                                               {"TUTTI_FRAGMENTS", "2", "99"},
                                               {"TUTTI_HIERARCHY", "auto", "l9"},
                                               {"TUTTI_QUIET", "no", "maybe"}}) {
        auto const row = std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.name == name; });
        EXPECT_EQ(row->value, value);
        EXPECT_EQ(row->origin, "default") << name;
        EXPECT_EQ(row->invalid, invalid);
    }
    auto const row = [&](char const* name) {
        return *std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.name == name; });
    };
    EXPECT_EQ(row("TUTTI_PORT_RANGE").value, "x") << "is kept, so that a job on several nodes fails";
    EXPECT_EQ(row("TUTTI_PORT_RANGE").invalid, "x");
    EXPECT_EQ(row("TUTTI_COPY").origin, "environment");
    EXPECT_FALSE(row("TUTTI_COPY").invalid);
    EXPECT_FALSE(row("TUTTI_EAGER").invalid);
}

}   // namespace
}   // namespace tutti
