// SPDX-License-Identifier: BSD-3-Clause
// The table, the user's settings, and the decision.
#include "coll/choose.hpp"

#include <charconv>

#include "runtime/error.hpp"
#include "runtime/variables.hpp"

namespace tutti::coll {
namespace {

constexpr std::size_t any = ~std::size_t{0};

struct Row {
    Collective collective;
    std::size_t ranks, levels, bytes;
    std::string_view algorithm;
};
constexpr Row table[] = {
#define ROW(collective, ranks, levels, bytes, algorithm) {Collective::collective, ranks, levels, bytes, #algorithm},
#include "coll/table.def"
#undef ROW
};

AlgorithmRow const* find_algorithm(Collective collective, std::string_view name) {
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective && a.name == name) return &a;
    return nullptr;
}

std::optional<Collective> find_collective(std::string_view name) {
    for (int c = 0; c < collectives; ++c)
        if (name == name_of(static_cast<Collective>(c))) return static_cast<Collective>(c);
    return {};
}

std::string names_of_algorithms(Collective collective) {
    std::string all;
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective) all += (all.empty() ? "" : ", ") + std::string(a.name);
    return all;
}

std::optional<std::size_t> parse_size(std::string_view text) {
    std::size_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit == "K" || unit == "k") return value << 10;
    if (unit == "M" || unit == "m") return value << 20;
    if (!unit.empty()) return {};
    return value;
}

/// Cuts `text` at the first `at`; what is behind it stays in `text`.
std::string_view cut(std::string_view& text, char at) {
    std::size_t end = text.find(at);
    std::string_view head = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return head;
}

Chosen defaults(AlgorithmRow const& a) {
    Chosen c;
    for (std::size_t i = 0; i < a.parameters.size(); ++i) c.parameters[i] = a.parameters[i].fallback;
    return c;
}

void parse_parameter(std::string_view word, Setting& setting, std::vector<std::string>& complaints) {
    std::string_view value = word, name = cut(value, '=');
    auto size = parse_size(value);
    AlgorithmRow const& a = *setting.algorithm;
    for (std::size_t i = 0; i < a.parameters.size(); ++i) {
        if (name != a.parameters[i].name) continue;
        if (!size || *size == 0) complaints.push_back(join("TUTTI_COLL: ", word, ": a number such as 16K must follow"));
        else setting.chosen.parameters[i] = *size;
        return;
    }
    std::string known;
    for (Parameter const& p : a.parameters) known += (known.empty() ? "" : ", ") + std::string(p.name);
    complaints.push_back(join("TUTTI_COLL: ", name_of(a.collective), " ", a.name, " has no parameter ", name,
                              known.empty() ? "" : "; it has " + known));
}

void parse_setting(std::string_view word, Settings& settings, std::vector<std::string>& complaints) {
    std::string_view rest = word, collective_name = cut(rest, '='), name = cut(rest, ':');
    auto collective = find_collective(collective_name);
    if (!collective) {
        std::string known;
        for (int c = 0; c < collectives; ++c)
            known += (c ? ", " : "") + std::string(name_of(static_cast<Collective>(c)));
        complaints.push_back(join("TUTTI_COLL: ", collective_name, " is not a collective; these are: ", known));
        return;
    }
    AlgorithmRow const* algorithm = find_algorithm(*collective, name);
    if (!algorithm) {
        complaints.push_back(join("TUTTI_COLL: ", collective_name, " has no algorithm ", name, "; it has ",
                                  names_of_algorithms(*collective)));
        return;
    }
    Setting& setting = settings.of[static_cast<std::size_t>(*collective)];
    setting = {algorithm, defaults(*algorithm)};
    while (!rest.empty()) parse_parameter(cut(rest, ':'), setting, complaints);
}

}  // namespace

char const* name_of(Collective collective) {
    static constexpr char const* names[] = {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter",
                                            "allgather", "alltoall", "reduce_scatter", "scan", "exscan"};
    static_assert(std::size(names) == collectives);
    return names[static_cast<int>(collective)];
}

std::span<AlgorithmRow const> all_algorithms() {
    static AlgorithmRow const rows[] = {
#define ALGORITHM(folder, algorithm)                                                                                   \
    {Collective::folder,                                                                                               \
     algorithms::folder::algorithm##_algorithm.name,                                                                   \
     algorithms::folder::algorithm##_algorithm.sentence,                                                               \
     algorithms::folder::algorithm##_algorithm.source,                                                                 \
     algorithms::folder::algorithm##_algorithm.needs,                                                                  \
     algorithms::folder::algorithm##_algorithm.parameters,                                                             \
     &algorithms::folder::algorithm##_algorithm},
#include "coll/algorithms.def"
#undef ALGORITHM
    };
    return rows;
}

Settings parse_settings(std::string_view text, std::vector<std::string>& complaints) {
    Settings settings;
    while (!text.empty()) {
        std::string_view word = cut(text, ',');
        if (!word.empty()) parse_setting(word, settings, complaints);
    }
    return settings;
}

bool Offer::meets(unsigned needs) const {
    if (needs & needs_slot && bytes > slot_bytes) return false;
    if (needs & needs_commutative && !ordered) return false;
    if (needs & needs_one_kind && !one_kind) return false;
    return !(needs & needs_equal_parts) || equal_parts;
}

Decision Choices::decide(Collective collective, Offer const& offer, Settings const& settings) {
    Setting const& wish = settings.of[static_cast<std::size_t>(collective)];
    if (wish.algorithm && offer.meets(wish.algorithm->needs)) return {wish.algorithm->record, wish.chosen};
    for (Row const& row : table) {
        if (row.collective != collective || static_cast<std::size_t>(offer.ranks) > row.ranks) continue;
        if (static_cast<std::size_t>(offer.levels) < row.levels || offer.bytes > row.bytes) continue;
        AlgorithmRow const* a = find_algorithm(collective, row.algorithm);
        if (a && offer.meets(a->needs)) return {a->record, defaults(*a)};
    }
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective && offer.meets(a.needs)) return {a.record, defaults(a)};
    fail(ErrorClass::intern, "no algorithm for ", name_of(collective), " of ", offer.bytes, " bytes");
}

}  // namespace tutti::coll
