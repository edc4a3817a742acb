// SPDX-License-Identifier: BSD-3-Clause
// The algorithms to compare, as tutti-info tells them.
#pragma once

#include "process.hpp"

#include <string>
#include <vector>

namespace bench {

struct Candidate {
    std::string operation;
    std::string name;   // "hierarchical:chunk=16K"
    std::string hint;   // "tutti_coll=bcast=hierarchical:chunk=16K"
    std::string family, sentence, source;
};

// Entries such as "bcast" (all its algorithms) and "bcast:slots". Throws Complaint for what there is not.
std::vector<Candidate> candidates_of(const std::vector<std::string> &entries, int ranks, const TemporaryFolder &folder);

} // namespace bench
