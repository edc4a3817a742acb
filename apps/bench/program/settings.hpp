// SPDX-License-Identifier: BSD-3-Clause
// The command line of the measuring program.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../options.hpp"
#include "operation.hpp"

namespace bench {

using apps::Option;

// The measuring program: one rank, from its arguments to its exit code.

std::string usage();         ///< how to start it
std::string description();   ///< its purpose, options and operations

/// Returns name and version of the MPI library.
std::string library_version();

struct Settings;

/// Returns the text that is requested. Throws std::invalid_argument if there is no such topic of the help.
using InformationText = std::function<std::string(apps::Information const&)>;

/// Calls MPI_Init and MPI_Finalize. Returns 0, 1 if a result was wrong, or 2 for invalid arguments.
int program(int argc, char** argv, InformationText const& information_text);

/// Replaces program() if the arguments are invalid: rank 0 prints `error`. Returns 2.
int reject_arguments(int argc, char** argv, std::string const& error);

constexpr int every_root = -1, every_rank = -1;

struct Settings {
    std::vector<std::string> operations;   ///< operations and groups; empty: the blocking or the nonblocking ones
    std::size_t smallest = 8, largest = 1 << 20;   ///< bytes; sizes double in between
    int iterations = 1000;
    int warmup = 20;
    double seconds = 1.0;   ///< at most, per row of the table
    int root = every_root;
    bool root_by_root = false;        ///< measure the roots one after the other instead of alternately
    std::vector<std::string> hints;   ///< "key=value" for MPI_Comm_dup_with_info: each adds a series
    int blocks = 0;   ///< in which series and roots alternate; 0: one if there is a single one, else ten
    bool csv = false;
    std::string json;              ///< file name; empty: none
    bool overlap = false;          ///< with a computation
    int tests = 0;                 ///< calls of MPI_Test during the computation
    double length = 1;             ///< of the computation, as a multiple of the communication
    int computes = every_rank;     ///< the rank that computes; the others start the operation and wait for it
    bool limit = false;            ///< also measure the kernels with the same memory traffic
    bool loop = false;             ///< also measure calls back to back
    bool bytes_per_call = false;   ///< also count the bytes that all ranks load and store in one call
    bool phases = false;           ///< also time the phases of hierarchical algorithms
    bool model = false;            ///< also measure messages inside nodes and between them
    Flavor window = Flavor::create;
    Sync sync = Sync::flush;
    int per_sync = 1;   ///< one-sided operations between two synchronizations
    bool check = true;
    bool cached = false;   ///< leave the buffers unchanged between iterations
    bool quiet = false;    ///< print only the results
    apps::Information information;
};

std::vector<Option> options_of(Settings& settings);

/// Return the name on the command line.
std::string name_of(Flavor flavor);
std::string name_of(Sync sync);

/// Parses the command line. Returns an error message, or an empty string.
std::string parse(std::vector<std::string> const& words, Settings& settings);

/// The message about a word that is neither an operation nor a group; it names the nearest one.
std::string unknown_operation(std::string const& word);

/// Adds the operation or group of this name. Returns an error message, or an empty string.
std::string add_operation(std::string const& word, Settings& settings);

/// Returns an error message if options exclude each other, or an empty string.
std::string check(Settings const& settings);

/// Returns an error message if this number of ranks is too small, or an empty string.
std::string check_ranks(Settings const& settings, int ranks);

/// Returns the sizes at which the operation is measured: a single 0 if it has none.
std::vector<std::size_t> sizes_of(Operation const& operation, Settings const& settings);

/// Returns the operations to measure, in the order of groups(): those in `names`, and those of groups of that name; if
/// there are none, the default group.
std::vector<Operation const*> chosen_operations(std::vector<std::string> const& names, Settings const& settings);

}   // namespace bench
