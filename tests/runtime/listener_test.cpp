// SPDX-License-Identifier: BSD-3-Clause
// Listening sockets: any port, a range of them, none left.
#include <gmock/gmock.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/error.hpp"
#include "runtime/listener.hpp"

namespace tutti {
namespace {

/// Closes its listeners.
struct Listeners {
    ~Listeners() {
        for (Listener const& l : all) close(l.descriptor);
    }
    Listener const& add(std::string_view ports = {}) { return all.emplace_back(listen_anywhere(ports)); }
    std::vector<Listener> all;
};

bool can_connect(std::uint16_t port, bool six) {
    int const s = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    sockaddr_in6 to6{};
    to6.sin6_family = AF_INET6;
    to6.sin6_addr = in6addr_loopback;
    to6.sin6_port = htons(port);
    sockaddr_in to4{};
    to4.sin_family = AF_INET;
    to4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to4.sin_port = htons(port);
    int const result = six ? connect(s, reinterpret_cast<sockaddr*>(&to6), sizeof to6)
                           : connect(s, reinterpret_cast<sockaddr*>(&to4), sizeof to4);
    close(s);
    return result == 0;
}

std::string sentence(std::string_view ports) {
    try {
        close(listen_anywhere(ports).descriptor);
        return "";
    } catch (Error const& e) {
        return e.what();
    }
}

TEST(Listener, IsReachedByBothFamilies) {
    Listeners l;
    std::uint16_t const port = l.add().port;
    EXPECT_NE(port, 0);
    EXPECT_TRUE(can_connect(port, false));
    int const probe = socket(AF_INET6, SOCK_STREAM, 0);
    if (probe >= 0) {
        EXPECT_TRUE(can_connect(port, true));
        close(probe);
    }
}

TEST(Listener, DoesNotBlockAndIsNotInherited) {
    Listeners l;
    int const s = l.add().descriptor;
    EXPECT_TRUE(fcntl(s, F_GETFL) & O_NONBLOCK);
    EXPECT_TRUE(fcntl(s, F_GETFD) & FD_CLOEXEC);
}

TEST(Listener, ManyHavePortsOfTheirOwn) {
    Listeners l;
    for (int i = 0; i < 20; ++i) l.add();
    for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(l.all[i].port, l.all[j].port);
}

TEST(Listener, TakesTheFirstFreePortOfARangeUntilThereIsNone) {
    Listeners l;
    unsigned const first = l.add().port;   // taken now; what follows may be taken by others
    std::string const one = std::to_string(first), range = one + "-" + std::to_string(first + 2);
    auto exhausted = [](std::string const& ports) {
        return "no port of TUTTI_PORT_RANGE=" + ports + " is free on this host for a rank to listen on";
    };
    EXPECT_EQ(sentence(one), exhausted(one));
    for (int i = 0; i < 3 && sentence(range).empty(); ++i) {
        unsigned const port = l.add(range).port;
        EXPECT_GT(port, first);
        EXPECT_LE(port, first + 2);
    }
    EXPECT_EQ(sentence(range), exhausted(range));
}

TEST(Listener, RefusesWhatIsNoRange) {
    for (char const* text : {"x", "0", "40000-", "-40000", "40000-39999", "1-65536", "40000-40001x", "40000 - 40001"})
        EXPECT_THAT(sentence(text), testing::HasSubstr("is not a range of ports such as 40000-40100")) << text;
}

}  // namespace
}  // namespace tutti
