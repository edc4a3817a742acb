// SPDX-License-Identifier: BSD-3-Clause
// Reading words from options and variables: trimming, lower and upper case, splitting, numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topo {

std::string_view trimmed(std::string_view text);
// Of the letters of ASCII, in every locale.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

// The parts between any of the separators, each trimmed; empty parts stay (they are mistakes worth naming).
std::vector<std::string> split_words(std::string_view text, std::string_view separators);

// A whole word that is a number from 0 to a million.
std::optional<int> whole_number(std::string_view word);

}   // namespace tutti::topo
