// SPDX-License-Identifier: BSD-3-Clause
// The default table, the cache of decisions, the comparison of traits with requirements, and the decision.
#include "coll/choice/choose.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
namespace {

/// Every algorithm with its parameters' defaults, for calls that no rule matches.
std::vector<Setting> const& default_settings() {
    static std::vector<Setting> const all = [] {
        std::vector<Setting> made;
        for (AlgorithmRow const& a : all_algorithms()) made.push_back(defaults(a));
        return made;
    }();
    return all;
}

/// True if the rule, which is for the call's collective, applies to the call.
bool matches(Rule const& rule, CallTraits const& traits) {
    return traits.is_on(rule.comm_kind) && static_cast<std::size_t>(traits.ranks) <= rule.ranks &&
           static_cast<std::size_t>(traits.levels) >= rule.levels && traits.bytes <= rule.bytes;
}

/// Returns the conditions of a rule that do not hold: "is for several_nodes", "is for at most 8 ranks and 64K bytes".
std::string unmatched_condition(Rule const& rule, CallTraits const& traits) {
    if (!traits.is_on(rule.comm_kind)) return join("is for ", name_of(rule.comm_kind));
    std::string most, least;
    if (static_cast<std::size_t>(traits.ranks) > rule.ranks) most = join(rule.ranks, " ranks");
    if (traits.bytes > rule.bytes) most += join(most.empty() ? "" : " and ", text_of(rule.bytes), " bytes");
    if (static_cast<std::size_t>(traits.levels) < rule.levels) least = join("at least ", rule.levels, " levels");
    if (!most.empty()) most = "at most " + most;
    return join("is for ", most, most.empty() || least.empty() ? "" : " and ", least);
}

/// Calls visit(candidate) for the candidates of a collective, in order of preference, until it returns true.
template <class Visit>
void visit_candidates(Collective collective, Settings const& settings, Visit visit) {
    using enum Candidate::Origin;
    Setting const& requested = settings.requested[static_cast<std::size_t>(collective)];
    if (requested.algorithm && visit(Candidate{request, nullptr, &requested, {}})) return;
    for (auto const& [origin, rules] : {std::pair(tuning_file, std::span<Rule const>(settings.tuned)),
                                        std::pair(default_table, coll::default_table())})
        for (Rule const& rule : rules)
            if (rule.collective == collective && visit(Candidate{origin, &rule, &rule.setting, {}})) return;
    for (Setting const& s : default_settings())
        if (s.algorithm->collective == collective && visit(Candidate{list, nullptr, &s, {}})) return;
}

/// True if the setting can do the call.
bool fits(Candidate const& candidate, CallTraits const& traits, TreesLookup const& trees_of) {
    return (!candidate.rule || matches(*candidate.rule, traits)) &&
           traits_for(*candidate.setting, traits, trees_of).suits(*candidate.setting->algorithm);
}

/// Reads TUTTI_COLL, whose end may come from an option of mpiexec; messages name the one that the user gave.
void read_all_collectives(std::string_view text, Settings& settings, std::vector<std::string>& diagnostics) {
    char const* const option = std::getenv(launch::coll_option_variable);
    std::size_t const size = option && text.ends_with(option) ? std::strlen(option) : 0;
    settings.parse(text.substr(0, text.size() - size), "TUTTI_COLL", diagnostics);
    settings.parse(text.substr(text.size() - size), "--coll", diagnostics);
}

}   // namespace

char const* name_of(Family family) {
    static constexpr char const* names[] = {"Tutti", "XHC", "YHCCL", "KNEM-Coll", "Cheetah", "MPICH", "baseline"};
    return names[static_cast<int>(family)];
}

char const* name_of(CommKind comm_kind) {
    static constexpr char const* names[] = {"any", "one_node", "shared_cores", "several_nodes", "between_groups"};
    return names[static_cast<int>(comm_kind)];
}

bool AlgorithmRow::runs_on(CommKind comm_kind) const {
    bool const groups = (requirements & requires_intercommunicator) != 0;
    if (comm_kind == CommKind::any_kind || comm_kind == CommKind::between_groups)
        return groups || comm_kind == CommKind::any_kind;
    return !groups && (comm_kind == CommKind::several_nodes ? runs_on_multiple_nodes : runs_on_one_node);
}

std::span<Rule const> default_table() {
    constexpr std::size_t any = ~std::size_t{0};
    struct Row {
        Collective collective;
        CommKind comm_kind;
        std::size_t ranks, levels, bytes;
        std::string_view setting;
        int line;
    };
    static constexpr Row rows[] = {
#define ROW(collective, comm_kind, ranks, levels, bytes, ...) \
    {Collective::collective, CommKind::comm_kind, ranks, levels, bytes, #__VA_ARGS__, __LINE__},
#include "coll/choice/table.def"
#undef ROW
    };
    static std::vector<Rule> const rules = [] {
        std::vector<Rule> all;
        all.reserve(std::size(rows));   // growing the vector would touch twice as many pages
        std::vector<std::string> diagnostics;
        for (Row const& r : rows)
            all.push_back({r.collective, r.comm_kind, r.ranks, r.levels, r.bytes,
                           parse_setting(r.collective, r.setting, "coll/choice/table.def", diagnostics), r.line});
        if (!diagnostics.empty()) fail(ErrorClass::intern, diagnostics.front());
        return all;
    }();
    return rules;
}

std::size_t CallTraits::bounded_gather_limit() const {
    if (!several_nodes) return ~std::size_t{0};
    return std::bit_floor(max_gathered_bytes / static_cast<std::size_t>(std::max(1, parts)));   // rounded as in unmet
}

unsigned CallTraits::unmet(unsigned requirements) const {
    unsigned missing = requires_nothing;
    // All sizes of a class must lead to one algorithm (DecisionCache), so a slot size that is no power of two is
    // rounded down to one.
    if (bytes > std::bit_floor(slot_bytes)) missing |= requires_slot;
    if (!commutative_or_consecutive) missing |= requires_commutative_or_consecutive;
    if (!commutative) missing |= requires_commutative_operator;
    if (!consecutive_teams) missing |= requires_consecutive_teams;
    if (!has_kernels) missing |= requires_kernels;
    if (!allows_reassociation) missing |= requires_reassociation;
    if (!equal_parts) missing |= requires_equal_parts;
    if (bytes > bounded_gather_limit()) missing |= requires_bounded_gather;
    if (!loadable_buffers) missing |= requires_loadable_buffers;
    if (!copyable_buffers) missing |= requires_copyable_buffers;
    if (!kernel_copies) missing |= requires_kernel_copies;
    if (((requirements & requires_intercommunicator) != 0) != intercommunicator) missing |= requires_intercommunicator;
    return missing & (requirements | requires_intercommunicator);
}

std::string text_of_requirements(unsigned requirements) {
    static_assert(max_gathered_bytes == 16 << 20, "the description of requires_bounded_gather names it");
    constexpr std::pair<Requirements, char const*> descriptions[] = {
        {requires_slot, "a message that fits into a slot"},
        {requires_commutative_or_consecutive, "a commutative operator, or teams of consecutive ranks"},
        {requires_kernels, "a predefined operator on contiguous elements"},
        {requires_equal_parts, "parts of equal size"},
        {requires_commutative_operator, "a commutative operator"},
        {requires_consecutive_teams, "teams of consecutive ranks"},
        {requires_intercommunicator, "an intercommunicator"},
        {requires_reassociation, "operands that may be regrouped"},
        {requires_loadable_buffers, "buffers that other ranks can load and store"},
        {requires_copyable_buffers, "buffers that other ranks or the system can copy"},
        {requires_kernel_copies, "copies between ranks by the system (CMA)"},
        {requires_bounded_gather, "between nodes, parts of known sizes, at most 16 MiB in total"}};
    std::string all;
    for (auto const& [requirement, description] : descriptions)
        if (requirements & requirement) all += (all.empty() ? "" : "; ") + std::string(description);
    return all;
}

std::string unmet_requirement(AlgorithmRow const& algorithm, CallTraits const& traits) {
    constexpr unsigned described_separately = requires_intercommunicator | requires_slot | requires_bounded_gather;
    unsigned const unmet = traits.unmet(algorithm.requirements);
    std::string all;
    auto add = [&](std::string const& why) { all += (all.empty() ? "" : " and ") + why; };
    std::string const groups = traits.intercommunicator ? "is not for" : "is only for";
    if (unmet & requires_intercommunicator) add(groups + " intercommunicators");
    bool const several = traits.several_nodes;
    if (!traits.runs_on_its_nodes(algorithm)) add(several ? "runs on one node only" : "runs on several nodes only");
    std::string const most = text_of(std::bit_floor(traits.slot_bytes));
    if (unmet & requires_slot) add(join("accepts messages of at most ", most, " bytes"));
    if (unmet & requires_bounded_gather) {
        std::string const room = text_of(traits.bounded_gather_limit());
        add(join("accepts parts of known sizes of at most ", room, " bytes between these nodes"));
    }
    if (unmet & ~described_separately) add("needs " + text_of_requirements(unmet & ~described_separately));
    return all;
}

CallTraits traits_for(Setting const& setting, CallTraits const& traits, TreesLookup const& trees_of) {
    CallTraits here = traits;
    if (setting.has_levels) {
        here.consecutive_teams = trees_of(&setting.levels).consecutive();
        here.commutative_or_consecutive = traits.commutative || here.consecutive_teams;
    }
    return here;
}

Settings read_settings(Variables const& variables, std::string_view tuning_name, std::string_view tuning_text,
                       std::vector<std::string>& diagnostics) {
    Settings settings;
    read_all_collectives(variables.coll, settings, diagnostics);
    std::string const* const by_collective[] = {
#define COLLECTIVE(name, Args) &variables.coll_##name,
#include "runtime/settings/collectives.def"
    };
    for (int c = 0; c < collectives; ++c) {
        auto const collective = static_cast<Collective>(c);
        settings.parse(collective, *by_collective[c], join("TUTTI_COLL_", topo::upper(name_of(collective))),
                       diagnostics);
    }
    if (!variables.deterministic) settings.tuned = parse_rules(tuning_text, tuning_name, diagnostics);
    return settings;
}

Decision decide(Collective collective, CallTraits const& traits, Settings const& settings,
                TreesLookup const& trees_of) {
    Decision decision;
    visit_candidates(collective, settings, [&](Candidate const& candidate) {
        if (!fits(candidate, traits, trees_of)) return false;
        Setting const& s = *candidate.setting;
        decision = {s.algorithm, &s, &trees_of(s.has_levels ? &s.levels : nullptr)};
        return true;
    });
    if (!decision.algorithm)
        fail(ErrorClass::intern, "no algorithm for ", name_of(collective), " of ", traits.bytes, " bytes");
    return decision;
}

std::vector<Candidate> candidates_for(Collective collective, CallTraits const& traits, Settings const& settings,
                                      TreesLookup const& trees_of) {
    std::vector<Candidate> all;
    visit_candidates(collective, settings, [&](Candidate candidate) {
        if (!fits(candidate, traits, trees_of))
            candidate.obstacle = candidate.rule && !matches(*candidate.rule, traits)
                                     ? unmatched_condition(*candidate.rule, traits)
                                     : unmet_requirement(*candidate.setting->algorithm,
                                                         traits_for(*candidate.setting, traits, trees_of));
        all.push_back(std::move(candidate));
        return false;
    });
    return all;
}

}   // namespace tutti::coll
