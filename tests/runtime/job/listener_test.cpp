// SPDX-License-Identifier: BSD-3-Clause
// Listening sockets: their addresses, any port, a range of ports, and no free port.
#include <gmock/gmock.h>

#include <cstring>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti {
namespace {

std::vector<std::string> const loopback = {"127.0.0.1/8", "::1/128"};

void close_all(Listener const& l) {
    for (int descriptor : l.descriptors) close(descriptor);
}

/// Closes its listeners on destruction.
struct Listeners {
    ~Listeners() {
        for (Listener const& l : all) close_all(l);
    }
    Listener const& add(std::string_view ports = {}, std::vector<std::string> const& addresses = loopback) {
        return all.emplace_back(listen_on(addresses, ports));
    }
    std::vector<Listener> all;
};

bool can_connect(std::uint16_t port, char const* host) {
    auto const address = *IpAddress::from_text(host);
    int const s = socket(address.is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&six.sin6_addr, address.bytes.data(), sizeof six.sin6_addr);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&four.sin_addr, address.bytes.data(), sizeof four.sin_addr);
    int const result = address.is_ipv6 ? connect(s, reinterpret_cast<sockaddr*>(&six), sizeof six)
                                       : connect(s, reinterpret_cast<sockaddr*>(&four), sizeof four);
    close(s);
    return result == 0;
}

std::string listen_error(std::string_view ports) {
    try {
        close_all(listen_on(loopback, ports));
        return "";
    } catch (Error const& e) { return e.what(); }
}

TEST(Listener, IsReachedByBothFamilies) {
    Listeners l;
    std::uint16_t const port = l.add().port;
    EXPECT_NE(port, 0);
    EXPECT_TRUE(can_connect(port, "127.0.0.1"));
    bool const six = !select_interfaces(interfaces(), "::1").empty();
    EXPECT_EQ(can_connect(port, "::1"), six);
}

TEST(Listener, IsReachedAtItsOwnAddressesOnly) {
    Listeners l;
    std::uint16_t const port = l.add({}, {"127.0.0.2/8", "127.0.0.4/8"}).port;
    EXPECT_TRUE(can_connect(port, "127.0.0.2"));
    EXPECT_TRUE(can_connect(port, "127.0.0.4"));
    for (char const* other : {"127.0.0.1", "127.0.0.3", "::1"}) EXPECT_FALSE(can_connect(port, other)) << other;
    for (Interface const& i : interfaces()) {
        if (i.address.is_loopback()) continue;
        EXPECT_FALSE(can_connect(port, i.address.host().c_str())) << i.address.host();
    }
}

TEST(Listener, UnavailableAddressesAreSkipped) {
    Listeners l;
    Listener const& some = l.add({}, {"192.0.2.1/24", "127.0.0.2/8"});   // the first: RFC 5737
    EXPECT_EQ(some.descriptors.size(), 1u);
    EXPECT_TRUE(can_connect(some.port, "127.0.0.2"));
    EXPECT_THROW(listen_on({"192.0.2.1/24"}), Error);
}

TEST(Listener, APortOfARangeIsFreeOnAllAddresses) {
    Listeners l;
    unsigned const taken = l.add({}, {"127.0.0.4/8"}).port;
    std::string const range = std::to_string(taken) + "-" + std::to_string(taken + 5);
    EXPECT_GT(l.add(range, {"127.0.0.2/8", "127.0.0.4/8"}).port, taken);
}

TEST(Listener, DoesNotBlockAndIsNotInherited) {
    Listeners l;
    for (int s : l.add().descriptors) {
        EXPECT_TRUE(fcntl(s, F_GETFL) & O_NONBLOCK);
        EXPECT_TRUE(fcntl(s, F_GETFD) & FD_CLOEXEC);
    }
}

TEST(Listener, ManyHaveDifferentPorts) {
    Listeners l;
    for (int i = 0; i < 20; ++i) l.add();
    for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(l.all[i].port, l.all[j].port);
}

TEST(Listener, UsesTheFirstFreePortOfARangeUntilNoneIsFree) {
    Listeners l;
    unsigned const first = l.add().port;   // in use now; other programs may use the next ones
    std::string const one = std::to_string(first), range = one + "-" + std::to_string(first + 2);
    auto exhausted = [](std::string const& ports) {
        return "no port of TUTTI_PORT_RANGE=" + ports + " is free on this host for a rank to listen on";
    };
    EXPECT_EQ(listen_error(one), exhausted(one));
    for (int i = 0; i < 3 && listen_error(range).empty(); ++i) {
        unsigned const port = l.add(range).port;
        EXPECT_GT(port, first);
        EXPECT_LE(port, first + 2);
    }
    EXPECT_EQ(listen_error(range), exhausted(range));
}

TEST(Listener, RefusesInvalidRanges) {
    for (char const* text : {"x", "0", "40000-", "-40000", "40000-39999", "1-65536", "40000-40001x", "40000 - 40001"})
        EXPECT_THAT(listen_error(text), testing::HasSubstr("is not a range of ports such as 40000-40100")) << text;
}

}   // namespace
}   // namespace tutti
