// SPDX-License-Identifier: BSD-3-Clause
// Parsing of options and variables: trimming, lower and upper case, splitting, numbers.
#pragma once

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

/// Parses the whole of `word` as a number from 0 to 1000000; returns none if it is anything else.
std::optional<int> whole_number(std::string_view word);

}   // namespace tutti::topo
