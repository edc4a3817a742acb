// SPDX-License-Identifier: BSD-3-Clause
// Parsing of options and variables: trimming, lower and upper case, splitting, numbers, sizes, lists of numbers. The
// functions defined here do not allocate, because the arena reads its settings inside malloc.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topo {

/// Returns the text without spaces, tabs and line feeds at both ends.
std::string_view trimmed(std::string_view text);
/// Both convert ASCII letters only, in every locale.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// Returns the parts between any of the separators, each trimmed. Empty parts are kept, because the caller reports them
/// as errors.
std::vector<std::string> split_words(std::string_view text, std::string_view separators);

/// Parses the whole text as a decimal number from `least` to `most`; returns none if it is anything else.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, Number least = 0,
                                   Number most = std::numeric_limits<Number>::max()) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || value < least || value > most) return std::nullopt;
    return value;
}

/// Parses a number from 0 to 1000000, such as that of a rank or a processing unit.
inline std::optional<int> whole_number(std::string_view text) { return parse_number(text, 0, 1000000); }

/// Parses the value of a variable, null if that is not set. Returns −1 for anything but a number from 0 on.
inline int variable_number(char const* value) { return value ? parse_number<int>(value).value_or(-1) : -1; }

/// Parses a size in bytes: 4096, 64K, 2M, 1G, 1T.
inline std::optional<std::size_t> parse_bytes(std::string_view text) {
    constexpr std::string_view units = "KMGTkmgt";
    const std::size_t unit = text.empty() ? units.npos : units.find(text.back());
    const std::size_t shift = unit == units.npos ? 0 : 10 * (unit % 4 + 1);
    if (shift > 0) text.remove_suffix(1);
    const auto value = parse_number<std::size_t>(text, 0, std::numeric_limits<std::size_t>::max() >> shift);
    if (!value) return std::nullopt;
    return *value << shift;
}

struct NumberRange {
    int first, last;
};

/// Parses "4" or "2-5"; the numbers are those of whole_number().
inline std::optional<NumberRange> parse_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = whole_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return NumberRange{*first, *last};
}

struct NumberList {
    std::vector<int> numbers;
    bool valid;   ///< false: `numbers` are those before the first part that is not a range
};

/// Expands ranges separated by commas, such as "0-3,8", to at most 2^20 numbers.
NumberList parse_number_list(std::string_view text);

/// Returns the number of each rank's node, at most 2^20 ranks, from MPICH's list of them, such as "0,0,1", or in blocks
/// of first node, number of nodes and ranks on each, "(0,2,2),2"; also inside "(vector,…)". Returns none for any other
/// text and for a list without a rank.
std::optional<std::vector<int>> parse_rank_map(std::string_view text);

}   // namespace tutti::topo
