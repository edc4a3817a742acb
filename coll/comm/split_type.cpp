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

using What = Shared::What;

/// What a process contributes; plain bytes.
struct Asker {
    Shared wanted;
    int node;
    topo::Restriction held;
};
using Askers = std::vector<Asker>;

std::size_t index_of(topo::Unit unit) {
    return static_cast<std::size_t>(std::ranges::find(topo::hardware, unit) - topo::hardware.begin());
}

Asker myself(Comm const& parent, Shared const& wanted) {
    Asker mine{wanted, parent.process.cluster.here(), {}};
    if (wanted.what == What::unit || wanted.what == What::some_unit) mine.held = restriction(parent.process);
    return mine;
}

/// True if both are restricted to the same piece of the hardware with index `kind`.
bool together(Asker const& a, Asker const& b, std::size_t kind) {
    return a.wanted.what == b.wanted.what && a.node == b.node && a.held[kind] >= 0 && a.held[kind] == b.held[kind];
}

/// Returns the first process on each piece of the hardware with index `kind`, among the processes that request
/// some_unit.
std::vector<std::size_t> pieces(Askers const& all, std::size_t kind) {
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].wanted.what != What::some_unit || all[i].held[kind] < 0) continue;
        auto const same = [&](std::size_t first) { return together(all[first], all[i], kind); };
        if (std::ranges::none_of(firsts, same)) firsts.push_back(i);
    }
    return firsts;
}

/// Returns the kind of hardware by which most of the processes that request some_unit get a communicator and, among
/// these kinds, which makes the fewest communicators; of equal kinds, the widest. Kinds that put all processes of the
/// parent into one communicator do not qualify.
std::optional<std::size_t> widest_that_splits(Askers const& all) {
    std::optional<std::size_t> best;
    std::ptrdiff_t most = 0, fewest = 0;
    for (std::size_t kind = 0; kind < topo::hardware.size(); ++kind) {
        auto const placed = std::ranges::count_if(
            all, [&](Asker const& a) { return a.wanted.what == What::some_unit && a.held[kind] >= 0; });
        auto const groups = std::ssize(pieces(all, kind));
        bool const splits = groups > 1 || (groups == 1 && placed < std::ssize(all));
        if (!splits || placed < most || (placed == most && groups >= fewest)) continue;
        best = kind;
        most = placed;
        fewest = groups;
    }
    return best;
}

/// True if `a` and `b` form a communicator. `kind`: index of the hardware, where they request hardware.
bool companions(Asker const& a, Asker const& b, std::size_t kind) {
    if (a.wanted.what != b.wanted.what) return false;
    switch (a.wanted.what) {
    case What::node: return a.node == b.node;
    case What::world: return true;
    case What::unit: return a.wanted.unit == b.wanted.unit && together(a, b, kind);
    case What::some_unit: return together(a, b, kind);
    case What::nothing:
    case What::itself: break;
    }
    return &a == &b && a.wanted.what == What::itself;
}

}   // namespace

SplitByType split_by_type(Comm& parent, Shared const& wanted, int key) {
    Asker const mine = myself(parent, wanted);
    Askers all(static_cast<std::size_t>(parent.union_group->size()));
    allgather_bytes(parent, &mine, sizeof mine, all.data());
    std::optional<std::size_t> kind;
    if (wanted.what == What::unit) kind = index_of(wanted.unit);
    if (wanted.what == What::some_unit) kind = widest_that_splits(all);
    std::optional<int> color;
    if (kind || wanted.what != What::some_unit) {
        Asker const& me = all[static_cast<std::size_t>(parent.union_group->rank())];
        auto const mine_too = [&](Asker const& a) { return companions(a, me, kind.value_or(0)); };
        auto const first = std::ranges::find_if(all, mine_too);
        if (first != all.end()) color = static_cast<int>(first - all.begin());
    }
    SplitByType result{split(parent, color, key), std::nullopt};
    if (result.comm && kind) result.unit = topo::hardware[*kind];
    return result;
}

}   // namespace tutti::coll
