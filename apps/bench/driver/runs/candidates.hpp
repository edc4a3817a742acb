// SPDX-License-Identifier: BSD-3-Clause
// The algorithms to compare, as tutti-info tells them.
#pragma once

#include "process.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Candidate {
    std::string operation;
    std::string name;   // "hierarchical:chunk=16K"
    std::string hint;   // "tutti_coll=bcast=hierarchical:chunk=16K"
    std::string family, sentence, source;
    std::optional<std::size_t> most_bytes; // of a message that it takes; none: any
    bool unequal_parts;                    // takes calls in which ranks do not know each other's sizes
};

// Entries such as "bcast" (all its algorithms) and "bcast:slots". Throws Complaint for what there is not.
std::vector<Candidate> candidates_of(const std::vector<std::string> &entries, int ranks, const TemporaryFolder &folder);

// Whether the algorithm does such a call, or leaves it to another one.
bool can_do(const Candidate &candidate, std::size_t bytes, int ranks);

} // namespace bench
