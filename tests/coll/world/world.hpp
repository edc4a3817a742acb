// SPDX-License-Identifier: BSD-3-Clause
// Runs a list of cases on the ranks of one world.
#pragma once

#include <functional>

#include "tests/coll/world/checks.hpp"

namespace tutti::coll::test {

/// Teams of 2, 4, 8 ranks, with as many levels as fit; `mixed` distributes ranks round robin, so that teams are not
/// consecutive.
topo::Hierarchy make_tree(int ranks, int levels, bool mixed = false);

/// Runs `body(rank)` on threads and returns when all have ended. If an exception leaves a body, or if `describe()` does
/// not change for minutes, prints a line with `describe()` and ends the program.
void run_threads(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe);

/// Runs `body(rank)` for the ranks of a suite and reports its failures. `ranks`: if some take no part in the cases.
void run_ranks(Suite& suite, std::function<void(int)> const& body, int ranks = 0);

/// Runs all cases of the suite as one rank. `arena`: memory for the rank's messages; null: ordinary memory.
void run_cases(Suite& suite, int rank, Execute const& execute, Arena* arena = nullptr);

/// Reports the failures of a suite, and prints how many cases it had.
void report(Suite const& suite);

}   // namespace tutti::coll::test
