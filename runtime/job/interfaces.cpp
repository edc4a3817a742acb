// SPDX-License-Identifier: BSD-3-Clause
// Asking the system for its interfaces.
#include "runtime/job/interfaces.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

namespace tutti {
namespace {

int bits(bool six) { return six ? 128 : 32; }

int leading_ones(std::uint8_t const* mask, std::size_t n) {
    int count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (int bit = 7; bit >= 0; --bit, ++count)
            if (!(mask[i] >> bit & 1)) return count;
    }
    return count;
}

/// The bytes of a socket address of either family; null for any other.
std::uint8_t const* bytes_of(sockaddr const* a) {
    if (!a) return nullptr;
    if (a->sa_family == AF_INET)
        return reinterpret_cast<std::uint8_t const*>(&reinterpret_cast<sockaddr_in const*>(a)->sin_addr);
    if (a->sa_family == AF_INET6)
        return reinterpret_cast<std::uint8_t const*>(&reinterpret_cast<sockaddr_in6 const*>(a)->sin6_addr);
    return nullptr;
}

bool is_bridge(std::string const& name) { return access(("/sys/class/net/" + name + "/bridge").c_str(), F_OK) == 0; }

/// What is tried first by other hosts is the smallest.
int unlikeliness(Interface const& i) { return i.address.loopback() ? 4 : (i.bridge ? 1 : 0) + (i.running ? 0 : 2); }

}   // namespace

std::optional<IpAddress> IpAddress::from_text(std::string_view text) {
    std::size_t const slash = text.find('/');
    std::string const host(text.substr(0, slash));
    IpAddress a;
    a.six = host.find(':') != std::string::npos;
    if (inet_pton(a.six ? AF_INET6 : AF_INET, host.c_str(), a.bytes.data()) != 1) return {};
    a.length = bits(a.six);
    if (slash == std::string_view::npos) return a;
    std::string_view const digits = text.substr(slash + 1);
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), a.length);
    bool const good = error == std::errc{} && end == digits.data() + digits.size();
    if (!good || a.length < 0 || a.length > bits(a.six)) return {};
    return a;
}

std::string IpAddress::host() const {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(six ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
    return text;
}

bool IpAddress::in(IpAddress const& network) const {
    if (six != network.six) return false;
    auto const whole = static_cast<std::size_t>(network.length / 8);
    int const rest = network.length % 8;
    if (std::memcmp(bytes.data(), network.bytes.data(), whole) != 0) return false;
    return rest == 0 || (bytes[whole] ^ network.bytes[whole]) >> (8 - rest) == 0;
}

bool IpAddress::loopback() const { return in(six ? *from_text("::1") : *from_text("127.0.0.0/8")); }

bool IpAddress::link_local() const { return six && in(*from_text("fe80::/10")); }

std::vector<Interface> interfaces() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        fail(ErrorClass::other, "the addresses of this host cannot be listed: ", std::strerror(errno));
    std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owned(list, freeifaddrs);
    std::vector<Interface> all;
    for (ifaddrs const* i = list; i; i = i->ifa_next) {
        std::uint8_t const *address = bytes_of(i->ifa_addr), *mask = bytes_of(i->ifa_netmask);
        if (!address || !(i->ifa_flags & IFF_UP)) continue;
        Interface one{.name = i->ifa_name,
                      .address = {},
                      .bridge = is_bridge(i->ifa_name),
                      .running = (i->ifa_flags & IFF_RUNNING) != 0};
        one.address.six = i->ifa_addr->sa_family == AF_INET6;
        std::size_t const n = one.address.six ? 16 : 4;
        std::memcpy(one.address.bytes.data(), address, n);
        one.address.length = mask ? leading_ones(mask, n) : bits(one.address.six);
        if (!one.address.link_local()) all.push_back(one);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](auto const& a, auto const& b) { return unlikeliness(a) < unlikeliness(b); });
    return all;
}

std::vector<Interface> chosen_interfaces(std::vector<Interface> const& all, std::string_view network) {
    if (network.empty()) return all;
    std::vector<Interface> some;
    auto const wanted = IpAddress::from_text(network);
    for (Interface const& i : all)
        if (wanted ? i.address.in(*wanted) : i.name == network) some.push_back(i);
    return some;
}

std::vector<std::string> own_addresses(std::string_view network) {
    std::vector<Interface> const all = interfaces(), some = chosen_interfaces(all, network);
    std::vector<std::string> addresses;
    for (Interface const& i : some)
        if (!network.empty() || !i.address.loopback()) addresses.push_back(i.address.text());
    if (network.empty() && addresses.empty())
        for (Interface const& i : some) addresses.push_back(i.address.text());
    if (!addresses.empty()) return addresses;
    std::string there;
    for (Interface const& i : all) there += join(there.empty() ? "" : ", ", i.name, " ", i.address.text());
    fail(ErrorClass::other,
         network.empty() ? "this host has no network address"
                         : join("no interface or network of this host is ", network),
         "; it has ", there.empty() ? "no address at all" : there);
}

}   // namespace tutti
