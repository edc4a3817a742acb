// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators: contexts, shared memory, group layouts and settings.
#include "coll/comm/create.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coll/call/internal.hpp"
#include "coll/choice/choose.hpp"
#include "coll/choice/decision.hpp"
#include "coll/comm/derive.hpp"
#include "runtime/base/error.hpp"
#include "runtime/process.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
namespace {

constexpr std::uint64_t world_context = 1;
constexpr std::string_view wait_key = "tutti_wait";

Ref<Group> members_of_node(Group const& all, NodePartition const& map, int me) {
    std::vector<int> here;
    for (int r : map.members()) here.push_back(all.world_rank(r));
    return Ref<Group>::adopt(new Group(std::move(here), me));
}

/// Computes the layout of a group whose members are all on this node.
std::shared_ptr<GroupLayout> make_node_layout(Process& process, Ref<Group> const& all) {
    ProcessState& node = state_of(process);
    std::vector<int> const local_ranks = local_ranks_of(process, *all);
    return std::make_shared<GroupLayout>(all,
                                         topo::make_hierarchy(node.machine, node.placement, local_ranks, node.levels),
                                         topo::localities(node.machine, node.placement, local_ranks, all->rank()));
}

/// Computes the layout of a group over several nodes, including that of its members on this node.
std::shared_ptr<GroupLayout> make_multi_node_layout(Process& process, Ref<Group> const& all) {
    NodePartition map(*all, process.cluster);
    Ref<Group> const node = members_of_node(*all, map, process.rank());
    auto const on_node = state_of(process).layouts.find(*node, [&] { return make_node_layout(process, node); });
    topo::Grouping by_node{"node", {}};
    for (int r = 0; r < all->size(); ++r) by_node.group.push_back(map.part_of(r));
    std::vector<topo::Locality> localities(static_cast<std::size_t>(all->size()), topo::Locality::network);
    for (int r : map.members())
        localities[static_cast<std::size_t>(r)] = on_node->localities[static_cast<std::size_t>(map.index_of(r))];
    auto layout = std::make_shared<GroupLayout>(
        all, topo::Hierarchy::build(all->size(), std::span(&by_node, 1), "cluster"), std::move(localities));
    layout->trees.nodes = map;   // with one rank on each node, the hierarchy has no level of nodes
    Trees masters(topo::Hierarchy::build(map.count(), {}));
    layout->nodes.emplace(std::move(map), std::move(masters), on_node->group);
    return layout;
}

/// Gives a communicator on one node, which has only its members so far, everything else.
void attach_node(Comm& comm, std::uint64_t context, std::byte* area) {
    Process& process = comm.process;
    Ref<Group> const all = comm.union_group;
    auto layout = state_of(process).layouts.find(*all, [&] { return make_node_layout(process, all); });
    auto state = std::make_unique<CommState>(process, Area(area, *layout->group, process), layout, all->rank());
    comm.share_group(layout->group);
    comm.context = context;
    comm.collectives = std::move(state);
}

/// Gives a communicator over several nodes everything else. `area` belongs to the members on this node.
void attach_multi_node(Comm& comm, std::uint64_t context, std::byte* area) {
    Process& process = comm.process;
    Ref<Group> const all = comm.union_group;
    auto layout = state_of(process).layouts.find(*all, [&] { return make_multi_node_layout(process, all); });
    auto node = Ref<Comm>::adopt(new Comm(process, layout->nodes->this_node, 0));
    attach_node(*node, context, area);
    state_of(*node).has_user_calls = false;
    node->reported_as = &comm;
    auto multi_node = std::make_unique<MultiNode>(std::move(node), *layout->nodes);
    comm.share_group(layout->group);
    comm.context = context;
    comm.collectives =
        std::make_unique<CommState>(process, Area(nullptr, all->size()), layout, all->rank(), std::move(multi_node));
}

/// Reads the settings from the variables and from the tuning file that mpiexec found: its name, a line break, its text.
Settings read_job_settings(Process const& process, std::vector<std::string>& diagnostics) {
    std::string_view const tuning = process.segment.tuning();
    std::size_t const end = std::min(tuning.find('\n'), tuning.size());
    return read_settings(process.variables, tuning.substr(0, end), tuning.substr(std::min(end + 1, tuning.size())),
                         diagnostics);
}

void read_placement(Process& process, ProcessState& node) {
    node.machine = process.node.machine;
    node.placement = process.node.placement;
    if (node.placement.pu.size() != process.segment.ranks()) {   // no launcher: ranks in order on anonymous cores
        std::vector<int> numbers(std::max(1u, process.segment.header().usable_cores));
        std::iota(numbers.begin(), numbers.end(), 0);
        node.machine = topo::Machine::plain(numbers);
        node.placement = topo::place_in_order(node.machine, static_cast<int>(process.segment.ranks()));
    }
    if (process.variables.deterministic) node.levels = {false, {}};   // flat: operands are combined in rank order
    else node.levels = *topo::parse_hierarchy(process.variables.hierarchy);
}

/// Records the communicator in this rank's trace, if there is one.
void trace(Comm const& comm) {
    if (Tracer* const tracer = comm.process.tracer.get())
        tracer->communicator(comm.context, comm.rank(), comm.union_group->world_ranks(), comm.name);
}

}   // namespace

bool on_one_node(Process const& process, Group const& group) {
    return std::ranges::all_of(group.world_ranks(), [&](int world) { return process.cluster.is_local(world); });
}

ContextAllocation allocate_context(Process& process, Group const& members) {
    NodePartition const map(members, process.cluster);
    auto const here = map.members();
    if (here.front() != members.rank()) return {};
    int const count = static_cast<int>(here.size());
    ContextAllocation part{};
    try {
        part.area = process.heap.allocate(Area::bytes(count));
    } catch (Error const&) {
        part.failed = members.size();
        return part;
    }
    part.owner = process.rank();
    Area(process.segment.at(part.area), *members_of_node(members, map, process.rank()), process).place_pages();
    if (members.rank() == 0) part.context = process.new_context_id();
    return part;
}

void check_allocations(Process& process, std::span<ContextAllocation const> parts) {
    auto const failure = std::ranges::find_if(parts, [](ContextAllocation const& part) { return part.failed > 0; });
    if (failure == parts.end()) return;
    for (ContextAllocation const& part : parts)
        if (part.area != 0 && part.owner == process.rank()) process.heap.release(part.area);
    fail(ErrorClass::no_mem, "no shared memory is left for a communicator of ", failure->failed, " ranks");
}

Ref<Comm> make_comm(Process& process, Members members, std::span<ContextAllocation const> parts) {
    auto comm = Ref<Comm>::adopt(new Comm(process, std::move(members), 0));
    attach(*comm, parts);
    return comm;
}

void attach(Comm& comm, std::span<ContextAllocation const> parts) {
    Process& process = comm.process;
    std::uint64_t const context = parts.front().context;
    process.heap.collect();   // what this rank had allocated for communicators that have been freed
    bool const alone = on_one_node(process, *comm.union_group);
    ContextAllocation here = parts.front();
    if (!alone) {
        NodePartition const map(*comm.union_group, process.cluster);
        here = parts[static_cast<std::size_t>(map.master(map.own_part()))];
    }
    (alone ? attach_node : attach_multi_node)(comm, context, process.segment.at(here.area));
    state_of(comm).records.attach(comm);
    trace(comm);
    if (here.owner != process.rank()) return;
    (alone ? state_of(comm) : state_of(*state_of(comm).multi_node->node)).owned_offset = here.area;
}

Ref<Comm> make_child(Comm& parent, Members members, std::span<ContextAllocation const> parts) {
    check_allocations(parent.process, parts);
    Ref<Comm> child = make_comm(parent.process, std::move(members), parts);
    child->errhandler = parent.errhandler;
    return child;
}

namespace {

void set_wait_policy(Comm& comm, std::string_view value, std::vector<std::string>& diagnostics) {
    if (value == "dedicated") comm.wait_policy = WaitPolicy::dedicated;
    else if (value == "shared") comm.wait_policy = WaitPolicy::shared;
    else if (value == "auto") comm.wait_policy.reset();
    else
        diagnostics.push_back(
            join("info key ", wait_key, ": the value must be dedicated, shared or auto, not ", value));
}

bool may_need_kernel_copies(Settings const& settings) {
    auto const needs = [](Setting const& one) {
        return one.algorithm && (one.algorithm->requirements & requires_kernel_copies) != 0;
    };
    return std::ranges::any_of(settings.requested, needs) || std::ranges::any_of(settings.tuned, needs, &Rule::setting);
}

/// Returns when all members on this node have called MPI_Init, if the settings name an algorithm for whose choice they
/// must have answered whether the system copies their memory (kernel_copies_between_members). The choice itself must
/// not wait, because progress of a nonblocking call may make it.
void await_members(Comm& comm, Settings const& settings, char const* call) {
    Process& process = comm.process;
    if (!process.single_copy.may_copy_by_kernel() || !may_need_kernel_copies(settings)) return;
    for (int world_rank : comm.union_group->world_ranks()) {
        if (!process.cluster.is_local(world_rank)) continue;
        auto const peer = static_cast<unsigned>(process.cluster.local_rank_of(world_rank));
        process.waiter.wait_until([&] { return process.single_copy.has_started(peer); }, {call, world_rank});
    }
}

void use_settings(CommState& state, std::unique_ptr<Settings> settings) {
    if (state.settings) state.former_settings.push_back(std::move(state.settings));
    state.settings = std::move(settings);
    state.decisions.clear();
}

}   // namespace

void apply_hints(Comm& comm, std::vector<std::string>& diagnostics) {
    for (auto const& [key, value] : comm.info->entries)
        if (key == wait_key) set_wait_policy(comm, value, diagnostics);
    constexpr std::string_view all = "tutti_coll", one = "tutti_coll_";
    auto settings = std::make_unique<Settings>(state_of(comm.process).settings);
    for (auto const& [key, value] : comm.info->entries)
        if (key == all) settings->parse(value, join("info key ", key), diagnostics);
    for (auto const& [key, value] : comm.info->entries) {
        if (!key.starts_with(one)) continue;
        Collective collective;
        if (find_collective(std::string_view(key).substr(one.size()), collective))
            settings->parse(collective, value, join("info key ", key), diagnostics);
        else
            diagnostics.push_back(
                join("info key ", key, ": the part after tutti_coll_ is not the name of a collective"));
    }
    if (!comm.collectives) return;   // MPI_Comm_idup applies them when it completes
    await_members(comm, *settings, "MPI_Comm_set_info");
    CommState& state = state_of(comm);
    if (state.multi_node)   // the parts of its operations on the node
        use_settings(state_of(*state.multi_node->node), std::make_unique<Settings>(*settings));
    use_settings(state, std::move(settings));
}

void rename(Comm& comm, std::string_view name) {
    comm.name = name;
    trace(comm);
    if (comm.collectives) state_of(comm).decisions.clear();   // cached decisions refer to the old name's statistics row
}

void stop_call_statistics(Process& process) {
    state_of(process).call_statistics = nullptr;
    state_of(*process.world).decisions.clear();
}

void initialize(Process& process, std::vector<std::string>& diagnostics) {
    auto node = std::make_unique<ProcessState>(process, 16 * process.variables.staging);
    node->settings = read_job_settings(process, diagnostics);
    read_placement(process, *node);
    default_table();   // parsed here so that the first call need not do it
    if (process.variables.stats || process.tracer)
        node->call_statistics = &process.segment.call_statistics(process.local_rank());
    node->times_phases = process.variables.stats;
    node->call_matcher = std::make_shared<CallMatcher>(process);
    if (node->call_matcher->enabled) process.waiter.observers().add(*node->call_matcher);
    process.collectives = std::move(node);

    std::vector<int> all_ranks(static_cast<std::size_t>(process.size()));
    std::iota(all_ranks.begin(), all_ranks.end(), 0);
    int const local_size = process.cluster.local_size();
    process.world =
        Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group(all_ranks, process.rank())), world_context));
    bool const one_node = local_size == process.size();
    (one_node ? attach_node : attach_multi_node)(*process.world, world_context, process.segment.world_area().data());
    state_of(*process.world).records.attach(*process.world);
    auto self_group = Ref<Group>::adopt(new Group({process.rank()}, process.rank()));
    ContextAllocation const alone = allocate_context(process, *self_group);
    check_allocations(process, {&alone, 1});
    process.self = make_comm(process, std::move(self_group), {&alone, 1});
    process.world->name = "MPI_COMM_WORLD";
    process.self->name = "MPI_COMM_SELF";
    for (Comm const* comm : {process.world.get(), process.self.get()}) trace(*comm);
    await_members(*process.world, state_of(process).settings, "MPI_Init");
}

// Splits by a shared resource: all processes exchange what they request and where they run. Each then determines its
// companions; the index of the first of them is the color.

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
