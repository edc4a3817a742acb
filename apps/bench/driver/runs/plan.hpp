// SPDX-License-Identifier: BSD-3-Clause
// The driver's command line: its own options, and those that it passes on to the measuring program.
#pragma once

#include "../../program/start/settings.hpp"

#include <string>
#include <vector>

namespace bench {

struct Plan {
    int ranks = 2, most_ranks = 2;       // the number doubles in between; as many as there are cores, at least two
    int cores = 1;                       // that this process may use
    std::string binding;                 // what -bind-to of every launcher gets; empty: what suits the number of ranks
    std::vector<std::string> algorithms; // "allreduce" or "allreduce:xhc:chunk=16K"
    std::vector<std::string> settings;   // "TUTTI_EAGER=4K TUTTI_SHARE=64K"
    std::vector<std::string> against;    // "mpich", "openmpi", or a wrapper's path
    std::vector<std::string> from;       // files; nothing is measured then
    std::string plot;
    int rounds = 3;
    double timeout = 0;                  // seconds for one run; 0: by what is measured
    Settings measuring;
    std::vector<std::string> words;      // the measuring program's, as they were given

    bool growing() const { return most_ranks > ranks; }
    std::vector<int> numbers_of_ranks() const;
    std::string binding_of(int number_of_ranks) const;
    bool comparing() const { return !algorithms.empty() || !settings.empty() || !against.empty() || !from.empty(); }
};

Plan read_plan(const std::vector<std::string> &words); // throws Complaint

// The first word that only the driver understands, for ranks that find it on their command line; else empty.
std::string first_driver_option(const std::vector<std::string> &words);

std::string full_help();

} // namespace bench
