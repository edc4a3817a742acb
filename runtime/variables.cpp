// SPDX-License-Identifier: BSD-3-Clause
// Reading and describing the settings; everything expands from variables.def.
#include "runtime/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/launch.hpp"
#include "runtime/setting_text.hpp"

namespace tutti {
namespace {

std::string shown(bool v) { return v ? "yes" : "no"; }
std::string shown(long v) { return std::to_string(v); }
std::string shown(std::size_t v) { return std::to_string(v); }
std::string shown(std::string const& v) { return v; }


using tutti::parse_setting;
bool parse_setting(std::string_view text, std::string& out) { return out = text, true; }

std::string environment_name(std::string_view name) {
    std::string all = "TUTTI_";
    for (char c : name) all += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return all;
}

std::optional<std::string_view> look_up(char const* const* environment, std::string_view name) {
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment;
        if (entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    }
    return {};
}

template <class T>
void read_one(char const* const* environment, char const* name, char const* type, T& value,
              std::vector<std::string>& complaints) {
    auto text = look_up(environment, environment_name(name));
    T parsed{};
    if (!text) return;
    if (parse_setting(*text, parsed)) value = parsed;
    else complaints.push_back(
        join(environment_name(name), "=", *text, " is not a ", type, "; ", shown(value), " is used"));
}

std::vector<std::string> known_names() {
    return {
#define VAR(group, type, name, fallback, sentence) environment_name(#name),
#include "runtime/variables.def"
#undef VAR
        launch::segment_variable, launch::rank_variable, launch::listen_variable,
        launch::launcher_variable};
}

void complain_about_unknown(char const* const* environment, std::vector<std::string>& complaints) {
    std::vector<std::string> known = known_names();
    std::vector<std::string_view> views(known.begin(), known.end());
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment, name = entry.substr(0, entry.find('='));
        if (name.substr(0, 6) != "TUTTI_" || std::find(views.begin(), views.end(), name) != views.end()) continue;
        std::string near = nearest(name, views);
        complaints.push_back(
            join(name, " is not a variable of Tutti", near.empty() ? "" : "; did you mean " + near + "?"));
    }
}

}  // namespace

Variables read_variables(char const* const* environment, std::vector<std::string>& complaints) {
    Variables v;
#define VAR(group, type, name, fallback, sentence) read_one(environment, #name, #type, v.name, complaints);
#include "runtime/variables.def"
#undef VAR
    complain_about_unknown(environment, complaints);
    return v;
}

std::vector<VariableRow> describe_variables(char const* const* environment) {
    std::vector<std::string> ignored;
    Variables now = read_variables(environment, ignored), fresh;
    std::vector<VariableRow> rows;
#define VAR(group, type, name, fallback, sentence)                                                       \
    rows.push_back({#group, environment_name(#name), #type, shown(now.name), shown(fresh.name),          \
                    look_up(environment, environment_name(#name)) ? "environment" : "default", sentence});
#include "runtime/variables.def"
#undef VAR
    return rows;
}

std::string nearest(std::string_view word, std::span<std::string_view const> candidates) {
    auto distance = [&](std::string_view other) {
        std::vector<std::size_t> row(other.size() + 1);
        std::iota(row.begin(), row.end(), 0);
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i + 1;
            for (std::size_t j = 0; j < other.size(); ++j) {
                std::size_t next = std::min({row[j] + 1, row[j + 1] + 1, diagonal + (word[i] != other[j])});
                diagonal = row[j + 1];
                row[j + 1] = next;
            }
        }
        return row.back();
    };
    auto best = std::min_element(candidates.begin(), candidates.end(),
                                 [&](auto a, auto b) { return distance(a) < distance(b); });
    if (best == candidates.end() || distance(*best) * 3 > word.size()) return {};
    return std::string(*best);
}

}  // namespace tutti
