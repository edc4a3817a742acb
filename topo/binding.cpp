// SPDX-License-Identifier: BSD-3-Clause
// Distributes ranks over the units of a machine and computes the processing units that each rank may use.
#include "topo/binding.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>

#include "topo/text.hpp"

namespace tutti::topo {

int id_of(const Pu& pu, Unit unit) {
    switch (unit) {
    case Unit::hwthread: return pu.os;
    case Unit::core: return pu.core;
    case Unit::l2: return pu.l2;
    case Unit::l3: return pu.l3;
    case Unit::numa: return pu.numa;
    case Unit::socket: return pu.socket;
    case Unit::slot:
    case Unit::node: break;
    }
    return 0;
}

namespace {

int count_of(const auto& list) { return static_cast<int>(list.size()); }

// The least hardware that a rank gets: a core with its hardware threads, or a single hardware thread. Indices into
// Machine::pus.
using Grain = std::vector<int>;
// The grains inside one unit of the mapping, in machine order.
using Grains = std::vector<Grain>;

std::string_view unit_name(Unit unit) {
    static constexpr std::string_view names[] = {"slot", "hwthread", "core", "l2", "l3", "numa", "socket", "node"};
    return names[static_cast<int>(unit)];
}

// Returns all units of a kind in order of first appearance, each as its processing units.
std::vector<std::vector<int>> units_of(const Machine& machine, Unit unit) {
    std::vector<std::vector<int>> units;
    std::vector<int> ids;
    for (int i = 0; i < count_of(machine.pus); ++i) {
        const int id = id_of(machine.pus[at(i)], unit);
        const auto found = std::find(ids.begin(), ids.end(), id);
        const auto index = static_cast<std::size_t>(found - ids.begin());
        if (found == ids.end()) {
            ids.push_back(id);
            units.emplace_back();
        }
        units[index].push_back(i);
    }
    return units;
}

bool binds_to(const BindTo& bind, Unit unit) { return bind.kind == BindTo::Kind::unit && bind.unit == unit; }

// Where a rank runs: its grains, and the number of ranks that were placed on them before (`turn`). Ranks that share
// grains start on different hardware threads.
struct CoreSlot {
    std::vector<Grain> grains;
    int turn = 0;

    int pu() const {
        const Grain& grain = grains[at(turn % count_of(grains))];
        return grain[at(turn / count_of(grains) % count_of(grain))];
    }
};

// Assigns slots to ranks and counts the slots that it has assigned in every unit.
class SlotAllocator {
public:
    SlotAllocator(const Machine& machine, const MapBy& map, Unit grain, int grains_each)
        : map_(map), grains_each_(grains_each) {
        for (const std::vector<int>& unit : units_of(machine, map.unit)) {
            Machine part;
            for (const int index : unit) part.pus.push_back(machine.pus[at(index)]);
            Grains grains;
            for (const std::vector<int>& local : units_of(part, grain)) {
                grains.emplace_back();
                for (const int index : local) grains.back().push_back(unit[at(index)]);
            }
            units_.push_back(std::move(grains));
        }
        next_.resize(units_.size());
        // MPICH's count: every count-th unit, then those in between.
        for (int offset = 0; offset < map.count; ++offset) {
            for (int unit = offset; unit < count_of(units_); unit += map.count) order_.push_back(unit);
        }
    }

    // Returns an empty string, or an error message that says why the mapping is impossible.
    std::string unmet_requirement(int ranks) const {
        for (const Grains& unit : units_) {
            if (grains_each_ <= count_of(unit)) continue;
            return "Each rank needs " + std::to_string(grains_each_) + " cores, but a " +
                   std::string(unit_name(map_.unit)) + " of this machine has only " + std::to_string(unit.size()) + ".";
        }
        const long capacity = static_cast<long>(map_.per_unit) * count_of(units_);
        if (map_.per_unit == 0 || ranks <= capacity) return {};
        return "--map-by ppr:" + std::to_string(map_.per_unit) + ":" + std::string(unit_name(map_.unit)) +
               " has room for " + std::to_string(capacity) + " ranks on this machine, but the job has " +
               std::to_string(ranks) + " ranks.";
    }

    CoreSlot allocate(int rank, int ranks) {
        const int unit = map_.per_unit > 0 ? rank / map_.per_unit : order_[at(rank % count_of(order_))];
        const Grains& grains = units_[at(unit)];
        const int slots = count_of(grains) / grains_each_;
        int slot = next_[at(unit)]++;
        int turn = slot / slots;
        slot %= slots;
        // More ranks than slots in the only unit: neighbouring ranks share a slot, because they communicate most.
        if (count_of(units_) == 1 && ranks > slots) {
            const auto spread = [&](long r) { return static_cast<int>(r * slots / ranks); };
            slot = spread(rank);
            for (turn = 0; rank - turn > 0 && spread(rank - turn - 1) == slot;) ++turn;
        }
        if (turn > 0) shared_ = true;
        const auto first = grains.begin() + slot * grains_each_;
        return {.grains = {first, first + grains_each_}, .turn = turn};
    }

    bool shared() const { return shared_; }

private:
    MapBy map_;
    int grains_each_;
    std::vector<Grains> units_;
    std::vector<int> next_;
    std::vector<int> order_;
    bool shared_ = false;
};

// Returns the processing units (indices) that a rank in `slot` may use when bound to `bind.count` units of a kind.
std::vector<int> set_for(const Machine& machine, const BindTo& bind, Unit grain, const CoreSlot& slot) {
    std::vector<int> set;
    if (bind.unit == grain) {
        for (const Grain& grain : slot.grains) set.insert(set.end(), grain.begin(), grain.end());
        return set;
    }
    const std::vector<std::vector<int>> units = units_of(machine, bind.unit);
    const int pu = slot.pu();
    int own_index = 0;
    while (std::find(units[at(own_index)].begin(), units[at(own_index)].end(), pu) == units[at(own_index)].end())
        ++own_index;
    for (int i = 0; i < std::min(bind.count, count_of(units)); ++i) {
        const std::vector<int>& unit = units[at((own_index + i) % count_of(units))];
        set.insert(set.end(), unit.begin(), unit.end());
    }
    return set;
}

// Returns true if there is a rank for every core, or for every hardware thread, of several NUMA nodes.
bool fills_numa_nodes(const Machine& machine, int ranks, int usable) {
    const bool all = ranks == machine.core_count() || ranks == count_of(machine.pus);
    return all && ranks <= usable && machine.count(Level::numa) > 1 && !machine.simulated;
}

// Resolves `automatic`; see plan_ranks in binding.hpp.
BindTo resolve_binding(const Machine& machine, int ranks, const MapBy& map, BindTo bind, int usable,
                       bool exclusive_cores) {
    if (bind.kind != BindTo::Kind::automatic) return bind;
    const int cores_each = std::max(1, map.cores);
    const long needed_cores = static_cast<long>(ranks) * cores_each;
    const bool fits = needed_cores <= std::min(machine.core_count(), usable);
    const bool cores_requested = map.cores > 0;
    const bool to_cores = cores_requested || (exclusive_cores && fits);
    bind.kind = to_cores || fills_numa_nodes(machine, ranks, usable) ? BindTo::Kind::unit : BindTo::Kind::none;
    bind.unit = to_cores ? Unit::core : Unit::numa;
    return bind;
}

Unit grain_of(const MapBy& map, const BindTo& bind) {
    return map.unit == Unit::hwthread || binds_to(bind, Unit::hwthread) ? Unit::hwthread : Unit::core;
}

int grains_each(const MapBy& map, const BindTo& bind) {
    if (map.cores > 0) return map.cores;
    return binds_to(bind, grain_of(map, bind)) ? bind.count : 1;
}

// Without --map-by, ranks are distributed over the units that --bind-to names, as under MPICH; otherwise neighbours
// stay adjacent. A mapping by the grain with several grains per rank is a mapping by slots.
MapBy resolve_mapping(MapBy map, const BindTo& bind, bool by_name) {
    const bool wide = bind.unit != Unit::core && bind.unit != Unit::hwthread;
    if (!map.is_given && by_name && bind.kind == BindTo::Kind::unit && wide) {
        map.unit = bind.unit;
        map.count = bind.count;
    }
    if (map.unit == grain_of(map, bind) && map.per_unit == 0 && grains_each(map, bind) > 1) {
        map.unit = Unit::slot;
        map.count = 1;
    }
    return map;
}

std::vector<int> os_numbers(const Machine& machine, std::vector<int> indices) {
    for (int& index : indices) index = machine.pus[at(index)].os;
    std::sort(indices.begin(), indices.end());
    return indices;
}

// Returns true if no rank may leave the last-level cache on which it is placed. Only then is the placement fixed, so
// that caches may become levels of the hierarchy.
bool within_last_level(const Machine& machine, const std::vector<std::vector<int>>& sets) {
    return std::all_of(sets.begin(), sets.end(), [&](const std::vector<int>& set) {
        const auto elsewhere = [&](int index) { return machine.pus[at(index)].l3 != machine.pus[at(set[0])].l3; };
        return !set.empty() && std::none_of(set.begin(), set.end(), elsewhere);
    });
}

Result<Plan> plan_user_sets(const Machine& machine, int ranks, const BindTo& bind) {
    Plan plan;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int>& set = bind.user[at(rank % count_of(bind.user))];
        for (const int os : set) {
            const bool known = std::any_of(machine.pus.begin(), machine.pus.end(), [os](Pu pu) { return pu.os == os; });
            if (known) continue;
            return Result<Plan>::failure("--bind-to user: processing unit " + std::to_string(os) +
                                         " is not among those usable here.");
        }
        const auto home = std::find_if(machine.pus.begin(), machine.pus.end(), [&](Pu pu) { return pu.os == set[0]; });
        plan.placement.pu.push_back(static_cast<int>(home - machine.pus.begin()));
        plan.cpus.push_back(machine.simulated ? std::vector<int>{} : set);
    }
    plan.placement.fixed = true;
    return plan;
}

}   // namespace

Result<Plan> plan_ranks(const Machine& machine, int ranks, const MapBy& requested_map, const BindTo& requested_bind,
                        int usable, bool exclusive_cores) {
    if (requested_bind.kind == BindTo::Kind::user) return plan_user_sets(machine, ranks, requested_bind);
    const BindTo bind = resolve_binding(machine, ranks, requested_map, requested_bind, usable, exclusive_cores);
    const MapBy map = resolve_mapping(requested_map, bind, requested_bind.kind == BindTo::Kind::unit);
    Plan plan;
    plan.cpus.resize(at(ranks));
    const bool plain_map = map.unit == Unit::slot && map.per_unit == 0 && map.count == 1 && map.cores == 0;
    if (bind.kind == BindTo::Kind::none && plain_map) {
        plan.placement = place_in_order(machine, ranks);
        return plan;
    }

    const Unit grain = grain_of(map, bind);
    SlotAllocator allocator(machine, map, grain, grains_each(map, bind));
    if (const std::string reason = allocator.unmet_requirement(ranks); !reason.empty())
        return Result<Plan>::failure(reason);
    std::vector<std::vector<int>> sets;
    for (int rank = 0; rank < ranks; ++rank) {
        const CoreSlot slot = allocator.allocate(rank, ranks);
        plan.placement.pu.push_back(slot.pu());
        if (bind.kind != BindTo::Kind::unit) continue;
        sets.push_back(set_for(machine, bind, grain, slot));
        if (!machine.simulated) plan.cpus[at(rank)] = os_numbers(machine, sets.back());
    }
    const bool bound = bind.kind == BindTo::Kind::unit;
    plan.placement.fixed = machine.simulated || (bound && within_last_level(machine, sets));
    if (bound && allocator.shared() && bind.unit == grain && !machine.simulated) {
        const std::string unit(unit_name(bind.unit));
        plan.note = "Some ranks share a " + unit + ", because more ranks are bound than there are " + unit +
                    "s. Use --bind-to none to let the kernel balance them.";
    }
    return plan;
}

std::string apply_binding(std::span<const int> numbers) {
    if (numbers.empty()) return {};
    const int most = *std::max_element(numbers.begin(), numbers.end()) + 1;
    cpu_set_t* set = CPU_ALLOC(at(most));
    const std::size_t bytes = CPU_ALLOC_SIZE(at(most));
    CPU_ZERO_S(bytes, set);
    for (const int number : numbers) CPU_SET_S(at(number), bytes, set);
    const int failed = sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
    CPU_FREE(set);
    if (failed == 0) return {};
    return "Binding to processing units " + ranges(numbers) + " failed: " + std::strerror(failed) + ".";
}

std::string ranges(std::span<const int> numbers) {
    std::string text;
    for (std::size_t begin = 0; begin < numbers.size();) {
        std::size_t end = begin + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
        if (end - begin > 1) text += "-" + std::to_string(numbers[end - 1]);
        begin = end;
    }
    return text;
}

// Names of hardware, and the units that a set of processing units has in common.

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
