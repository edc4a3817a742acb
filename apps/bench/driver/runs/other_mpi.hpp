// SPDX-License-Identifier: BSD-3-Clause
// The measuring program under another MPI.
#pragma once

#include "process.hpp"

#include <string>
#include <vector>

namespace bench {

struct OtherMpi {
    std::string name;              // for people
    std::string wrapper, launcher; // paths of mpicxx and mpiexec
};

// "mpich", "openmpi", or the path of an mpicxx whose mpiexec lies beside it. Throws Complaint, with the Debian package
// that has what is missing.
OtherMpi find_mpi(const std::string &word);

// Builds the measuring program with its wrapper, and returns the executable. Throws Complaint.
std::string build_with(const OtherMpi &mpi, const std::string &executable, const TemporaryFolder &folder);

// What it needs in the environment to start more ranks than cores, as root, without being asked.
std::vector<std::string> environment_for_any_mpi();

} // namespace bench
