// SPDX-License-Identifier: BSD-3-Clause
// Splits by a shared resource: all processes exchange what they request and where they run. Each then determines its
// companions; the index of the first of them is the color.
#include "coll/comm/split_type.hpp"

#include <algorithm>
#include <vector>

#include "coll/call/internal.hpp"
#include "coll/comm/derive.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

using Scope = SharedResource::Scope;

/// What a process contributes; plain bytes.
struct Participant {
    SharedResource requested;
    int node;
    topo::Restriction units;
};
using Participants = std::vector<Participant>;

std::size_t index_of(topo::Unit unit) {
    return static_cast<std::size_t>(std::ranges::find(topo::hardware, unit) - topo::hardware.begin());
}

Participant own_request(Comm const& parent, SharedResource const& requested) {
    Participant mine{requested, parent.process.cluster.this_node(), {}};
    if (requested.scope == Scope::unit || requested.scope == Scope::any_unit)
        mine.units = hw_restriction(parent.process);
    return mine;
}

/// True if both are restricted to the same piece of the hardware with index `kind`.
bool share_unit(Participant const& a, Participant const& b, std::size_t kind) {
    return a.requested.scope == b.requested.scope && a.node == b.node && a.units[kind] >= 0 &&
           a.units[kind] == b.units[kind];
}

/// Returns the first process on each piece of the hardware with index `kind`, among the processes that request
/// any_unit.
std::vector<std::size_t> first_of_each_unit(Participants const& all, std::size_t kind) {
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].requested.scope != Scope::any_unit || all[i].units[kind] < 0) continue;
        auto const same = [&](std::size_t first) { return share_unit(all[first], all[i], kind); };
        if (std::ranges::none_of(firsts, same)) firsts.push_back(i);
    }
    return firsts;
}

/// Returns the kind of hardware by which most of the processes that request any_unit get a communicator and, among
/// these kinds, which makes the fewest communicators; of equal kinds, the widest. Kinds that put all processes of the
/// parent into one communicator do not qualify.
std::optional<std::size_t> best_splitting_unit(Participants const& all) {
    std::optional<std::size_t> best;
    std::ptrdiff_t most = 0, fewest = 0;
    for (std::size_t kind = 0; kind < topo::hardware.size(); ++kind) {
        auto const placed = std::ranges::count_if(
            all, [&](Participant const& a) { return a.requested.scope == Scope::any_unit && a.units[kind] >= 0; });
        auto const groups = std::ssize(first_of_each_unit(all, kind));
        bool const splits = groups > 1 || (groups == 1 && placed < std::ssize(all));
        if (!splits || placed < most || (placed == most && groups >= fewest)) continue;
        best = kind;
        most = placed;
        fewest = groups;
    }
    return best;
}

/// True if `a` and `b` form a communicator. `kind`: index of the hardware, where they request hardware.
bool form_communicator(Participant const& a, Participant const& b, std::size_t kind) {
    if (a.requested.scope != b.requested.scope) return false;
    switch (a.requested.scope) {
    case Scope::node: return a.node == b.node;
    case Scope::world: return true;
    case Scope::unit: return a.requested.unit == b.requested.unit && share_unit(a, b, kind);
    case Scope::any_unit: return share_unit(a, b, kind);
    case Scope::nothing:
    case Scope::self: break;
    }
    return &a == &b && a.requested.scope == Scope::self;
}

}   // namespace

SplitByType split_by_type(Comm& parent, SharedResource const& requested, int key) {
    Participant const mine = own_request(parent, requested);
    Participants all(static_cast<std::size_t>(parent.union_group->size()));
    allgather_bytes(parent, &mine, sizeof mine, all.data());
    std::optional<std::size_t> kind;
    if (requested.scope == Scope::unit) kind = index_of(requested.unit);
    if (requested.scope == Scope::any_unit) kind = best_splitting_unit(all);
    std::optional<int> color;
    if (kind || requested.scope != Scope::any_unit) {
        Participant const& me = all[static_cast<std::size_t>(parent.union_group->rank())];
        auto const is_own_group = [&](Participant const& a) { return form_communicator(a, me, kind.value_or(0)); };
        auto const first = std::ranges::find_if(all, is_own_group);
        if (first != all.end()) color = static_cast<int>(first - all.begin());
    }
    SplitByType result{split(parent, color, key), std::nullopt};
    if (result.comm && kind) result.unit = topo::hardware[*kind];
    return result;
}

}   // namespace tutti::coll
