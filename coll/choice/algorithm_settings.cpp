// SPDX-License-Identifier: BSD-3-Clause
// Text form of algorithms and their parameters, as users write them into TUTTI_COLL, info keys and tuning files, and
// the rules of tuning files.
#include <algorithm>
#include <bit>
#include <utility>

#include "coll/choice/choose.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
namespace {

AlgorithmRow const* find_algorithm(Collective collective, std::string_view name) {
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective && a.name == name) return &a;
    return nullptr;
}

Parameter const* find_parameter(AlgorithmRow const& algorithm, std::string_view name) {
    for (Parameter const& p : algorithm.parameters)
        if (p.name == name) return &p;
    return nullptr;
}

template <class List, class Name>
std::string joined(List const& list, Name name) {
    std::string all;
    for (auto const& entry : list) all += (all.empty() ? "" : ", ") + std::string(name(entry));
    return all;
}

/// Returns the end of a message about an unknown name: the nearest one, or after `introduction` all of them.
std::string names_hint(std::string_view name, char const* introduction, std::vector<char const*> const& names) {
    std::string const hint = topo::nearest_hint(name, names);
    return hint.empty() ? introduction + joined(names, [](char const* one) { return one; }) : hint;
}

std::string collective_hint(std::string_view name) {
    std::vector<char const*> names;
    for (int c = 0; c < collectives; ++c) names.push_back(name_of(static_cast<Collective>(c)));
    return names_hint(name, "; the collectives are ", names);
}

std::string algorithm_hint(Collective collective, std::string_view name) {
    std::vector<char const*> names;
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective) names.push_back(a.name);
    for (Preset const& p : presets())
        if (find_algorithm(collective, p.algorithm)) names.push_back(p.name.data());
    return names_hint(name, "; it has ", names);
}

/// Splits `text` at the first of the characters `ends`: returns the part before it and leaves the part after it in
/// `text`.
std::string_view cut(std::string_view& text, std::string_view ends) {
    std::size_t end = text.find_first_of(ends);
    std::string_view head = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return head;
}

/// Finds the index of `word` in a list such as "one|packed|apart". Returns false if it is not there.
bool find_keyword(std::string_view keywords, std::string_view word, std::size_t& index) {
    for (index = 0; !keywords.empty(); ++index)
        if (cut(keywords, "|") == word) return true;
    return false;
}

struct Bounds {
    std::size_t min, max;
};
/// Bounds of numbers and of sizes in bytes. Beyond them the arithmetic with steps and ranks would overflow. A fragment
/// has a larger lower bound because each is an operation.
constexpr Bounds bounds_of(ParameterKind kind) {
    constexpr std::size_t tera = std::size_t{1} << 40;
    if (kind == ParameterKind::number || kind == ParameterKind::numbers) return {1, 4096};
    return {kind == ParameterKind::fragment ? std::size_t{4096} : 1, tera};
}

/// A parameter being parsed, and the setting that receives it.
struct ParameterParser {
    Setting& setting;
    std::size_t number;
    std::string_view text;   ///< after the "="

    Parameter const& parameter() const { return setting.algorithm->parameters[number]; }
    /// Stores the value. Returns what is wrong with the text, or an empty string.
    std::string parse() {
        switch (parameter().kind) {
        case ParameterKind::numbers:
        case ParameterKind::per_level: return parse_per_level();
        case ParameterKind::keyword: return parse_keyword();
        case ParameterKind::hierarchy: return parse_levels();
        default: return parse_number();
        }
    }

private:
    bool parse_value(std::string_view one, std::size_t& value) const {
        Bounds const bounds = bounds_of(parameter().kind);
        value = topo::parse_bytes(one).value_or(0);
        return value >= bounds.min && value <= bounds.max;   // no minimum is 0
    }
    std::string parse_number() {
        std::size_t value = 0;
        if (!parse_value(text, value))
            return join("expected ", parameter().kind == ParameterKind::number ? "a number" : "a size such as 16K",
                        " from ", range_of(parameter()));
        setting.values.set(number, value);
        return {};
    }
    std::string parse_per_level() {
        std::string_view rest = text;
        Values values = setting.values;
        for (int level = 0; level < max_levels && (level == 0 || !rest.empty()); ++level) {
            std::size_t value = 0;
            if (!parse_value(cut(rest, "+"), value)) {
                bool const numbers = parameter().kind == ParameterKind::numbers;
                return join("expected ", numbers ? "numbers" : "sizes", " from ", range_of(parameter()),
                            ", one per level, innermost first, such as ", numbers ? "2+4" : "16K+64K");
            }
            values.set(number, value, level);
        }
        if (!rest.empty()) return join("there are at most ", max_levels, " levels");
        setting.values = values;
        return {};
    }
    std::string parse_keyword() {
        std::size_t index = 0;
        if (!find_keyword(parameter().keywords, text, index)) return join("expected one of ", parameter().keywords);
        setting.values.set(number, index);
        return {};
    }
    std::string parse_levels() {
        auto levels = topo::parse_hierarchy(text);
        if (!levels) return levels.error();
        setting.has_levels = true;
        setting.levels = *levels;
        return {};
    }
};

void parse_parameter(std::string_view word, Setting& setting, std::string_view origin,
                     std::vector<std::string>& diagnostics) {
    std::string_view value = word, name = cut(value, "=");
    AlgorithmRow const& a = *setting.algorithm;
    if (Parameter const* const found = find_parameter(a, name)) {
        std::string const wrong =
            ParameterParser{setting, static_cast<std::size_t>(found - a.parameters.data()), value}.parse();
        if (!wrong.empty()) diagnostics.push_back(join(origin, ": ", word, ": ", wrong));
        return;
    }
    std::string const known = joined(a.parameters, [](Parameter const& p) { return p.name; });
    diagnostics.push_back(join(origin, ": ", name_of(a.collective), " ", a.name, " has no parameter ", name,
                               known.empty() ? "" : "; it has " + known));
}

std::string keyword_at(std::string_view keywords, std::size_t index) {
    for (; index > 0; --index) cut(keywords, "|");
    return std::string(cut(keywords, "|"));
}

/// Returns one size or number per level; the last one also applies to all levels further out.
std::string text_per_level(Values const& values, std::size_t number) {
    int last = max_levels - 1;
    while (last > 0 && values.at(number, last) == values.at(number, last - 1)) --last;
    std::string all = text_of(values.at(number, 0));
    for (int level = 1; level <= last; ++level) all += "+" + text_of(values.at(number, level));
    return all;
}

bool is_default(Setting const& setting, std::size_t number) {
    Parameter const& p = setting.algorithm->parameters[number];
    if (p.kind == ParameterKind::hierarchy) return !setting.has_levels;
    for (int level = 0; level < max_levels; ++level)
        if (setting.values.at(number, level) != p.default_value) return false;
    return true;
}

}   // namespace

std::string text_of(std::size_t bytes) {
    constexpr std::pair<int, char const*> units[] = {{40, "T"}, {30, "G"}, {20, "M"}, {10, "K"}};
    for (auto const& [shift, unit] : units)
        if (bytes != 0 && bytes % (std::size_t{1} << shift) == 0) return join(bytes >> shift, unit);
    return std::to_string(bytes);
}

std::string range_of(Parameter const& p) {
    if (p.kind == ParameterKind::keyword) return p.keywords;
    if (p.kind == ParameterKind::hierarchy) return "auto, flat, or a sum of l2, l3, numa, socket and node";
    Bounds const bounds = bounds_of(p.kind);
    bool const number = p.kind == ParameterKind::number || p.kind == ParameterKind::numbers;
    return number ? join(bounds.min, " to ", bounds.max) : join(text_of(bounds.min), " to ", text_of(bounds.max));
}

std::string text_of_default(Parameter const& p) {
    switch (p.kind) {
    case ParameterKind::number: return std::to_string(p.default_value);
    case ParameterKind::keyword: return keyword_at(p.keywords, p.default_value);
    case ParameterKind::hierarchy: return "the communicator's";
    default: return text_of(p.default_value);
    }
}

std::string text_of_value(Setting const& setting, std::size_t number) {
    Parameter const& p = setting.algorithm->parameters[number];
    switch (p.kind) {
    case ParameterKind::number: return std::to_string(setting.values[number]);
    case ParameterKind::keyword: return keyword_at(p.keywords, setting.values[number]);
    case ParameterKind::numbers:
    case ParameterKind::per_level: return text_per_level(setting.values, number);
    case ParameterKind::hierarchy: return setting.has_levels ? topo::to_string(setting.levels) : text_of_default(p);
    case ParameterKind::bytes:
    case ParameterKind::own_fragment:
    case ParameterKind::fragment: break;
    }
    return text_of(setting.values[number]);
}

std::string text_of(Setting const& setting) {
    std::string all = setting.algorithm->name;
    char before = ':';
    for (std::size_t i = 0; i < setting.algorithm->parameters.size(); ++i) {
        if (is_default(setting, i)) continue;
        all += join(before, setting.algorithm->parameters[i].name, "=", text_of_value(setting, i));
        before = ',';
    }
    return all;
}

bool find_collective(std::string_view name, Collective& collective) {
    for (int c = 0; c < collectives; ++c)
        if (name == name_of(static_cast<Collective>(c))) return collective = static_cast<Collective>(c), true;
    return false;
}

Setting defaults(AlgorithmRow const& a) {
    Setting s;
    s.algorithm = &a;
    s.values = default_values(a.parameters);
    return s;
}

Setting parse_setting(Collective collective, std::string_view text, std::string_view origin,
                      std::vector<std::string>& diagnostics) {
    std::string_view const name = cut(text, ":,");
    auto const preset = std::ranges::find(presets(), name, &Preset::name);
    bool const is_preset = preset != presets().end();
    AlgorithmRow const* algorithm = find_algorithm(collective, is_preset ? preset->algorithm : name);
    if (!algorithm) {
        std::string const has_not = name.empty() ? " needs the name of an algorithm" : join(" has no algorithm ", name);
        diagnostics.push_back(join(origin, ": ", name_of(collective), has_not, algorithm_hint(collective, name)));
        return {};
    }
    Setting setting = defaults(*algorithm);
    if (is_preset) parse_parameters(preset->parameters, setting, origin, diagnostics);
    parse_parameters(text, setting, origin, diagnostics);
    return setting;
}

void parse_parameters(std::string_view text, Setting& setting, std::string_view origin,
                      std::vector<std::string>& diagnostics) {
    while (!text.empty()) parse_parameter(cut(text, ":,"), setting, origin, diagnostics);
}

void Settings::parse(Collective collective, std::string_view text, std::string_view origin,
                     std::vector<std::string>& diagnostics) {
    if (text.empty()) return;
    Setting const setting = parse_setting(collective, text, origin, diagnostics);
    if (!setting.algorithm) return;
    requested[static_cast<std::size_t>(collective)] = setting;
    origins[static_cast<std::size_t>(collective)] = origin;
}

void Settings::parse(std::string_view text, std::string_view origin, std::vector<std::string>& diagnostics) {
    Setting* last = nullptr;
    while (!text.empty()) {
        std::string_view const word = cut(text, ",");
        std::string_view rest = word, head = cut(rest, "=");
        Collective collective;
        if (word.empty()) continue;
        if (find_collective(head, collective)) {
            Setting const setting = parse_setting(collective, rest, origin, diagnostics);
            last = setting.algorithm ? &(requested[static_cast<std::size_t>(collective)] = setting) : nullptr;
            if (last) origins[static_cast<std::size_t>(collective)] = origin;
        } else if (last && find_parameter(*last->algorithm, head)) {
            parse_parameter(word, *last, origin, diagnostics);
        } else {
            std::string const nor = last ? join(" a parameter of ", last->algorithm->name, " nor") : "";
            diagnostics.push_back(join(origin, ": ", head, nor.empty() ? " is not" : " is neither", nor,
                                       " a collective", collective_hint(head)));
        }
    }
}

// Tuning files: tables of choices as text.

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string_view> words;
    line = line.substr(0, line.find('#'));
    for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != std::string_view::npos;) {
        std::size_t const end = std::min(line.find_first_of(blanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

/// Stores the value if the text was valid. Returns whether it was.
bool store(std::optional<std::size_t> const& value, std::size_t& out) {
    if (value) out = *value;
    return value.has_value();
}

/// Stores "bytes<=64K" or "one_node" in the rule. Returns what is wrong with it, or an empty string.
std::string parse_limit(std::string_view word, Rule& rule) {
    for (CommKind const comm_kind :
         {CommKind::one_node, CommKind::shared_cores, CommKind::several_nodes, CommKind::between_groups})
        if (word == name_of(comm_kind)) return rule.comm_kind = comm_kind, "";
    auto value_after = [&](std::string_view key) { return word.substr(key.size()); };
    constexpr std::string_view ranks = "ranks<=", levels = "levels>=", bytes = "bytes<=";
    if (word.starts_with(ranks))
        return store(topo::parse_number<std::size_t>(value_after(ranks), 1), rule.ranks)
                   ? ""
                   : join(word, ": expected a number of ranks");
    if (word.starts_with(levels))
        return store(topo::parse_number<std::size_t>(value_after(levels), 1), rule.levels)
                   ? ""
                   : join(word, ": expected a number of levels");
    if (!word.starts_with(bytes))
        return join(word,
                    " is not a limit; the limits are one_node, shared_cores, several_nodes, between_groups, ranks<=N, ",
                    "levels>=N and bytes<=N");
    if (!store(topo::parse_bytes(value_after(bytes)), rule.bytes)) return join(word, ": expected a size such as 64K");
    // All sizes between two powers of two get one algorithm (DecisionCache).
    if (!std::has_single_bit(rule.bytes) && !std::has_single_bit(rule.bytes + 1))
        return join(word, ": expected a power of two such as 4K or 8K, or one less than that");
    return {};
}

/// Parses a line. Returns what is wrong with it, or an empty string.
std::string parse_rule(std::vector<std::string_view> const& words, Rule& rule) {
    rule.comm_kind = CommKind::any_kind;
    rule.ranks = rule.bytes = no_limit;
    rule.levels = 1;
    if (!find_collective(words[0], rule.collective))
        return join(words[0], " is not a collective", collective_hint(words[0]));
    if (words.size() == 1) return join("the algorithm of ", words[0], " must be at the end of the line");
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
        if (std::string wrong = parse_limit(words[i], rule); !wrong.empty()) return wrong;
    std::vector<std::string> diagnostics;
    rule.setting = parse_setting(rule.collective, words.back(), {}, diagnostics);
    if (!diagnostics.empty()) return diagnostics.front().substr(2);   // without the leading ": "
    if (!rule.setting.algorithm->runs_on(rule.comm_kind))
        return join(words[0], " ", rule.setting.algorithm->name,
                    " never runs on communicators of this kind: ", name_of(rule.comm_kind));
    return {};
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size() + 2), ' ');
    return text;
}

}   // namespace

std::vector<Rule> parse_rules(std::string_view text, std::string_view name, std::vector<std::string>& diagnostics) {
    std::vector<Rule> rules;
    for (int number = 1; !text.empty(); ++number) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::vector<std::string_view> const words = words_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (words.empty()) continue;
        Rule rule{};
        rule.line = number;
        std::string const wrong = parse_rule(words, rule);
        if (wrong.empty()) rules.push_back(rule);
        else diagnostics.push_back(join(name, ":", number, ": ", wrong));
    }
    return rules;
}

std::string text_of(Rule const& rule) {
    std::string line = padded(name_of(rule.collective), 16);
    line += padded(rule.comm_kind == CommKind::any_kind ? "" : name_of(rule.comm_kind), 16);
    line += padded(rule.ranks == no_limit ? "" : join("ranks<=", rule.ranks), 12);
    line += padded(rule.levels <= 1 ? "" : join("levels>=", rule.levels), 12);
    line += padded(rule.bytes == no_limit ? "" : "bytes<=" + text_of(rule.bytes), 14);
    return line + text_of(rule.setting);
}

}   // namespace tutti::coll
