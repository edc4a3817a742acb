// SPDX-License-Identifier: BSD-3-Clause
// Reads and describes the settings; everything expands from variables.def.
#include "runtime/settings/variables.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <type_traits>

#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/setting_text.hpp"
#include "topo/hierarchy.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

std::string to_text(bool v) { return v ? "yes" : "no"; }
std::string to_text(long v) { return std::to_string(v); }
std::string to_text(std::size_t v) { return std::to_string(v); }
std::string to_text(std::string const& v) { return v; }

/// Formats a range: "1 to 4", "0 or 4K to 1T", "auto, dedicated or shared".
std::string format_range(std::string_view range) {
    std::vector<std::string> parts;
    any_range_part(range, [&](std::string_view part) {
        std::size_t const dots = part.find("..");
        parts.emplace_back(dots == part.npos ? join(part) : join(part.substr(0, dots), " to ", part.substr(dots + 2)));
        return false;
    });
    std::string all;
    for (std::size_t i = 0; i < parts.size(); ++i)
        all += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " or ") + parts[i];
    return all;
}

// The types of variables.def. `parse` converts a text to a value; if the text is invalid, it returns false and does not
// change the value (except for Ports). `values` describes the valid values.
namespace types {

struct Flag {
    static bool parse(std::string_view text, std::string_view, bool& out) { return parse_setting(text, out); }
    static std::string values(std::string_view) { return "yes or no"; }
};
template <class T>
struct InRange {
    static bool parse(std::string_view text, std::string_view range, T& out) {
        T value{};
        bool const fits = parse_setting(text, value) && in_range(range, value);
        if (fits) out = value;
        return fits;
    }
};
struct Number : InRange<long> {
    static std::string values(std::string_view range) { return format_range(range); }
};
struct Bytes : InRange<std::size_t> {
    static std::string values(std::string_view range) { return format_range(range) + " bytes"; }
};
struct Word {
    static bool parse(std::string_view text, std::string_view range, std::string& out) {
        bool const fits = in_range(range, text);
        if (fits) out = text;
        return fits;
    }
    static std::string values(std::string_view range) { return format_range(range); }
};
struct Levels {
    static bool parse(std::string_view text, std::string_view, std::string& out) {
        bool const fits = static_cast<bool>(topo::parse_hierarchy(text));
        if (fits) out = text;
        return fits;
    }
    static std::string values(std::string_view) { return "auto, flat, or some of l2, l3, numa and socket joined by +"; }
};
/// An invalid range is kept: replacing the user's ports by others would be wrong, so a job on several nodes fails
/// instead.
struct Ports {
    static bool parse(std::string_view text, std::string_view, std::string& out) {
        out = text;
        return parse_port_range(text).has_value();
    }
    static std::string values(std::string_view) { return "a port, or two with a hyphen such as 40000-40100"; }
};
struct Text {
    static bool parse(std::string_view text, std::string_view, std::string& out) { return out = text, true; }
    static std::string values(std::string_view) { return "any text"; }
};

}   // namespace types

std::string environment_name(std::string_view name) { return "TUTTI_" + topo::upper(name); }

std::optional<std::string_view> find_variable(char const* const* environment, std::string_view name) {
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment;
        if (entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    }
    return {};
}

/// Returns the end of a message, such as "it must be auto, dedicated or shared; did you mean dedicated?".
template <class Type>
std::string expected_value(std::string_view text, std::string_view range) {
    std::vector<std::string_view> words;
    any_range_part(range, [&](std::string_view part) { return words.push_back(part), false; });
    std::string const hint = std::is_same_v<Type, types::Word> ? topo::nearest_hint(text, words) : "";
    return join("it must be ", Type::values(range), hint);
}

template <class Type, class T>
void read_one(char const* const* environment, char const* name, std::string_view range, T& value,
              std::vector<std::string>& diagnostics) {
    auto const text = find_variable(environment, environment_name(name));
    if (!text || Type::parse(*text, range, value)) return;
    std::string const expected = expected_value<Type>(*text, range);
    std::string const instead =
        std::is_same_v<Type, types::Ports> ? "multi-node jobs cannot start" : join(to_text(value), " is used");
    diagnostics.push_back(
        join(environment_name(name), "=", *text, ": ", expected, expected.ends_with('?') ? " " : "; ", instead));
}

std::vector<std::string> known_names() {
    return {
#define VAR(group, type, name, ...) environment_name(#name),
#include "runtime/settings/variables.def"
#undef VAR
        launch::segment_variable, launch::segment_inode_variable, launch::rank_variable,       launch::listen_variable,
        launch::parent_variable,  launch::launcher_variable,      launch::coll_option_variable};
}

void report_unknown(char const* const* environment, std::vector<std::string>& diagnostics) {
    std::vector<std::string> known = known_names();
    std::vector<std::string_view> views(known.begin(), known.end());
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment, name = entry.substr(0, entry.find('='));
        if (name.substr(0, 6) != "TUTTI_" || std::find(views.begin(), views.end(), name) != views.end()) continue;
        diagnostics.push_back(join(name, " is not a variable of Tutti", topo::nearest_hint(name, known)));
    }
}

}   // namespace

Variables read_variables(char const* const* environment, std::vector<std::string>& diagnostics) {
    Variables v;
#define VAR(group, type, name, fallback, range, ...) \
    read_one<types::type>(environment, #name, range, v.name, diagnostics);
#include "runtime/settings/variables.def"
#undef VAR
    report_unknown(environment, diagnostics);
    return v;
}

std::vector<VariableRow> describe_variables(char const* const* environment) {
    std::vector<std::string> ignored;
    Variables now = read_variables(environment, ignored), fresh;
    std::vector<VariableRow> rows;
#define VAR(group, type, name, fallback, range, scope, description)                                           \
    rows.push_back({#group, environment_name(#name), #type, types::type::values(range), VariableScope::scope, \
                    to_text(now.name), to_text(fresh.name), "default", description});
#include "runtime/settings/variables.def"
#undef VAR
    for (VariableRow& row : rows) {
        auto const text = find_variable(environment, row.name);
        if (!text) continue;
        if (!is_valid_setting(row.name, *text)) row.invalid = *text;
        // An invalid text that is kept (Ports) is the value.
        if (!row.invalid || row.value == *text) row.origin = "environment";
    }
    return rows;
}

bool is_valid_setting(std::string_view name, std::string_view text) {
    Variables ignored;
#define VAR(group, type, field, fallback, range, ...) \
    if (name == environment_name(#field)) return types::type::parse(text, range, ignored.field);
#include "runtime/settings/variables.def"
#undef VAR
    return false;
}

std::uint64_t fingerprint(std::vector<std::string> const& diagnostics) {
    std::string all;
    for (std::string const& one : diagnostics) all += one + '\n';
    return all.empty() ? 0 : std::hash<std::string>{}(all);
}

}   // namespace tutti
