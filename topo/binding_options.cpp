// SPDX-License-Identifier: BSD-3-Clause
// Parses --bind-to and --map-by: MPICH's "core:2", Open MPI's "ppr:2:socket" and "socket:PE=2".
#include <algorithm>
#include <array>
#include <utility>

#include "topo/binding.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

namespace tutti::topo {

namespace {

using Fields = std::vector<std::string>;

// Every name that MPICH or Open MPI gives to a unit, in lower case.
constexpr std::pair<std::string_view, Unit> unit_names[] = {
    {"hwthread", Unit::hwthread}, {"core", Unit::core},     {"l2", Unit::l2},          {"l3", Unit::l3},
    {"numa", Unit::numa},         {"socket", Unit::socket}, {"node", Unit::node},      {"slot", Unit::slot},
    {"thread", Unit::hwthread},   {"pu", Unit::hwthread},   {"l1", Unit::core},        {"l1cache", Unit::core},
    {"l2cache", Unit::l2},        {"l3cache", Unit::l3},    {"package", Unit::socket}, {"machine", Unit::node},
    {"board", Unit::node},        {"l1dcache", Unit::core}, {"l1icache", Unit::core},  {"l1ucache", Unit::core},
    {"l2dcache", Unit::l2},       {"l2icache", Unit::l2},   {"l2ucache", Unit::l2},    {"l3dcache", Unit::l3},
    {"l3icache", Unit::l3},       {"l3ucache", Unit::l3},
};

std::string quoted(std::string_view word) { return "\"" + std::string(word) + "\""; }

const Unit* find_unit(std::string_view word) {
    const auto found = std::find_if(std::begin(unit_names), std::end(unit_names),
                                    [&](const auto& entry) { return entry.first == word; });
    return found == std::end(unit_names) ? nullptr : &found->second;
}

std::string unknown_value(std::string_view option, std::string_view word, std::string_view values) {
    const std::vector<std::string> names = split_words(values, "|");
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    const std::string hint = nearest_hint(word, names);
    return std::string(option) + ": " + quoted(word) + " is unknown; valid values: " + all +
           (hint.empty() ? "." : hint);
}

std::string bad_count(std::string_view word, std::string_view option) {
    return quoted(word) + " in " + std::string(option) + " must be a number, 1 or more and at most 1000000.";
}

// "0+2,1+4": the processing units that each rank may use.
Result<BindTo> parse_user_sets(std::string_view text) {
    BindTo bind{.kind = BindTo::Kind::user, .user = {}};
    for (const std::string& set : split_words(text, ",")) {
        std::vector<int> cpus;
        for (const std::string& word : split_words(set, "+")) {
            const auto cpu = whole_number(word);
            if (!cpu) {
                return Result<BindTo>::failure("--bind-to user: " + quoted(word) +
                                               " is not a processing unit's number; write sets like user:0+2,1+3.");
            }
            cpus.push_back(*cpu);
        }
        bind.user.push_back(std::move(cpus));
    }
    return bind;
}

// Parses what follows the unit in --bind-to: a count.
Result<BindTo> with_details(BindTo bind, const Fields& fields) {
    for (auto word = fields.begin() + 1; word != fields.end(); ++word) {
        const auto count = whole_number(*word);
        if (!count || *count < 1) return Result<BindTo>::failure(bad_count(*word, "--bind-to"));
        bind.count = *count;
    }
    return bind;
}

Result<MapBy> unknown_map(std::string_view word) {
    return Result<MapBy>::failure(unknown_value("--map-by", word, map_by_values));
}

// Parses what follows the unit in --map-by: PE=n or a count.
Result<MapBy> with_details(MapBy map, const Fields& fields, std::size_t first) {
    for (std::size_t i = first; i < fields.size(); ++i) {
        const std::string& word = fields[i];
        const bool cores = word.starts_with("pe=");
        const auto count = whole_number(cores ? word.substr(3) : word);
        if (!count || *count < 1) return Result<MapBy>::failure(bad_count(word, "--map-by"));
        (cores ? map.cores : map.count) = *count;
    }
    return map;
}

Result<MapBy> parse_ppr(const Fields& fields) {
    const auto per_unit = fields.size() < 3 ? std::nullopt : whole_number(fields[1]);
    if (!per_unit || *per_unit < 1) {
        return Result<MapBy>::failure(
            "--map-by ppr needs the number of ranks per unit (1 to 1000000) and the unit, such as ppr:2:socket.");
    }
    const Unit* unit = find_unit(fields[2]);
    if (!unit) return unknown_map(fields[2]);
    return with_details({.unit = *unit, .per_unit = *per_unit, .is_given = true}, fields, 3);
}

}   // namespace

std::optional<Unit> unit_named(std::string_view word) {
    const Unit* unit = find_unit(word);
    return unit ? std::optional(*unit) : std::nullopt;
}

Result<BindTo> parse_bind_to(std::string_view text) {
    const std::string wanted = lower(trimmed(text));
    if (wanted.starts_with("user:")) return parse_user_sets(std::string_view(wanted).substr(5));
    const Fields fields = split_words(wanted, ":");
    if (fields[0] == "auto") return with_details({.kind = BindTo::Kind::automatic, .user = {}}, fields);
    if (fields[0] == "none") return with_details({.kind = BindTo::Kind::none, .user = {}}, fields);
    // MPICH's "rr": one processing unit per rank in turn.
    if (fields[0] == "rr") {
        return with_details({.kind = BindTo::Kind::unit, .unit = Unit::hwthread, .user = {}}, fields);
    }
    const Unit* unit = find_unit(fields[0]);
    if (!unit || *unit == Unit::slot) {
        return Result<BindTo>::failure(unknown_value("--bind-to", fields[0], bind_to_values));
    }
    return with_details({.kind = BindTo::Kind::unit, .unit = *unit, .user = {}}, fields);
}

Result<MapBy> parse_map_by(std::string_view text) {
    const Fields fields = split_words(lower(trimmed(text)), ":");
    if (fields[0] == "ppr") return parse_ppr(fields);
    const Unit* unit = find_unit(fields[0]);
    if (!unit) return unknown_map(fields[0]);
    return with_details({.unit = *unit, .is_given = true}, fields, 1);
}

}   // namespace tutti::topo
