// SPDX-License-Identifier: BSD-3-Clause
// Parses and writes tuning files.
#include "coll/choice/tuning.hpp"

#include <bit>

#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
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
    if (!find_collective(words[0], rule.collective)) return join(words[0], " is not a collective");
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
