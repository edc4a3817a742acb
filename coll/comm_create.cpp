// SPDX-License-Identifier: BSD-3-Clause
// Communicators: the collective half of their making and of their end.
#include "coll/comm_create.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "coll/state.hpp"
#include "coll/tuning.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

constexpr std::uint64_t world_context = 1;

/// A communicator that has its members gets all else.
void equip(Comm& comm, std::uint64_t context, std::byte* area) {
    ProcessState& node = state_of(comm.process);
    Group const& all = *comm.united;
    topo::Hierarchy tree = topo::make_hierarchy(node.machine, node.placement, all.world_ranks(), node.levels);
    auto state = std::make_unique<CommState>(
        comm.process, Area(area, all.size()), std::move(tree),
        topo::crossings(node.machine, node.placement, all.world_ranks(), all.rank()), all.rank());
    comm.context = context;
    comm.collectives = std::move(state);
}

std::string capitals(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
}

/// What the environment says: TUTTI_COLL for all collectives, TUTTI_COLL_<COLLECTIVE> for one.
Settings settings_of(Variables const& variables, std::vector<std::string>& complaints) {
    Settings settings;
    settings.take(variables.coll, "TUTTI_COLL", complaints);
    std::pair<Collective, std::string const*> const one_by_one[] = {
        {Collective::barrier, &variables.coll_barrier},     {Collective::bcast, &variables.coll_bcast},
        {Collective::reduce, &variables.coll_reduce},       {Collective::allreduce, &variables.coll_allreduce},
        {Collective::gather, &variables.coll_gather},       {Collective::scatter, &variables.coll_scatter},
        {Collective::allgather, &variables.coll_allgather}, {Collective::alltoall, &variables.coll_alltoall},
        {Collective::reduce_scatter, &variables.coll_reduce_scatter},
        {Collective::scan, &variables.coll_scan},           {Collective::exscan, &variables.coll_exscan},
        {Collective::neighbor_allgather, &variables.coll_neighbor_allgather},
        {Collective::neighbor_alltoall, &variables.coll_neighbor_alltoall}};
    static_assert(std::size(one_by_one) == collectives);
    for (auto const& [collective, text] : one_by_one)
        settings.take(collective, *text, join("TUTTI_COLL_", capitals(name_of(collective))), complaints);
    return settings;
}

/// What mpiexec has found in the tuning file. Results that depend on their inputs alone do not depend on a file either.
void read_tuning(Process const& process, Settings& settings, std::vector<std::string>& complaints) {
    std::string_view const given = process.segment.tuning();
    if (given.empty() || process.variables.deterministic) return;
    std::size_t const end = std::min(given.find('\n'), given.size() - 1);
    settings.tuned = parse_rules(given.substr(end + 1), given.substr(0, end), complaints);
}

void read_placement(Process& process, ProcessState& node, std::vector<std::string>& complaints) {
    node.machine = process.node.machine;
    node.placement = process.node.placement;
    if (node.placement.pu.size() != process.segment.ranks()) {   // no launcher told: ranks in order on nameless cores
        std::vector<int> numbers(std::max(1u, process.segment.header().usable_cores));
        std::iota(numbers.begin(), numbers.end(), 0);
        node.machine = topo::Machine::plain(numbers);
        node.placement = topo::place_in_order(node.machine, static_cast<int>(process.segment.ranks()));
    }
    if (process.variables.deterministic) node.levels = {false, {}};   // flat: operands in rank order
    else if (auto levels = topo::parse_hierarchy(process.variables.hierarchy)) node.levels = *levels;
    else complaints.push_back("TUTTI_HIERARCHY: " + levels.error());
}

}  // namespace

Birth conceive(Process& process, int size) {
    std::uint64_t offset = process.heap.allocate(Area::bytes(size));
    Area(process.segment.at(offset), size).clear();
    return {process.fresh_context(), offset, process.rank()};
}

Ref<Comm> make_comm(Process& process, Members members, Birth const& birth) {
    auto comm = Ref<Comm>::adopt(new Comm(process, std::move(members), 0));
    bear(*comm, birth);
    return comm;
}

void bear(Comm& comm, Birth const& birth) {
    Process& process = comm.process;
    equip(comm, birth.context, process.segment.at(birth.area));
    if (birth.owner == process.rank()) state_of(comm).owned_offset = birth.area;
}

Trees const& trees_of(Comm const& comm, topo::LevelChoice const* levels) {
    CommState& state = state_of(comm);
    if (!levels) return state.trees;
    for (auto const& [choice, trees] : state.other_trees)
        if (choice == *levels) return *trees;
    ProcessState& node = state_of(state.process);
    state.other_trees.emplace_back(*levels, std::make_unique<Trees>(topo::make_hierarchy(
                                                node.machine, node.placement, comm.united->world_ranks(), *levels)));
    return *state.other_trees.back().second;
}

void take_hints(Comm& comm, std::vector<std::string>& complaints) {
    constexpr std::string_view all = "tutti_coll", one = "tutti_coll_";
    CommState& state = state_of(comm);
    auto settings = std::make_unique<Settings>(state_of(state.process).settings);
    for (auto const& [key, value] : comm.info->entries)
        if (key == all) settings->take(value, join("info key ", key), complaints);
    for (auto const& [key, value] : comm.info->entries) {
        if (!key.starts_with(one)) continue;
        Collective collective;
        if (find_collective(std::string_view(key).substr(one.size()), collective))
            settings->take(collective, value, join("info key ", key), complaints);
        else complaints.push_back(join("info key ", key, ": what follows tutti_coll_ is not a collective"));
    }
    if (state.settings) state.former_settings.push_back(std::move(state.settings));
    state.settings = std::move(settings);
    state.choices.forget();
}

void rename(Comm& comm, std::string_view name) {
    comm.name = name;
    state_of(comm).choices.forget();   // each knows the ledger's line with the old name
}

void stop_recording(Process& process) {
    state_of(process).ledger = nullptr;
    state_of(*process.world).choices.forget();
}

void start(Process& process, std::vector<std::string>& complaints) {
    auto node = std::make_unique<ProcessState>(process, 16 * process.variables.staging);
    node->settings = settings_of(process.variables, complaints);
    read_tuning(process, node->settings, complaints);
    read_placement(process, *node, complaints);
    if (process.variables.stats) node->ledger = &process.segment.ledger(process.place());
    process.collectives = std::move(node);

    std::vector<int> everybody(static_cast<std::size_t>(process.size()));
    std::iota(everybody.begin(), everybody.end(), 0);
    if (Area::bytes(process.size()) > process.segment.commons().size())
        fail(ErrorClass::no_mem, "the node's shared memory is laid out too small for ", process.size(), " ranks");
    process.world =
        Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group(everybody, process.rank())), world_context));
    equip(*process.world, world_context, process.segment.commons().data());
    process.self = make_comm(process, Ref<Group>::adopt(new Group({process.rank()}, process.rank())),
                             conceive(process, 1));
    process.world->name = "MPI_COMM_WORLD";
    process.self->name = "MPI_COMM_SELF";
}

}  // namespace tutti::coll
