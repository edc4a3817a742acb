// SPDX-License-Identifier: BSD-3-Clause
// The comparison that the driver makes: its plan (the command line), its candidates (algorithms, other MPIs), and the
// rounds of measurements.
#pragma once

#include "../program/settings.hpp"
#include "process.hpp"
#include "results.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

/// What the command line requests.
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
    double timeout = 0;       ///< seconds for one run; 0: computed from what is measured
    double alpha = 1.0 / 3;   ///< of the model
    Settings measuring;
    std::vector<std::string> arguments;   ///< the measuring program's arguments, as given

    bool growing() const { return max_ranks > ranks; }
    std::vector<int> numbers_of_ranks() const;
    std::string binding_of(int number_of_ranks) const;
    /// True if the driver measures in rounds and prints the results; otherwise the measuring program prints them.
    bool in_rounds() const {
        return growing() || !algorithms.empty() || !settings.empty() || !against.empty() || !result_files.empty() ||
               !plot.empty() || measuring.bytes_per_call || measuring.model;
    }
};

Plan read_plan(std::vector<std::string> const& words);   ///< throws BenchError

/// Returns the first argument that only the driver understands, for ranks that find it on their command line; else
/// empty.
std::string first_driver_option(std::vector<std::string> const& words);

/// The options of the driver; those of the measuring program are passed on to it.
std::vector<Option> driver_options(Plan& plan);

/// Seconds per line and round, unless --seconds is given.
constexpr double seconds_in_rounds = 0.2;

/// The text of -h, --help or --version. Throws std::invalid_argument if there is no such topic.
std::string information_text(apps::Information const& requested);

/// An algorithm to compare, as reported by tutti-info.
struct Candidate {
    std::string operation;
    std::string name;        ///< "hierarchical:chunk=16K"
    std::string hint;        ///< "tutti_coll=bcast=hierarchical:chunk=16K"
    std::string algorithm;   ///< the name that the library reports if it runs
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

/// Another MPI.
struct OtherMpi {
    std::string name;                ///< for messages and tables
    std::string wrapper, launcher;   ///< paths of mpicxx and mpiexec
    std::string program = "";        ///< the measuring program that the wrapper has built
};

/// Measures several programs, settings and MPIs alternately, round by round, at each number of ranks. Prints first, to
/// `introduction`, what is compared, how, and at most how long it takes; builds the measuring program with the other
/// MPIs. Throws BenchError if nothing can be measured.
Measured measure_rounds(Plan const& plan, std::vector<Candidate> const& candidates, std::ostream& introduction,
                        TemporaryFolder const& folder);

/// Finds "mpich", "openmpi", or the mpicxx with this path, whose mpiexec is in the same folder. Throws BenchError,
/// naming the Debian package that provides what is missing.
OtherMpi find_mpi(std::string const& word);

/// Builds the measuring program with the MPI's wrapper, or uses the one that it built earlier from the same files and
/// that the user's cache folder still has. Returns which of both, for the introduction. Throws BenchError.
std::string build_with(OtherMpi const& mpi, std::string const& executable, TemporaryFolder const& folder);

/// Returns the environment in which any MPI starts more ranks than cores, also as root, without confirmation.
std::vector<std::string> environment_for_any_mpi();

}   // namespace bench
