// SPDX-License-Identifier: BSD-3-Clause
// The comparison that the driver makes: its candidates (algorithms, other MPIs), and the rounds of measurements.
#pragma once

#include <string>
#include <vector>

#include "growth.hpp"
#include "plan.hpp"
#include "process.hpp"

namespace bench {

/// An algorithm to compare, as reported by tutti-info.
struct Candidate {
    std::string operation;
    std::string name;   ///< "hierarchical:chunk=16K"
    std::string hint;   ///< "tutti_coll=bcast=hierarchical:chunk=16K"
    std::string family, description, source;
};

/// Returns the algorithms of entries such as "bcast" (all its algorithms) and "bcast:slots". Throws BenchError if an
/// entry does not exist.
std::vector<Candidate> candidates_of(std::vector<std::string> const& entries, int ranks, TemporaryFolder const& folder);

/// The results of a comparison.
struct Measured {
    Growth growth;         ///< of each run the median of the rounds, and the least and the greatest of all times
    bool failed = false;   ///< an error occurred and has been reported
};

/// Measures several programs, settings and MPIs alternately, round by round, at each number of ranks. Throws BenchError
/// if nothing can be measured.
Measured measure_rounds(Plan const& plan, std::vector<Candidate> const& candidates, TemporaryFolder const& folder);

/// The measuring program under another MPI.
struct OtherMpi {
    std::string name;                ///< for messages and tables
    std::string wrapper, launcher;   ///< paths of mpicxx and mpiexec
};

/// Finds "mpich", "openmpi", or the mpicxx with this path, whose mpiexec is in the same folder. Throws BenchError,
/// naming the Debian package that provides what is missing.
OtherMpi find_mpi(std::string const& word);

/// Builds the measuring program with the MPI's wrapper, and returns the executable. Throws BenchError.
std::string build_with(OtherMpi const& mpi, std::string const& executable, TemporaryFolder const& folder);

/// Returns the environment in which any MPI starts more ranks than cores, also as root, without confirmation.
std::vector<std::string> environment_for_any_mpi();

}   // namespace bench
