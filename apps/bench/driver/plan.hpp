// SPDX-License-Identifier: BSD-3-Clause
// The driver's command line: its own options, and those that it passes on to the measuring program.
#pragma once

#include "../program/settings.hpp"

#include <string>
#include <vector>

namespace bench {

struct Plan {
    int ranks = 2, max_ranks = 2;   ///< the number doubles in between; default: the number of cores, at least two
    int cores = 1;                  ///< cores that this process may use
    std::string binding;            ///< argument of every launcher's -bind-to; empty: chosen by the number of ranks
    std::vector<std::string> algorithms;     ///< "allreduce" or "allreduce:xhc:chunk=16K"
    std::vector<std::string> settings;       ///< "TUTTI_EAGER=4K TUTTI_SHARE=64K"
    std::vector<std::string> against;        ///< "mpich", "openmpi", or the path of a wrapper
    std::vector<std::string> result_files;   ///< result files; if there are any, nothing is measured
    std::string plot;
    int rounds = 3;
    double timeout = 0;   ///< seconds for one run; 0: computed from what is measured
    Settings measuring;
    std::vector<std::string> arguments;   ///< the measuring program's arguments, as given

    bool growing() const { return max_ranks > ranks; }
    std::vector<int> numbers_of_ranks() const;
    std::string binding_of(int number_of_ranks) const;
    bool comparing() const {
        return !algorithms.empty() || !settings.empty() || !against.empty() || !result_files.empty();
    }
};

Plan read_plan(std::vector<std::string> const& words);   ///< throws BenchError

/// Returns the first argument that only the driver understands, for ranks that find it on their command line; else
/// empty.
std::string first_driver_option(std::vector<std::string> const& words);

std::string full_help();

}   // namespace bench
