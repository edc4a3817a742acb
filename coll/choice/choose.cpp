// SPDX-License-Identifier: BSD-3-Clause
// The default table, and the decision.
#include "coll/choice/choose.hpp"

#include <bit>

#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

/// Every algorithm with its parameters' fallbacks, for calls that no rule fits.
std::vector<Setting> const& plain_settings() {
    static std::vector<Setting> const all = [] {
        std::vector<Setting> made;
        for (AlgorithmRow const& a : all_algorithms()) made.push_back(defaults(a));
        return made;
    }();
    return all;
}

}  // namespace

char const* name_of(Collective collective) {
    static constexpr char const* names[] = {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter",
                                            "allgather", "alltoall", "reduce_scatter", "scan", "exscan",
                                            "neighbor_allgather", "neighbor_alltoall"};
    static_assert(std::size(names) == collectives);
    return names[static_cast<int>(collective)];
}

char const* name_of(Family family) {
    static constexpr char const* names[] = {"Tutti", "XHC", "YHCCL", "KNEM-Coll", "Cheetah", "MPICH", "baseline"};
    return names[static_cast<int>(family)];
}

std::span<AlgorithmRow const> all_algorithms() {
    static AlgorithmRow const rows[] = {
#define ALGORITHM(folder, algorithm)                                                                                   \
    {Collective::folder,                                                                                               \
     algorithms::folder::algorithm##_algorithm.name,                                                                   \
     algorithms::folder::algorithm##_algorithm.sentence,                                                               \
     algorithms::folder::algorithm##_algorithm.family,                                                                 \
     algorithms::folder::algorithm##_algorithm.source,                                                                 \
     algorithms::folder::algorithm##_algorithm.requirements,                                                                  \
     algorithms::folder::algorithm##_algorithm.parameters,                                                             \
     algorithms::folder::algorithm##_algorithm.shm != nullptr,                                                         \
     algorithms::folder::algorithm##_algorithm.net != nullptr,                                                         \
     &algorithms::folder::algorithm##_algorithm},
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM
    };
    return rows;
}

std::span<Rule const> default_table() {
    constexpr std::size_t any = ~std::size_t{0};
    struct Row {
        Collective collective;
        std::size_t ranks, levels, bytes;
        std::string_view setting;
    };
    static constexpr Row rows[] = {
#define ROW(collective, ranks, levels, bytes, ...) {Collective::collective, ranks, levels, bytes, #__VA_ARGS__},
#include "coll/choice/table.def"
#undef ROW
    };
    static std::vector<Rule> const rules = [] {
        std::vector<Rule> all;
        std::vector<std::string> complaints;
        for (Row const& r : rows)
            all.push_back({r.collective, r.ranks, r.levels, r.bytes,
                           parse_setting(r.collective, r.setting, "coll/choice/table.def", complaints)});
        if (!complaints.empty()) fail(ErrorClass::intern, complaints.front());
        return all;
    }();
    return rules;
}

bool CallTraits::meets(unsigned requirements) const {
    // All sizes of a class get one algorithm (Choices): a slot that is no power of two counts as the one below.
    if (requirements & requires_slot && bytes > std::bit_floor(slot_bytes)) return false;
    if (requirements & requires_commutative && !ordered) return false;
    if (requirements & requires_commuting_operator && !commutes) return false;
    if (requirements & requires_one_kind && !one_kind) return false;
    if (((requirements & requires_two_groups) != 0) != two_groups) return false;
    if (requirements & requires_grouping && !grouping) return false;
    return !(requirements & requires_equal_parts) || equal_parts;
}

Decision decide(Collective collective, CallTraits const& traits, Settings const& settings, TreesOf const& trees_of) {
    auto fits = [&](Setting const& s) {
        CallTraits here = traits;
        if (s.has_levels && !traits.several_nodes)
            here.ordered = traits.commutes || trees_of(&s.levels).hierarchy.consecutive();
        return s.algorithm && here.suits(*s.algorithm);
    };
    auto made = [&](Setting const& s) -> Decision {
        return {s.algorithm, &s, &trees_of(s.has_levels ? &s.levels : nullptr)};
    };
    Setting const& wish = settings.of[static_cast<std::size_t>(collective)];
    if (fits(wish)) return made(wish);
    for (std::span<Rule const> rules : {std::span<Rule const>(settings.tuned), default_table()})
        for (Rule const& rule : rules) {
            if (rule.collective != collective || static_cast<std::size_t>(traits.ranks) > rule.ranks) continue;
            if (static_cast<std::size_t>(traits.levels) < rule.levels || traits.bytes > rule.bytes) continue;
            if (fits(rule.setting)) return made(rule.setting);
        }
    for (Setting const& s : plain_settings())
        if (s.algorithm->collective == collective && fits(s)) return made(s);
    fail(ErrorClass::intern, "no algorithm for ", name_of(collective), " of ", traits.bytes, " bytes");
}

}  // namespace tutti::coll
