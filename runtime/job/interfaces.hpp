// SPDX-License-Identifier: BSD-3-Clause
// The name and the addresses of this host, numeric addresses as text, and the listening sockets of a rank. No name is
// ever resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Returns the name that the system gives this host (gethostname), or "localhost" if it gives none.
std::string host_name();

/// An IPv4 or IPv6 address with the prefix length of its network: "10.0.0.1/24", "fd00:0:0::1/64".
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};   ///< IPv4: the first four
    bool is_ipv6 = false;
    int prefix_length = 0;

    /// Without a length the prefix is the whole address. Returns nothing for any other text.
    static std::optional<IpAddress> from_text(std::string_view text);
    std::string text() const { return host() + '/' + std::to_string(prefix_length); }
    std::string host() const;   ///< without the length

    /// Returns true if the address belongs to `network`, that is, matches its prefix.
    bool is_in(IpAddress const& network) const;
    bool is_loopback() const;
    bool is_link_local() const;   ///< IPv6 address that is only reachable with the name of an interface
    bool operator==(IpAddress const&) const = default;
};

/// One address of one network interface that is up.
struct Interface {
    std::string name;
    IpAddress address;
    bool bridge = false;   ///< created by the system, for example for containers
    bool running = true;   ///< false: no link
};

/// Returns the interfaces of this host, the most likely usable ones first: running ones before others, bridges later,
/// loopback last. Link-local IPv6 addresses are omitted. Throws Error
/// if the system cannot list them.
std::vector<Interface> interfaces();

/// Returns the interfaces selected by `network` (TUTTI_NETWORK): an interface name or a network such as "10.0.0.0/8";
/// all if it is empty.
std::vector<Interface> select_interfaces(std::vector<Interface> const& all, std::string_view network);

/// Returns the addresses under which other hosts may reach this one, as text, in the order of interfaces(); loopback
/// addresses only if there are no others or they are selected. Throws Error if `network` selects none.
std::vector<std::string> host_addresses(std::string_view network = {});

// The sockets on which a rank of a job on several nodes accepts connections, one per address that is announced to the
// others, so that no other network sees an open port. Created before the rank starts, by the process that starts it,
// so that all ranks know its port from the start.

struct Listener {
    std::vector<int> descriptors;   ///< the caller closes them; they have close-on-exec set unless the caller clears it
    std::uint16_t port = 0;         ///< the same on all addresses
};

/// Listens on these addresses of this host (as returned by host_addresses), non-blocking, on one port. Skips addresses
/// that are not usable (yet, or any more) as long as another one is. `ports` (TUTTI_PORT_RANGE): "40000-40100" or one
/// port; uses the first one that is free on all addresses; empty: any port that the system assigns. Throws Error if
/// there is none or the text is not a range.
Listener listen_on(std::vector<std::string> const& addresses, std::string_view ports = {});

}   // namespace tutti
