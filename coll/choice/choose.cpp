// SPDX-License-Identifier: BSD-3-Clause
// The default table, the cache of decisions, the comparison of traits with requirements, and the decision.
#include "coll/choice/choose.hpp"

#include <bit>

#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

/// Every algorithm with its parameters' defaults, for calls that no rule matches.
std::vector<Setting> const& plain_settings() {
    static std::vector<Setting> const all = [] {
        std::vector<Setting> made;
        for (AlgorithmRow const& a : all_algorithms()) made.push_back(defaults(a));
        return made;
    }();
    return all;
}

/// True if the rule applies to the call.
bool holds(Rule const& rule, Collective collective, CallTraits const& traits) {
    return rule.collective == collective && traits.is_on(rule.where) &&
           static_cast<std::size_t>(traits.ranks) <= rule.ranks &&
           static_cast<std::size_t>(traits.levels) >= rule.levels && traits.bytes <= rule.bytes;
}

}   // namespace

char const* name_of(Family family) {
    static constexpr char const* names[] = {"Tutti", "XHC", "YHCCL", "KNEM-Coll", "Cheetah", "MPICH", "baseline"};
    return names[static_cast<int>(family)];
}

char const* name_of(Where where) {
    static constexpr char const* names[] = {"any", "one_node", "shared_cores", "several_nodes", "between_groups"};
    return names[static_cast<int>(where)];
}

bool AlgorithmRow::runs(Where where) const {
    bool const groups = (requirements & requires_two_groups) != 0;
    if (where == Where::anywhere || where == Where::between_groups) return groups || where == Where::anywhere;
    return !groups && (where == Where::several_nodes ? on_nodes : on_node);
}

std::span<Rule const> default_table() {
    constexpr std::size_t any = ~std::size_t{0};
    struct Row {
        Collective collective;
        Where where;
        std::size_t ranks, levels, bytes;
        std::string_view setting;
    };
    static constexpr Row rows[] = {
#define ROW(collective, where, ranks, levels, bytes, ...) \
    {Collective::collective, Where::where, ranks, levels, bytes, #__VA_ARGS__},
#include "coll/choice/table.def"
#undef ROW
    };
    static std::vector<Rule> const rules = [] {
        std::vector<Rule> all;
        all.reserve(std::size(rows));   // growing the vector would touch twice as many pages
        std::vector<std::string> complaints;
        for (Row const& r : rows)
            all.push_back({r.collective, r.where, r.ranks, r.levels, r.bytes,
                           parse_setting(r.collective, r.setting, "coll/choice/table.def", complaints)});
        if (!complaints.empty()) fail(ErrorClass::intern, complaints.front());
        return all;
    }();
    return rules;
}

std::size_t CallTraits::most_with_room() const {
    if (!several_nodes) return ~std::size_t{0};
    return std::bit_floor(most_gathered / static_cast<std::size_t>(std::max(1, parts)));   // rounded as in unmet
}

unsigned CallTraits::unmet(unsigned requirements) const {
    unsigned missing = requires_nothing;
    // All sizes of a class must lead to one algorithm (Choices), so a slot size that is no power of two is rounded down
    // to one.
    if (bytes > std::bit_floor(slot_bytes)) missing |= requires_slot;
    if (!ordered) missing |= requires_commutative;
    if (!commutes) missing |= requires_commuting_operator;
    if (!one_kind) missing |= requires_one_kind;
    if (!grouping) missing |= requires_grouping;
    if (!equal_parts) missing |= requires_equal_parts;
    if (bytes > most_with_room()) missing |= requires_room;
    if (((requirements & requires_two_groups) != 0) != two_groups) missing |= requires_two_groups;
    return missing & (requirements | requires_two_groups);
}

std::string text_of_requirements(unsigned requirements) {
    static_assert(most_gathered == 16 << 20, "the description of requires_room names it");
    constexpr std::pair<Requirements, char const*> words[] = {
        {requires_slot, "a message that fits into a slot"},
        {requires_commutative, "an operator that commutes, or teams of consecutive ranks"},
        {requires_one_kind, "a built-in operator on elements without gaps"},
        {requires_equal_parts, "parts of one size"},
        {requires_commuting_operator, "an operator that commutes"},
        {requires_two_groups, "an intercommunicator"},
        {requires_grouping, "operands that may be grouped"},
        {requires_room, "between nodes, parts of known sizes, 16 MiB together"}};
    std::string all;
    for (auto const& [need, sentence] : words)
        if (requirements & need) all += (all.empty() ? "" : "; ") + std::string(sentence);
    return all;
}

std::string hindrance(AlgorithmRow const& algorithm, CallTraits const& traits) {
    constexpr unsigned described_apart = requires_two_groups | requires_slot | requires_room;
    unsigned const unmet = traits.unmet(algorithm.requirements);
    std::string all;
    auto add = [&](std::string const& why) { all += (all.empty() ? "" : " and ") + why; };
    std::string const groups = traits.two_groups ? "is not for" : "is only for";
    if (unmet & requires_two_groups) add(groups + " intercommunicators");
    bool const several = traits.several_nodes;
    if (!traits.on_its_nodes(algorithm)) add(several ? "runs on one node only" : "runs on several nodes only");
    std::string const most = text_of(std::bit_floor(traits.slot_bytes));
    if (unmet & requires_slot) add(join("takes messages of at most ", most, " bytes"));
    if (unmet & requires_room) {
        std::string const room = text_of(traits.most_with_room());
        add(join("takes parts of at most ", room, " bytes, whose sizes are known, between these nodes"));
    }
    if (unmet & ~described_apart) add("needs " + text_of_requirements(unmet & ~described_apart));
    return all;
}

CallTraits traits_for(Setting const& setting, CallTraits const& traits, TreesOf const& trees_of) {
    CallTraits here = traits;
    if (setting.has_levels && !traits.several_nodes)
        here.ordered = traits.commutes || trees_of(&setting.levels).hierarchy.consecutive();
    return here;
}

Decision decide(Collective collective, CallTraits const& traits, Settings const& settings, TreesOf const& trees_of) {
    auto fits = [&](Setting const& s) { return s.algorithm && traits_for(s, traits, trees_of).suits(*s.algorithm); };
    auto made = [&](Setting const& s) -> Decision {
        return {s.algorithm, &s, &trees_of(s.has_levels ? &s.levels : nullptr)};
    };
    Setting const& wish = settings.of[static_cast<std::size_t>(collective)];
    if (fits(wish)) return made(wish);
    for (std::span<Rule const> rules : {std::span<Rule const>(settings.tuned), default_table()})
        for (Rule const& rule : rules)
            if (holds(rule, collective, traits) && fits(rule.setting)) return made(rule.setting);
    for (Setting const& s : plain_settings())
        if (s.algorithm->collective == collective && fits(s)) return made(s);
    fail(ErrorClass::intern, "no algorithm for ", name_of(collective), " of ", traits.bytes, " bytes");
}

Decision& Choices::find_or_add(std::uint32_t wanted) {
    for (std::size_t at = place(wanted); table_[at]; at = (at + 1) % table_.size())
        if (table_[at]->key == wanted) return table_[at]->decision;
    if (2 * (count_ + 1) > table_.size()) grow();
    entries_.push_front({wanted, {}});
    ++count_;
    insert(entries_.front());
    return entries_.front().decision;
}

void Choices::insert(Entry& entry) {
    std::size_t at = place(entry.key);
    while (table_[at]) at = (at + 1) % table_.size();
    table_[at] = &entry;
}

void Choices::grow() {
    std::vector<Entry*>(2 * table_.size()).swap(table_);
    --shift_;
    for (Entry& entry : entries_) insert(entry);
}

void Choices::forget() { *this = {}; }

}   // namespace tutti::coll
