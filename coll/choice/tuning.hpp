// SPDX-License-Identifier: BSD-3-Clause
// Tuning files: tables of choices as text that people can edit. A line applies to calls of a collective within its
// limits:
//     allreduce  one_node  ranks<=8  levels>=2  bytes<=64K  hierarchical:chunk=16K     # a comment Limits are optional
// and may be in any order; that of bytes is a power of two or one less. The kind of communicator is one_node,
// shared_cores, several_nodes or between_groups; without it the line applies to all kinds. The first line that matches
// a call, and whose algorithm can do it, is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/choice/choose.hpp"

namespace tutti::coll {

/// The value of a limit that a line does not mention.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// Parses the rules of a text. Invalid lines are left out and reported in `diagnostics` as "NAME:12: …".
std::vector<Rule> parse_rules(std::string_view text, std::string_view name, std::vector<std::string>& diagnostics);
/// Writes a rule as a line in columns, without a line break.
std::string text_of(Rule const& rule);

}   // namespace tutti::coll
