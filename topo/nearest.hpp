// SPDX-License-Identifier: BSD-3-Clause
// Finds the name that the user probably meant. Needs only the standard library, because it is also compiled with the
// wrappers of other MPIs (apps/options.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::topo {

/// Returns the least number of characters to insert, delete or replace, and of neighbours to exchange, that turns one
/// word into the other.
inline std::size_t edit_distance(std::string_view word, std::string_view other) {
    std::vector<std::size_t> before, above, row(other.size() + 1);   // distances to the beginnings of `other`
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= other.size(); ++j) {
            row[j] = std::min({row[j - 1] + 1, above[j] + 1, above[j - 1] + (word[i - 1] != other[j - 1])});
            bool const exchanged = i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1];
            if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

/// Returns the candidate (of a range of strings) with the smallest edit distance to `word`, or an empty string if more
/// than a third of `word` differs.
template <class Candidates>
std::string nearest(std::string_view word, Candidates const& candidates) {
    std::string best;
    std::size_t least = word.size() / 3 + 1;
    for (auto const& candidate : candidates)
        if (const std::size_t distance = edit_distance(word, candidate); distance < least)
            least = distance, best = std::string(candidate);
    return best;
}

/// Returns "; did you mean NAME?" for the nearest candidate, or an empty string.
template <class Candidates>
std::string nearest_hint(std::string_view word, Candidates const& candidates) {
    const std::string near = nearest(word, candidates);
    return near.empty() ? near : "; did you mean " + near + "?";
}

}   // namespace tutti::topo
