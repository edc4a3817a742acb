// SPDX-License-Identifier: BSD-3-Clause
// Under which of its addresses another host is called first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/interfaces.hpp"

namespace tutti::p2p::tcp {

/// The other host's addresses in the order in which to try them, by what this host's interfaces say about reaching
/// them: in a network of ours first, then what is routed, then what belongs to a bridge of this host (of containers,
/// say: every host may have one with the same addresses), then what is an address of this host itself, loopback last.
/// `network` (TUTTI_NETWORK) leaves only what it names. Texts that are no addresses are passed over.
std::vector<IpAddress> order_of_calling(std::vector<std::string> const& theirs, std::vector<Interface> const& ours,
                                        std::string_view network);

}   // namespace tutti::p2p::tcp
