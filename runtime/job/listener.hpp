// SPDX-License-Identifier: BSD-3-Clause
// The sockets on which a rank of a job on several nodes is called by others, one for each address that others are told
// of, so that nobody on another network finds an open port. Made before the rank starts, by whoever starts it, so that
// its port is known to everybody from the first moment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Listener {
    std::vector<int> descriptors;   ///< the caller closes them; closed by exec until the caller says otherwise
    std::uint16_t port = 0;         ///< the same on all addresses
};

/// Listens on these addresses of this host (as own_addresses tells them), without blocking, on one port. An address
/// that cannot be used yet or any more is passed over as long as there is another. `ports` (TUTTI_PORT_RANGE):
/// "40000-40100" or one port, of which the first one that is free on all of them is taken; empty: any that the system
/// gives. Throws Error with a sentence when there is none or the text is not a range.
Listener listen_on(std::vector<std::string> const& addresses, std::string_view ports = {});

}   // namespace tutti
