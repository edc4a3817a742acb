// SPDX-License-Identifier: BSD-3-Clause
// IP addresses as text, and the addresses of this host.
#include <gmock/gmock.h>

#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

IpAddress address(char const* text) { return IpAddress::from_text(text).value(); }

TEST(IpAddress, RoundTrips) {
    for (char const* text : {"10.0.0.1/24", "127.0.0.1/8", "0.0.0.0/0", "255.255.255.255/32", "fd00::1/64", "::1/128",
                             "2001:db8::ff00:42:8329/33"})
        EXPECT_EQ(address(text).text(), text);
    EXPECT_EQ(address("10.1.2.3").text(), "10.1.2.3/32");
    EXPECT_EQ(address("fd00::2").text(), "fd00::2/128");
    EXPECT_EQ(address("10.0.0.1/24").host(), "10.0.0.1");
}

TEST(IpAddress, RefusesEveryOtherText) {
    for (char const* text : {"", "/", "/24", "10.0.0/24", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/24x",
                             "10.0.0.256", "fd00::1/129", "fd00:::1", "::1%lo", "host", "10.0.0.1 /24", "1.2.3.4/24/8"})
        EXPECT_FALSE(IpAddress::from_text(text)) << text;
}

TEST(IpAddress, ANetworkContainsAddressesWithItsPrefix) {
    EXPECT_TRUE(address("10.0.0.7").is_in(address("10.0.0.1/24")));
    EXPECT_FALSE(address("10.0.1.7").is_in(address("10.0.0.1/24")));
    EXPECT_TRUE(address("10.0.1.7").is_in(address("10.0.0.1/23")));
    EXPECT_TRUE(address("10.0.127.7").is_in(address("10.0.0.1/17")));
    EXPECT_FALSE(address("10.0.128.7").is_in(address("10.0.0.1/17")));
    EXPECT_TRUE(address("10.0.0.1").is_in(address("10.0.0.1/32")));
    EXPECT_FALSE(address("10.0.0.2").is_in(address("10.0.0.1/32")));
    EXPECT_TRUE(address("1.2.3.4").is_in(address("9.9.9.9/0")));
    EXPECT_TRUE(address("fd00::ffff:1").is_in(address("fd00::1/64")));
    EXPECT_FALSE(address("fd01::1").is_in(address("fd00::1/64")));
    EXPECT_FALSE(address("10.0.0.1").is_in(address("::/0")));
}

TEST(IpAddress, RecognizesAddressesOfThisHost) {
    EXPECT_TRUE(address("127.4.5.6").is_loopback());
    EXPECT_TRUE(address("::1").is_loopback());
    EXPECT_FALSE(address("128.0.0.1").is_loopback());
    EXPECT_FALSE(address("::2").is_loopback());
    EXPECT_TRUE(address("fe80::1").is_link_local());
    EXPECT_FALSE(address("fd00::1").is_link_local());
}

std::vector<Interface> some() {
    return {{"eth0", address("10.0.0.1/24")}, {"eth0", address("fd00::1/64")}, {"ib0", address("10.1.0.1/16")}};
}

std::vector<std::string> names(std::vector<Interface> const& all) {
    std::vector<std::string> out;
    for (Interface const& i : all) out.push_back(i.name + " " + i.address.text());
    return out;
}

TEST(Interfaces, AreSelectedByNameOrByNetwork) {
    EXPECT_EQ(select_interfaces(some(), "").size(), 3u);
    EXPECT_THAT(names(select_interfaces(some(), "eth0")), testing::ElementsAre("eth0 10.0.0.1/24", "eth0 fd00::1/64"));
    EXPECT_THAT(names(select_interfaces(some(), "10.1.0.0/16")), testing::ElementsAre("ib0 10.1.0.1/16"));
    EXPECT_THAT(names(select_interfaces(some(), "fd00::/8")), testing::ElementsAre("eth0 fd00::1/64"));
    EXPECT_TRUE(select_interfaces(some(), "eth").empty());
    EXPECT_TRUE(select_interfaces(some(), "192.168.0.0/16").empty());
}

TEST(Interfaces, OfThisHostHaveLoopbackLast) {
    std::vector<Interface> const all = interfaces();
    ASSERT_FALSE(all.empty());
    bool behind = false;
    for (Interface const& i : all) {
        EXPECT_FALSE(i.address.is_link_local());
        EXPECT_TRUE(!behind || i.address.is_loopback()) << i.name;
        behind |= i.address.is_loopback();
    }
    EXPECT_TRUE(behind);
}

TEST(Interfaces, AddressesOfThisHostCanBeParsed) {
    std::vector<std::string> const addresses = host_addresses();
    ASSERT_FALSE(addresses.empty());
    for (std::string const& a : addresses) EXPECT_TRUE(IpAddress::from_text(a)) << a;
    EXPECT_THAT(host_addresses("127.0.0.0/8"), testing::Contains("127.0.0.1/8"));
}

TEST(Interfaces, AnUnknownNetworkIsAnError) {
    try {
        host_addresses("nothing7");
        FAIL() << "an unknown network was accepted";
    } catch (Error const& e) {
        EXPECT_THAT(e.what(), HasSubstr("no interface or network of this host is nothing7; it has "));
        EXPECT_THAT(e.what(), HasSubstr("127.0.0.1/8"));
    }
}

}   // namespace
}   // namespace tutti
