// SPDX-License-Identifier: BSD-3-Clause
// Sorting addresses by how likely they lead to the other host.
#include "p2p/tcp/addresses.hpp"

#include <algorithm>

namespace tutti::p2p::tcp {
namespace {

enum Likelihood { neighbour, routed, in_bridge, own, loopback };

Likelihood judge(IpAddress const& theirs, std::vector<Interface> const& ours) {
    if (theirs.loopback()) return loopback;
    Likelihood best = routed;
    for (Interface const& i : ours) {
        if (i.address.host() == theirs.host()) return own;
        if (!theirs.in(i.address)) continue;
        if (i.bridge || !i.running) best = best == neighbour ? neighbour : in_bridge;
        else best = neighbour;
    }
    return best;
}

/// Does TUTTI_NETWORK allow it? The name of an interface stands for that interface's networks; where this host has no
/// such interface, or another network on it, the other host has made its choice already.
bool allowed(IpAddress const& theirs, std::vector<Interface> const& chosen, std::string_view network) {
    if (network.empty()) return true;
    if (auto const wanted = IpAddress::from_text(network)) return theirs.in(*wanted);
    return std::any_of(chosen.begin(), chosen.end(), [&](Interface const& i) { return theirs.in(i.address); });
}

}   // namespace

std::vector<IpAddress> order_of_calling(std::vector<std::string> const& theirs, std::vector<Interface> const& ours,
                                        std::string_view network) {
    std::vector<Interface> const chosen = chosen_interfaces(ours, network);
    std::vector<IpAddress> all, some;
    for (std::string const& text : theirs)
        if (auto const address = IpAddress::from_text(text)) all.push_back(*address);
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](IpAddress const& a) { return allowed(a, chosen, network); });
    if (some.empty() && !IpAddress::from_text(network)) some = all;
    std::stable_sort(some.begin(), some.end(),
                     [&](auto const& a, auto const& b) { return judge(a, ours) < judge(b, ours); });
    return some;
}

}   // namespace tutti::p2p::tcp
