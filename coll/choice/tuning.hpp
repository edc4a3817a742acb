// SPDX-License-Identifier: BSD-3-Clause
// Tables of choices as text that people can edit. A line holds for calls of a collective within its limits:
//     allreduce  one_node  ranks<=8  levels>=2  bytes<=64K  hierarchical:chunk=16K     # a comment
// Limits may be left out and stand in any order; where a line holds is one_node, shared_cores, several_nodes or
// between_groups, else anywhere. The first line that fits, and whose algorithm can do the call, holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/choice/choose.hpp"

namespace tutti::coll {

/// What a line without a limit has in its place.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// The rules in a text. Lines that are wrong are left out and become sentences: "NAME:12: …".
std::vector<Rule> parse_rules(std::string_view text, std::string_view name, std::vector<std::string>& complaints);
/// A rule as a line, in columns, without a line break.
std::string text_of(Rule const& rule);

}   // namespace tutti::coll
