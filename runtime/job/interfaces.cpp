// SPDX-License-Identifier: BSD-3-Clause
// Queries the system's name and network interfaces and creates listening sockets.
#include "runtime/job/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

int address_bits(bool is_ipv6) { return is_ipv6 ? 128 : 32; }

int leading_ones(std::uint8_t const* mask, std::size_t n) {
    int count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (int bit = 7; bit >= 0; --bit, ++count)
            if (!(mask[i] >> bit & 1)) return count;
    }
    return count;
}

/// Returns the bytes of a socket address of either family; null for any other.
std::uint8_t const* bytes_of(sockaddr const* a) {
    if (!a) return nullptr;
    if (a->sa_family == AF_INET)
        return reinterpret_cast<std::uint8_t const*>(&reinterpret_cast<sockaddr_in const*>(a)->sin_addr);
    if (a->sa_family == AF_INET6)
        return reinterpret_cast<std::uint8_t const*>(&reinterpret_cast<sockaddr_in6 const*>(a)->sin6_addr);
    return nullptr;
}

bool is_bridge(std::string const& name) { return access(("/sys/class/net/" + name + "/bridge").c_str(), F_OK) == 0; }

/// Interfaces that other hosts should try first have the smallest.
int sort_key(Interface const& i) { return i.address.is_loopback() ? 4 : (i.bridge ? 1 : 0) + (i.running ? 0 : 2); }

}   // namespace

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

std::optional<IpAddress> IpAddress::from_text(std::string_view text) {
    std::size_t const slash = text.find('/');
    std::string const host(text.substr(0, slash));
    IpAddress a;
    a.is_ipv6 = host.find(':') != std::string::npos;
    if (inet_pton(a.is_ipv6 ? AF_INET6 : AF_INET, host.c_str(), a.bytes.data()) != 1) return {};
    a.prefix_length = address_bits(a.is_ipv6);
    if (slash == std::string_view::npos) return a;
    auto const length = topo::parse_number(text.substr(slash + 1), 0, address_bits(a.is_ipv6));
    if (!length) return {};
    a.prefix_length = *length;
    return a;
}

std::string IpAddress::host() const {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
    return text;
}

bool IpAddress::is_in(IpAddress const& network) const {
    if (is_ipv6 != network.is_ipv6) return false;
    auto const whole = static_cast<std::size_t>(network.prefix_length / 8);
    int const rest = network.prefix_length % 8;
    if (std::memcmp(bytes.data(), network.bytes.data(), whole) != 0) return false;
    return rest == 0 || (bytes[whole] ^ network.bytes[whole]) >> (8 - rest) == 0;
}

bool IpAddress::is_loopback() const { return is_in(is_ipv6 ? *from_text("::1") : *from_text("127.0.0.0/8")); }

bool IpAddress::is_link_local() const { return is_ipv6 && is_in(*from_text("fe80::/10")); }

std::vector<Interface> interfaces() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        fail(ErrorClass::other, "cannot list the network addresses of this host: ", std::strerror(errno));
    std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owned(list, freeifaddrs);
    std::vector<Interface> all;
    for (ifaddrs const* i = list; i; i = i->ifa_next) {
        std::uint8_t const *address = bytes_of(i->ifa_addr), *mask = bytes_of(i->ifa_netmask);
        if (!address || !(i->ifa_flags & IFF_UP)) continue;
        Interface one{.name = i->ifa_name,
                      .address = {},
                      .bridge = is_bridge(i->ifa_name),
                      .running = (i->ifa_flags & IFF_RUNNING) != 0};
        one.address.is_ipv6 = i->ifa_addr->sa_family == AF_INET6;
        std::size_t const n = one.address.is_ipv6 ? 16 : 4;
        std::memcpy(one.address.bytes.data(), address, n);
        one.address.prefix_length = mask ? leading_ones(mask, n) : address_bits(one.address.is_ipv6);
        if (!one.address.is_link_local()) all.push_back(one);
    }
    std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return sort_key(a) < sort_key(b); });
    return all;
}

std::vector<Interface> select_interfaces(std::vector<Interface> const& all, std::string_view network) {
    if (network.empty()) return all;
    std::vector<Interface> selected;
    auto const wanted = IpAddress::from_text(network);
    for (Interface const& i : all)
        if (wanted ? i.address.is_in(*wanted) : i.name == network) selected.push_back(i);
    return selected;
}

std::vector<std::string> host_addresses(std::string_view network) {
    std::vector<Interface> const all = interfaces(), selected = select_interfaces(all, network);
    std::vector<std::string> addresses;
    for (Interface const& i : selected)
        if (!network.empty() || !i.address.is_loopback()) addresses.push_back(i.address.text());
    if (network.empty() && addresses.empty())
        for (Interface const& i : selected) addresses.push_back(i.address.text());
    if (!addresses.empty()) return addresses;
    std::string available;
    for (Interface const& i : all) available += join(available.empty() ? "" : ", ", i.name, " ", i.address.text());
    fail(ErrorClass::other,
         network.empty() ? "this host has no network address"
                         : join("no interface or network of this host is ", network),
         "; it has ", available.empty() ? "no address at all" : available);
}

// Listening sockets.

namespace {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;
};

SocketAddress socket_address(IpAddress const& address, unsigned port) {
    SocketAddress a;
    if (address.is_ipv6) {
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

/// Binds to this port of the address and listens. Returns -1 with errno on failure.
int listen_at(IpAddress const& address, unsigned port) {
    int const s = socket(address.is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    int const yes = 1;
    SocketAddress const at = socket_address(address, port);
    // A port with connections in TIME_WAIT counts as free.
    bool const good = (port == 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0) &&
                      bind(s, reinterpret_cast<sockaddr const*>(&at.storage), at.length) == 0 &&
                      listen(s, SOMAXCONN) == 0;
    if (good) return s;
    int const error = errno;
    close(s);
    errno = error;
    return -1;
}

std::uint16_t port_of(int descriptor) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

bool is_absent(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }
bool is_port_in_use(int error) { return error == EADDRINUSE || error == EACCES; }

/// Listens on this port of every usable address; 0: on the port that the system assigns for the first one. Returns an
/// empty Listener with errno if listening fails on one of them (the port is taken), or if no address is usable.
Listener listen_on_port(std::vector<IpAddress> const& addresses, unsigned port) {
    Listener listener;
    int error = EADDRNOTAVAIL;
    for (IpAddress const& address : addresses) {
        int const s = listen_at(address, listener.descriptors.empty() ? port : listener.port);
        if (s < 0 && is_absent(errno)) continue;
        if (s < 0) {
            error = errno;
            for (int descriptor : listener.descriptors) close(descriptor);
            listener = {};
            break;
        }
        if (listener.descriptors.empty()) listener.port = port_of(s);
        listener.descriptors.push_back(s);
    }
    errno = error;
    return listener;
}

}   // namespace

Listener listen_on(std::vector<std::string> const& addresses, std::string_view ports) {
    std::optional<PortRange> const wanted = parse_port_range(ports);
    if (!wanted) fail(ErrorClass::other, "TUTTI_PORT_RANGE=", ports, " is not a range of ports such as 40000-40100");
    PortRange const range = *wanted;
    std::vector<IpAddress> parsed;
    for (std::string const& text : addresses)
        if (auto const address = IpAddress::from_text(text)) parsed.push_back(*address);
    constexpr int tries = 100;   // the system's port for one address may be taken on another
    int const ports_to_try = range.first == 0 ? tries : static_cast<int>(range.last - range.first) + 1;
    int error = 0;
    for (int i = 0; i < ports_to_try; ++i) {
        Listener listener = listen_on_port(parsed, range.first == 0 ? 0 : range.first + static_cast<unsigned>(i));
        if (!listener.descriptors.empty()) return listener;
        error = errno;
        if (!is_port_in_use(error)) break;
    }
    if (range.first != 0 && is_port_in_use(error))
        fail(ErrorClass::other, "no port of TUTTI_PORT_RANGE=", ports, " is free on this host for a rank to listen on");
    fail(ErrorClass::other, "cannot open a port on which the rank listens: ", std::strerror(error));
}

}   // namespace tutti
