// SPDX-License-Identifier: BSD-3-Clause
// Making listening sockets.
#include "runtime/job/listener.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/settings/setting_text.hpp"

namespace tutti {
namespace {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;
};

SocketAddress socket_address(IpAddress const& address, unsigned port) {
    SocketAddress a;
    if (address.six) {
        auto& six = reinterpret_cast<sockaddr_in6&>(a.storage);
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(static_cast<std::uint16_t>(port));
        std::memcpy(&six.sin6_addr, address.bytes.data(), sizeof six.sin6_addr);
        a.length = sizeof six;
    } else {
        auto& four = reinterpret_cast<sockaddr_in&>(a.storage);
        four.sin_family = AF_INET;
        four.sin_port = htons(static_cast<std::uint16_t>(port));
        std::memcpy(&four.sin_addr, address.bytes.data(), sizeof four.sin_addr);
        a.length = sizeof four;
    }
    return a;
}

/// Binds to that port of the address and listens; −1 with errno when that cannot be.
int listen_at(IpAddress const& address, unsigned port) {
    int const s = socket(address.six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    int const yes = 1;
    SocketAddress const at = socket_address(address, port);
    // A port whose last connections are still fading away is free all the same.
    bool const good = (port == 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0) &&
                      bind(s, reinterpret_cast<sockaddr const*>(&at.storage), at.length) == 0 &&
                      listen(s, SOMAXCONN) == 0;
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

bool is_absent(int why) { return why == EADDRNOTAVAIL || why == EAFNOSUPPORT; }
bool is_taken(int why) { return why == EADDRINUSE || why == EACCES; }

/// On that port of every address that can be used; 0: whichever port the system gives for the first of them. Empty with
/// errno when one has the port taken, or there is no address.
Listener listen_on_port(std::vector<IpAddress> const& addresses, unsigned port) {
    Listener listener;
    int why = EADDRNOTAVAIL;
    for (IpAddress const& address : addresses) {
        int const s = listen_at(address, listener.descriptors.empty() ? port : listener.port);
        if (s < 0 && is_absent(errno)) continue;
        if (s < 0) {
            why = errno;
            for (int descriptor : listener.descriptors) close(descriptor);
            listener = {};
            break;
        }
        if (listener.descriptors.empty()) listener.port = port_of(s);
        listener.descriptors.push_back(s);
    }
    errno = why;
    return listener;
}

}   // namespace

Listener listen_on(std::vector<std::string> const& addresses, std::string_view ports) {
    std::optional<PortRange> const wanted = port_range(ports);
    if (!wanted) fail(ErrorClass::other, "TUTTI_PORT_RANGE=", ports, " is not a range of ports such as 40000-40100");
    PortRange const range = *wanted;
    std::vector<IpAddress> parsed;
    for (std::string const& text : addresses)
        if (auto const address = IpAddress::from_text(text)) parsed.push_back(*address);
    constexpr int tries = 100;   // the system's port for one address may be taken on another
    int const ports_to_try = range.first == 0 ? tries : static_cast<int>(range.last - range.first) + 1;
    int why = 0;
    for (int i = 0; i < ports_to_try; ++i) {
        Listener listener = listen_on_port(parsed, range.first == 0 ? 0 : range.first + static_cast<unsigned>(i));
        if (!listener.descriptors.empty()) return listener;
        why = errno;
        if (!is_taken(why)) break;
    }
    if (range.first != 0 && is_taken(why))
        fail(ErrorClass::other, "no port of TUTTI_PORT_RANGE=", ports, " is free on this host for a rank to listen on");
    fail(ErrorClass::other, "no port to listen on for a rank: ", std::strerror(why));
}

}   // namespace tutti
