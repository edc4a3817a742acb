// SPDX-License-Identifier: BSD-3-Clause
// Explains the choice of an algorithm: makes it as the library does (coll/choice/choose.hpp), for a communicator with
// the ranks of a job that mpiexec would start with its default options.
#include <cmath>
#include <list>
#include <numeric>
#include <stdexcept>

#include "coll/choice/cost.hpp"
#include "coll/env/area.hpp"
#include "launcher/info/report.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/single_copy.hpp"
#include "topo/binding.hpp"
#include "topo/this_machine.hpp"

namespace tutti::info {
namespace {

using coll::CallTraits;

/// MPI_COMM_WORLD of the job: its hierarchies, by the levels of a setting.
class World {
public:
    World(CallRequest const& call, Variables const& variables, topo::Machine const& machine)
        : machine_(machine), ranks_(call.ranks), nodes_(call.nodes), ranks_per_node_((ranks_ + nodes_ - 1) / nodes_) {
        if (nodes_ > ranks_) throw std::runtime_error(join(ranks_, " ranks cannot be on ", nodes_, " nodes"));
        if (call.root >= ranks_)
            throw std::runtime_error(join("there is no root ", call.root, " among ", ranks_, " ranks"));
        auto plan = topo::plan_ranks(machine, ranks_per_node_, {}, {}, usable_cores_);
        if (!plan) throw std::runtime_error(plan.error());
        placement_ = plan->placement;
        // In deterministic mode, operands are combined in rank order.
        own_levels_ =
            variables.deterministic ? topo::LevelChoice{false, {}} : *topo::parse_hierarchy(variables.hierarchy);
    }

    bool several_nodes() const { return nodes_ > 1; }
    bool shared_cores() const { return ranks_per_node_ > usable_cores_; }

    /// Returns the trees of the communicator, or those of other levels. Between nodes these are the flat ones only.
    coll::Trees const& trees_of(topo::LevelChoice const* levels) {
        if (several_nodes() && levels && !levels->automatic && levels->levels.empty())
            return flat_ ? *flat_ : flat_.emplace(topo::Hierarchy::build(ranks_, {}, "cluster"));
        topo::LevelChoice const& choice = levels && !several_nodes() ? *levels : own_levels_;
        for (auto const& [known, trees] : trees_)
            if (known == choice) return trees;
        return trees_.emplace_back(choice, coll::Trees(hierarchy(choice))).second;
    }

    /// Returns the number of parts that algorithms take for nodes. If each node has one rank, trees have no such level.
    int nodes_of(coll::Trees const& trees) const {
        return several_nodes() && (!flat_ || &trees != &*flat_) ? nodes_ : trees.nodes.count();
    }

    std::string describe() const {
        std::string const where = several_nodes() ? join(nodes_, " nodes") : "one node";
        if (!shared_cores()) return join(ranks_, " ranks of ", where);
        return join(ranks_, " ranks of ", where, " that share ", usable_cores_, usable_cores_ == 1 ? " core" : " cores",
                    several_nodes() ? " each" : "");
    }

private:
    topo::Hierarchy hierarchy(topo::LevelChoice const& choice) const {
        std::vector<int> numbers(static_cast<std::size_t>(ranks_));
        std::iota(numbers.begin(), numbers.end(), 0);
        if (!several_nodes()) return topo::make_hierarchy(machine_, placement_, numbers, choice);
        topo::Grouping by_node{"node", numbers};
        for (int& rank : by_node.group) rank = static_cast<int>(std::int64_t{rank} * nodes_ / ranks_);
        return topo::Hierarchy::build(ranks_, std::span(&by_node, 1), "cluster");
    }

    topo::Machine const& machine_;
    int const ranks_, nodes_, ranks_per_node_, usable_cores_ = topo::usable_cores();
    topo::Placement placement_;
    topo::LevelChoice own_levels_;
    std::list<std::pair<topo::LevelChoice, coll::Trees>> trees_;
    std::optional<coll::Trees> flat_;   ///< one level, between nodes
};

/// True if ranks attach to memory outside of arenas.
bool attaches(Variables const& variables) { return variables.xpmem && xpmem_works(xpmem_library); }

/// The traits of a call whose arguments have type `Args`, as in coll/choice/decision.hpp.
template <class Args>
CallTraits traits_of(CallTraits const& plain, CallRequest const& call, topo::Hierarchy const& tree,
                     bool deterministic) {
    using enum CallRequest::Operator;
    if constexpr (std::is_base_of_v<coll::ReduceArgs, Args>)
        return plain.with_operator(tree, call.op != noncommutative, call.op == predefined, deterministic);
    else if constexpr (std::is_same_v<Args, coll::BarrierArgs> || std::is_same_v<Args, coll::BcastArgs>) return plain;
    else return plain.with_parts(call.equal_parts || std::is_same_v<Args, coll::AllgatherArgs>);
}

CallTraits traits_of(coll::Collective collective, CallRequest const& call, World& world, Variables const& variables) {
    bool const deterministic = variables.deterministic;
    topo::Hierarchy const& tree = world.trees_of(nullptr).hierarchy;
    std::size_t const bytes = collective == coll::Collective::barrier ? 0 : call.bytes;
    CallTraits plain = CallTraits::plain(tree, coll::Area(nullptr, tree.size()).slot_bytes(), bytes);
    plain.several_nodes = world.several_nodes();
    plain.shared_cores = world.shared_cores();
    plain.loadable_buffers = variables.arena || attaches(variables);
    plain.kernel_copies = variables.cma && cma_works();
    plain.copyable_buffers = plain.loadable_buffers || plain.kernel_copies;
    switch (collective) {
#define COLLECTIVE(name, Args)   \
    case coll::Collective::name: \
        return traits_of<coll::Args>(plain, call, tree, deterministic);
#include "runtime/settings/collectives.def"
    }
    return plain;
}

std::string origin_of(coll::Candidate const& candidate, std::string const& requested_by, std::string const& tuning) {
    switch (candidate.origin) {
        using enum coll::Candidate::Origin;
    case request: return requested_by;
    case tuning_file: return join(tuning, ":", candidate.rule->line);
    case default_table: return join("coll/choice/table.def:", candidate.rule->line);
    case list: break;
    }
    return "coll/algorithms/algorithms.def";
}

std::string describe(CallRequest const& call, World const& world) {
    using enum CallRequest::Operator;
    std::string const size = call.collective == "barrier"
                                 ? ""
                                 : join(" of ", coll::text_of(call.bytes), call.bytes == 1 ? " byte" : " bytes");
    std::string const op = call.op == predefined    ? ""
                           : call.op == commutative ? " with a commutative operator of the user"
                                                    : " with a non-commutative operator of the user";
    return join(call.collective, size, op, call.equal_parts ? "" : " with parts of unequal size", " on ",
                world.describe());
}

}   // namespace

Explanation explain(CallRequest const& call, Variables const& variables, TuningFile const& tuning,
                    topo::Machine const& machine) {
    Explanation why;
    World world(call, variables, machine);
    coll::Collective collective{};
    coll::find_collective(call.collective, collective);
    coll::Settings const settings = coll::read_settings(variables, tuning.name, tuning.text, why.diagnostics);
    CallTraits const traits = traits_of(collective, call, world, variables);
    if (!variables.registration_cache && !attaches(variables)) why.diagnostics.push_back(no_registrations);
    auto const trees_of = [&](topo::LevelChoice const* levels) -> coll::Trees const& { return world.trees_of(levels); };
    why.call = describe(call, world);
    why.collective = call.collective;
    coll::Setting const* chosen = nullptr;
    for (coll::Candidate const& one : coll::candidates_for(collective, traits, settings, trees_of)) {
        if (one.obstacle.empty() && !chosen) chosen = one.setting, why.chosen = why.candidates.size();
        why.candidates.push_back({text_of(*one.setting),
                                  origin_of(one, settings.origins[static_cast<std::size_t>(collective)], tuning.name),
                                  one.rule ? text_of(*one.rule) : "", one.obstacle});
    }
    if (!chosen) throw std::runtime_error("no algorithm can do this call");
    why.algorithm = chosen->algorithm->name;
    for (std::size_t i = 0; i < chosen->algorithm->parameters.size(); ++i) {
        coll::Parameter const& p = chosen->algorithm->parameters[i];
        why.parameters.push_back({p.name, text_of_value(*chosen, i), p.description, range_of(p)});
    }
    coll::Trees const& trees = world.trees_of(chosen->has_levels ? &chosen->levels : nullptr);
    topo::Hierarchy const& tree = trees.hierarchy;
    if (char const* const formula = chosen->algorithm->cost.bytes; formula && !world.several_nodes()) {
        why.formula = formula;
        // Formulas are for operators that commute and parts of equal size; the edges of a neighbourhood are not known.
        bool const known = call.op != CallRequest::Operator::noncommutative && call.equal_parts &&
                           collective != coll::Collective::neighbor_allgather &&
                           collective != coll::Collective::neighbor_alltoall;
        if (known && tree.levels() <= 2 && tree.size() > 1) {
            coll::CostOfCall cost{*chosen, tree, traits.slot_bytes, call.bytes, call.root};
            if (!traits.copyable_buffers) cost.access = AccessPath::staged;
            why.bytes = static_cast<std::uint64_t>(std::llround(cost.value()));
        }
    }
    if (char const* const formula = chosen->algorithm->cost.time) {
        why.time_formula = formula;
        if (call.messages) {
            coll::MessageTimes messages = *call.messages;
            int const nodes = world.nodes_of(trees);
            // An algorithm that ignores the nodes of its communicator sends between them.
            if (nodes < world.nodes_of(world.trees_of(nullptr))) messages.inside = messages.between;
            int const largest = nodes == trees.nodes.count() ? trees.nodes.largest() : 1;
            why.time = coll::CostOfCall{*chosen, tree, traits.slot_bytes, call.bytes, call.root}.time(messages, nodes,
                                                                                                      largest);
        }
    }
    return why;
}

}   // namespace tutti::info
