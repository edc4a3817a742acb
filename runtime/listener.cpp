// SPDX-License-Identifier: BSD-3-Clause
// Making listening sockets.
#include "runtime/listener.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/error.hpp"

namespace tutti {
namespace {

struct Range {
    unsigned first = 0, last = 0;
};

Range range_in(std::string_view text) {
    Range r;
    if (text.empty()) return r;
    char const* const end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, r.first);
    r.last = r.first;
    if (error == std::errc{} && at != end && *at == '-') {
        auto const second = std::from_chars(at + 1, end, r.last);
        at = second.ptr;
        error = second.ec;
    }
    if (error != std::errc{} || at != end || r.first == 0 || r.last < r.first || r.last > 65535)
        fail(ErrorClass::other, "TUTTI_PORT_RANGE=", text, " is not a range of ports such as 40000-40100");
    return r;
}

/// Binds to that port of all addresses and listens; −1 with errno when that cannot be.
int listen_on(int family, unsigned port) {
    int const s = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    int const no = 0, yes = 1;
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = six.sin6_port;
    bool const is_six = family == AF_INET6;
    auto const* address = is_six ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
    bool const good = (!is_six || setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0) &&
                      // A port whose last connections are still fading away is free all the same.
                      (port == 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0) &&
                      bind(s, address, is_six ? sizeof six : sizeof four) == 0 && listen(s, SOMAXCONN) == 0;
    if (good) return s;
    int const why = errno;
    close(s);
    errno = why;
    return -1;
}

std::uint16_t port_of(int descriptor) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

Listener listen_anywhere(std::string_view ports) {
    Range const range = range_in(ports);
    int family = AF_INET6;
    for (unsigned port = range.first; port <= range.last;) {
        int const s = listen_on(family, port);
        if (s >= 0) return {s, port_of(s)};
        if (family == AF_INET6 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) family = AF_INET;
        else if (errno == EADDRINUSE || errno == EACCES) ++port;
        else break;
    }
    int const why = errno;
    if (range.first != 0 && (why == EADDRINUSE || why == EACCES))
        fail(ErrorClass::other, "no port of TUTTI_PORT_RANGE=", ports, " is free on this host for a rank to listen on");
    fail(ErrorClass::other, "no port to listen on for a rank: ", std::strerror(why));
}

}  // namespace tutti
