// SPDX-License-Identifier: BSD-3-Clause
// The socket on which a rank of a job on several nodes is called by others. Made before the rank starts, by whoever
// starts it, so that its port is known to everybody from the first moment.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

struct Listener {
    int descriptor = -1;      ///< the caller closes it; closed by exec until the caller says otherwise
    std::uint16_t port = 0;
};

/// Listens on all addresses of this host, IPv6 and IPv4 (only IPv4 where the system has nothing else), without
/// blocking. `ports` (TUTTI_PORT_RANGE): "40000-40100" or one port, of which the first free one is taken; empty: any
/// that the system gives. Throws Error with a sentence when none is free or the text is not a range.
Listener listen_anywhere(std::string_view ports = {});

}  // namespace tutti
