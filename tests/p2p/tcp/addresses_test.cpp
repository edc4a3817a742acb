// SPDX-License-Identifier: BSD-3-Clause
// The order in which the addresses of another host are tried.
#include <gmock/gmock.h>

#include "p2p/tcp/connect.hpp"

namespace tutti::p2p::tcp {
namespace {

using testing::ElementsAre;

Interface interface(char const* name, char const* address, bool bridge = false, bool running = true) {
    return {name, *IpAddress::from_text(address), bridge, running};
}

std::vector<std::string> order(std::vector<std::string> const& theirs, std::vector<Interface> const& ours,
                               std::string_view network = {}) {
    std::vector<std::string> hosts;
    for (IpAddress const& a : connect_order(theirs, ours, network)) hosts.push_back(a.host());
    return hosts;
}

std::vector<Interface> const host = {interface("eth0", "10.0.0.1/24"), interface("eth0", "fd00::1/64"),
                                     interface("docker0", "172.17.0.1/16", true), interface("lo", "127.0.0.1/8"),
                                     interface("usb0", "192.168.7.1/24", false, false)};

TEST(Addresses, AddressesInOwnNetworksComeFirst) {
    EXPECT_THAT(order({"192.0.2.9/24", "10.0.0.2/24", "fd00::2/64"}, host),
                ElementsAre("10.0.0.2", "fd00::2", "192.0.2.9"));
    EXPECT_THAT(order({"fd00::2/64", "10.0.0.2/24"}, host), ElementsAre("fd00::2", "10.0.0.2"));
}

TEST(Addresses, AContainerBridgeIsTriedLate) {
    // Both hosts have a docker0 with the same address: connecting to it would reach this host.
    EXPECT_THAT(order({"172.17.0.1/16", "10.0.0.2/24"}, host), ElementsAre("10.0.0.2", "172.17.0.1"));
    EXPECT_THAT(order({"172.17.0.5/16", "192.0.2.9/24", "172.17.0.1/16"}, host),
                ElementsAre("192.0.2.9", "172.17.0.5", "172.17.0.1"));
}

TEST(Addresses, AnInterfaceWithoutCarrierDoesNotAdvanceItsNetwork) {
    EXPECT_THAT(order({"192.168.7.2/24", "192.0.2.9/24"}, host), ElementsAre("192.0.2.9", "192.168.7.2"));
}

TEST(Addresses, LoopbackIsTriedLast) {
    EXPECT_THAT(order({"127.0.0.1/8", "10.0.0.1/24", "192.0.2.9/24"}, host),
                ElementsAre("192.0.2.9", "10.0.0.1", "127.0.0.1"));
}

TEST(Addresses, ANetworkMayBeNamed) {
    std::vector<std::string> const theirs = {"10.0.0.2/24", "192.0.2.9/24", "fd00::2/64", "172.17.0.1/16"};
    EXPECT_THAT(order(theirs, host, "192.0.2.0/24"), ElementsAre("192.0.2.9"));
    EXPECT_THAT(order(theirs, host, "fd00::/16"), ElementsAre("fd00::2"));
    EXPECT_THAT(order(theirs, host, "198.51.100.0/24"), ElementsAre());
}

TEST(Addresses, AnInterfaceMayBeNamed) {
    std::vector<std::string> const theirs = {"10.0.0.2/24", "192.0.2.9/24", "fd00::2/64", "172.17.0.5/16"};
    EXPECT_THAT(order(theirs, host, "eth0"), ElementsAre("10.0.0.2", "fd00::2"));
    EXPECT_THAT(order(theirs, host, "docker0"), ElementsAre("172.17.0.5"));
    EXPECT_THAT(order({"192.0.2.9/24"}, host, "eth0"), ElementsAre("192.0.2.9"));   // behind a router
}

TEST(Addresses, InvalidAddressesAreSkipped) {
    EXPECT_THAT(order({"somewhere", "", "10.0.0.2/24", "10.0.0.300/24"}, host), ElementsAre("10.0.0.2"));
    EXPECT_THAT(order({}, host), ElementsAre());
}

}   // namespace
}   // namespace tutti::p2p::tcp
