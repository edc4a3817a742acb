// SPDX-License-Identifier: BSD-3-Clause
// Runs a list of cases on the ranks of one world.
#pragma once

#include <functional>

#include "tests/coll/world/checks.hpp"

namespace tutti::coll::test {

/// Teams of 2, 4, 8 ranks, as many levels as fit; `mixed` deals the ranks out instead, so that teams are not
/// consecutive.
topo::Hierarchy make_tree(int ranks, int levels, bool mixed = false);

/// Runs `body(rank)` on threads and returns when all have ended. An exception that leaves it ends the program after a
/// line with `describe()`, and so does a state in which that has not changed for minutes.
void run_threads(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe);

/// The same for the ranks of a suite; reports its failures. `ranks`: if some take no part in the cases.
void run_ranks(Suite& suite, std::function<void(int)> const& body, int ranks = 0);

/// All cases of the suite, as one rank of it. `arena`: where the rank has its messages; null: nowhere special.
void run_cases(Suite& suite, int rank, Execute const& execute, Arena* arena = nullptr);

/// Reports the failures of a suite, and prints how many cases it had.
void report(Suite const& suite);

}   // namespace tutti::coll::test
