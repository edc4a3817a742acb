// SPDX-License-Identifier: BSD-3-Clause
// A job as plain data: everything that the command line specifies. options.cpp fills it in; the rest of the launcher
// reads it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "topo/binding.hpp"

namespace tutti::launcher {

/// Thrown when the launcher cannot carry out a request. what() is a message without its full stop; `exit_code` is the
/// exit code of mpiexec.
struct LaunchError : std::runtime_error {
    explicit LaunchError(std::string const& message, int code = 2) : std::runtime_error(message), exit_code(code) {}
    int exit_code;
};

/// The environment of a rank: which variables it inherits from mpiexec, and which are set in addition.
struct EnvironmentRules {
    enum class Inherit { unspecified, all, none, listed };
    Inherit inherit = Inherit::unspecified;
    std::vector<std::string> list;   ///< names of the inherited variables if `inherit` is `listed`
    std::vector<std::pair<std::string, std::string>> set;   ///< name and value
};

/// A host that the user names, on the command line or in a host file.
struct Host {
    std::string name;
    int slots = 0;       ///< 0: not specified
    int max_ranks = 0;   ///< maximum number of ranks; 0: no limit
};

/// One line of a rank file.
struct RankFileEntry {
    int rank = 0;
    std::string host;
    std::string slots;   ///< the cores of the rank, as the file lists them; empty: not bound
};

/// The order in which the hosts of a job receive ranks.
enum class HostOrder { as_named, ascending, descending };

/// One program of the command line, which separates programs by colons.
struct Program {
    std::vector<std::string> command;   ///< program and arguments
    int ranks = 0;                      ///< 0: not specified
    std::string directory;              ///< empty: the working directory of mpiexec
    std::string path;   ///< folders, in the form of PATH, that are searched for the program before those of PATH
    EnvironmentRules environment;
    std::vector<Host> hosts;   ///< empty: the hosts of the job
};

/// Which ranks read the standard input of mpiexec.
struct InputTarget {
    enum class Kind { none, one, all };
    Kind kind = Kind::one;
    int rank = 0;   ///< the rank that reads if `kind` is `one`
};

struct Job {
    std::vector<Program> programs;
    EnvironmentRules environment;          ///< of all programs; a program's own rules are applied after these
    std::vector<Host> hosts;               ///< empty: this node
    bool hosts_may_be_starting = false;    ///< try again if one cannot be reached yet (hosts_of_variables)
    std::vector<std::string> host_files;   ///< files that options name
    int per_node = 0;                      ///< ranks per node; 0: not specified
    std::string agent;    ///< command that starts a daemon on another node, with its arguments; empty: ssh
    std::string daemon;   ///< path of the daemon there; empty: same folder as here

    /// Resource manager whose allocation is used; "user": none; empty: the one that is detected.
    std::string resource_manager;
    std::string interface;        ///< network interface for ranks of several nodes, passed to them in TUTTI_NETWORK
    bool local_only = false;      ///< use no other node, even if hosts are named
    bool exclude_local = false;   ///< start no rank on this node
    HostOrder order = HostOrder::as_named;

    std::optional<topo::BindTo> bind;   ///< none: the placement decides
    topo::MapBy map;
    bool span = false;                 ///< distribute ranks over the units of all nodes
    bool rank_by_node = false;         ///< number ranks across nodes, independently of their placement
    std::string rank_file;             ///< empty: none
    bool rank_file_required = false;   ///< --map-by rankfile was given; its file may be named by --rankfile
    std::string rank_map;              ///< host index of each rank in MPICH's notation; empty: none
    bool sequential = false;           ///< rank i runs on the i-th line of sequence_file, or on the i-th host
    std::string sequence_file;         ///< empty: the list of hosts is used
    std::string map_file;              ///< file named by --map-by, until its kind is known
    std::vector<RankFileEntry> rank_file_entries;   ///< read from one of these files
    std::string default_host_file;                  ///< read if no host is named; empty: none
    std::vector<int> cpus;        ///< processing units of each node to which ranks are restricted; empty: all
    bool cpus_in_order = false;   ///< bind each rank to one of `cpus`
    bool report_bindings = false, no_oversubscribe = false;
    bool show_map = false, show_allocation = false;

    bool debugger = false;       ///< run a debugger in the windows
    std::vector<int> windows;    ///< ranks that get a terminal window; −1: all
    bool keep_windows = false;   ///< keep a window open after its rank has ended

    InputTarget input;
    std::string prefix;                     ///< printed before each output line; may contain patterns such as %r
    bool timestamps = false;                ///< print the date and time before the prefix
    bool merge_errors = false;              ///< redirect standard error to standard output
    std::string out_pattern, err_pattern;   ///< names of output files, may contain patterns; empty: no file
    int output_from = -1;                   ///< the only rank whose output is shown; −1: all ranks
    bool on_terminal = false;               ///< the output of a daemon eventually goes to a terminal

    int gpus_per_rank = -1;       ///< −1: ranks see the GPUs that mpiexec sees
    bool index_argv = false;      ///< append the rank to the first argument of the program
    bool do_not_launch = false;   ///< print what was requested, but start nothing
    std::string report_pid;       ///< where mpiexec writes its process ID: -, + or a file; empty: nowhere

    std::chrono::milliseconds timeout{0};   ///< 0: none
    std::optional<std::string> explain;     ///< code of the diagnostic to be explained
    bool json_messages = false;             ///< print reports as lines of JSON
    bool keep_on_deadlock = false;          ///< on deadlock, report it and keep the job alive for a debugger
    bool quiet = false, verbose = false;
    bool exit_codes = false;                  ///< print the exit codes of all ranks
    bool keep_going = false;                  ///< let the other ranks continue when one fails
    bool statistics = false;                  ///< print counters at the end (--stats)
    bool statistics_as_json = false;          ///< as JSON instead of tables (--stats=json)
    std::string statistics_file;              ///< for that JSON; empty: standard error
    std::string report_file, trace_file;      ///< written at the end of the job; empty: none
    std::uint64_t traced_events = 1u << 18;   ///< per rank; older events are discarded
    bool traced() const { return !report_file.empty() || !trace_file.empty(); }
    bool drop_in = false;                ///< load our MPI library instead of the one that programs were linked with
    std::optional<bool> preload_arena;   ///< load our allocation functions; none: only where a program needs them
    bool show_hierarchy = false, show_help = false, show_version = false;
    bool short_help = false;   ///< show_help: only the common options
    std::string help_topic;    ///< empty: all options
    std::map<std::string, std::string, std::less<>>
        given_names;                          ///< the option's first name: the name that was used last
    std::vector<std::string> notes;           ///< messages about options, printed before the start
    std::vector<std::string> verbose_notes;   ///< messages printed only with --verbose: options without effect here

    int ranks() const {
        int sum = 0;
        for (Program const& p : programs) sum += p.ranks;
        return sum;
    }

    bool has_program() const { return !programs.empty() && !programs.front().command.empty(); }

    /// Returns the number of ranks that each node is to get, or 0 for as many as it has slots.
    int slots_per_node() const { return per_node > 0 ? per_node : map.unit == topo::Unit::node ? map.per_unit : 0; }
};

}   // namespace tutti::launcher
