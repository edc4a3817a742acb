// SPDX-License-Identifier: BSD-3-Clause
// Names of hardware, and the units that a set of processing units has in common.
#include "topo/hw_resource.hpp"

#include <algorithm>

#include "topo/text.hpp"

namespace tutti::topo {

namespace {

constexpr std::string_view scheme = "hwloc://";

}   // namespace

std::string_view hwloc_name(Unit unit) {
    switch (unit) {
    case Unit::hwthread: return "hwloc://PU";
    case Unit::core: return "hwloc://Core";
    case Unit::l2: return "hwloc://L2Cache";
    case Unit::l3: return "hwloc://L3Cache";
    case Unit::numa: return "hwloc://NUMANode";
    case Unit::socket: return "hwloc://Package";
    case Unit::slot:
    case Unit::node: break;
    }
    return "hwloc://Machine";
}

std::optional<Unit> hardware_named(std::string_view name) {
    std::string word = lower(trimmed(name));
    if (word.starts_with(scheme)) word.erase(0, scheme.size());
    if (word == "numanode") return Unit::numa;
    const std::optional<Unit> unit = unit_named(word);
    return unit == Unit::slot ? std::nullopt : unit;
}

Restriction restriction(const Machine& machine, std::span<const Pu> pus) {
    const std::span<const Pu> usable = pus.empty() ? std::span<const Pu>(machine.pus) : pus;
    Restriction held;
    for (std::size_t i = 0; i < hardware.size(); ++i) {
        const int first = usable.empty() ? -1 : id_of(usable.front(), hardware[i]);
        const bool one = std::ranges::all_of(usable, [&](const Pu& pu) { return id_of(pu, hardware[i]) == first; });
        held[i] = hardware[i] == Unit::node ? 0 : one ? first : -1;
    }
    return held;
}

}   // namespace tutti::topo
