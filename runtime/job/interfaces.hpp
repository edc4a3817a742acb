// SPDX-License-Identifier: BSD-3-Clause
// The addresses of this host, and numeric addresses as text. No name is ever resolved here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// An IPv4 or IPv6 address and how many of its leading bits name its network: "10.0.0.1/24", "fd00::1/64".
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};   ///< IPv4: the first four
    bool six = false;                       ///< IPv6
    int length = 0;

    /// Without a length the address is a network by itself. Nothing for any other text.
    static std::optional<IpAddress> from_text(std::string_view text);
    std::string text() const { return host() + '/' + std::to_string(length); }
    std::string host() const;   ///< without the length

    /// Does `network`, as far as its length goes, begin as this address does?
    bool in(IpAddress const& network) const;
    bool loopback() const;
    bool link_local() const;   ///< IPv6 that needs the name of an interface to be reached
    bool operator==(IpAddress const&) const = default;
};

/// One address of one network interface that is up.
struct Interface {
    std::string name;
    IpAddress address;
    bool bridge = false;   ///< of the system's own making, such as those of containers
    bool running = true;   ///< false: nothing is plugged in
};

/// Those of this host, the likely ones first: running ones before others, bridges behind, then loopback. Link-local
/// IPv6 addresses are left out.
std::vector<Interface> interfaces();

/// Those that `network` (TUTTI_NETWORK) names: by interface, or by network as "10.0.0.0/8"; all for an empty text.
std::vector<Interface> chosen_interfaces(std::vector<Interface> const& all, std::string_view network);

/// The addresses under which other hosts may reach this one, as text, in the order of interfaces(); those of loopback
/// only when there is nothing else or they are asked for. Throws Error when `network` leaves none.
std::vector<std::string> own_addresses(std::string_view network = {});

}   // namespace tutti
