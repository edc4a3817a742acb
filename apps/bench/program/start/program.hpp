// SPDX-License-Identifier: BSD-3-Clause
// The measuring program: one rank's way from its arguments to its exit code.
#pragma once

#include <string>

namespace bench {

std::string usage();       // how it is started
std::string description(); // what it does; its options; its operations

// Calls MPI_Init and MPI_Finalize. Returns 0, 1 where a result was wrong, 2 for wrong arguments. `help` is what --help
// prints.
int program(int argc, char **argv, const std::string &help);

// The same for a rank whose arguments are no good: rank 0 says why. Returns 2.
int refuse(int argc, char **argv, const std::string &complaint);

} // namespace bench
