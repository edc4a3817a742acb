// SPDX-License-Identifier: BSD-3-Clause
// Parses the values of settings as users write them, and their ranges as variables.def writes them. No allocation,
// because the arena reads its settings inside malloc.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "topo/text.hpp"

namespace tutti {

/// The overloads parse the whole text; if it is invalid, they return false. This one accepts 1, yes, on, true and 0,
/// no, off, false, ignoring letter case.
constexpr bool parse_setting(std::string_view text, bool& out) {
    auto is = [text](std::string_view word) {
        if (text.size() != word.size()) return false;
        for (std::size_t i = 0; i < word.size(); ++i)
            if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]) != word[i]) return false;
        return true;
    };
    if (is("1") || is("yes") || is("on") || is("true")) return out = true, true;
    if (is("0") || is("no") || is("off") || is("false")) return out = false, true;
    return false;
}

/// Accepts decimal numbers from 0.
inline bool parse_setting(std::string_view text, long& out) {
    auto const number = topo::parse_number<long>(text);
    if (number) out = *number;
    return number.has_value();
}

/// Accepts sizes in bytes: 4096, 64K, 2M, 1G, 1T.
inline bool parse_setting(std::string_view text, std::size_t& out) {
    auto const bytes = topo::parse_bytes(text);
    if (bytes) out = *bytes;
    return bytes.has_value();
}

/// Calls `use(part)` for each part of a range, separated by bars, until it returns true. Returns whether it did.
template <class Use>
constexpr bool any_range_part(std::string_view range, Use use) {
    while (!range.empty()) {
        std::size_t const bar = range.find('|');
        if (use(range.substr(0, bar))) return true;
        range.remove_prefix(bar == std::string_view::npos ? range.size() : bar + 1);
    }
    return false;
}

/// Returns true if a number is in a range such as "1..4" or "0|4K..64M".
template <class T>
bool in_range(std::string_view range, T value) {
    return any_range_part(range, [value](std::string_view part) {
        std::size_t const dots = part.find("..");
        T least{}, most{};
        parse_setting(part.substr(0, dots), least);
        if (dots != part.npos) part.remove_prefix(dots + 2);   // substr() would need the C++ library, for its exception
        parse_setting(part, most);
        return least <= value && value <= most;
    });
}
inline bool in_range(std::string_view, bool) { return true; }

/// Returns true if a word is in a list such as "auto|shared".
inline bool in_range(std::string_view range, std::string_view word) {
    return any_range_part(range, [word](std::string_view part) { return part == word; });
}

/// A value of TUTTI_PORT_RANGE: one port, or two joined by a hyphen. An empty text means any port (0).
struct PortRange {
    unsigned first = 0, last = 0;
};

/// Returns none if the text is not a range of ports from 1 to 65535.
inline std::optional<PortRange> parse_port_range(std::string_view text) {
    if (text.empty()) return PortRange{};
    auto const range = topo::parse_range(text);
    if (!range || range->first == 0 || range->last > 65535) return {};
    return PortRange{static_cast<unsigned>(range->first), static_cast<unsigned>(range->last)};
}

}   // namespace tutti
