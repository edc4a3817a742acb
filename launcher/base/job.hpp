// SPDX-License-Identifier: BSD-3-Clause
// A job as plain data: everything that the command line says. options.cpp fills it in, the rest of the launcher reads
// it.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "topo/binding/binding.hpp"

namespace tutti::launcher {

/// Why the launcher cannot do what it was asked to: a sentence without its full stop, and the exit code of mpiexec.
struct Complaint : std::runtime_error {
    explicit Complaint(std::string const& sentence, int code = 2) : std::runtime_error(sentence), exit_code(code) {}
    int exit_code;
};

/// What a rank's environment is made of: what it inherits from mpiexec, and what is set on top.
struct EnvironmentRules {
    enum class Inherit { unsaid, all, none, listed };
    Inherit inherit = Inherit::unsaid;
    std::vector<std::string> list;
    std::vector<std::pair<std::string, std::string>> set;
};

struct Host {
    std::string name;
    int slots = 0;   ///< 0: not said
    int most = 0;    ///< ranks that it may have; 0: any number
};

/// One line of a rank file.
struct RankPlace {
    int rank = 0;
    std::string host;
    std::string slots;   ///< its cores, as the file has them; empty: not bound
};

/// How the hosts of a job are sorted before ranks are dealt out.
enum class HostOrder { as_named, ascending, descending };

/// One program between two colons.
struct Program {
    std::vector<std::string> command;
    int ranks = 0;           ///< 0: not said
    std::string directory;   ///< empty: where mpiexec was started
    std::string path;        ///< folders in which the program is searched for before those of PATH
    EnvironmentRules environment;
    std::vector<Host> hosts;   ///< empty: those of the job
};

/// Who reads the standard input of mpiexec.
struct InputTo {
    enum class Kind { none, one, all };
    Kind kind = Kind::one;
    int rank = 0;
};

struct Job {
    std::vector<Program> programs;
    EnvironmentRules environment;   ///< of all programs; a program's own rules come on top
    std::vector<Host> hosts;        ///< empty: this node
    int per_node = 0;               ///< 0: not said
    std::string agent;              ///< what starts a daemon on another node, with its arguments; empty: ssh
    std::string daemon;             ///< the daemon's file there; empty: where ours is

    std::string resource_manager;   ///< the one whose nodes are taken; user: none; empty: whichever is there
    std::string interface;          ///< that ranks of several nodes are to use; TUTTI_NETWORK says it to them
    bool only_here = false;         ///< no other node, whoever names some
    bool never_here = false;        ///< no rank on this node
    HostOrder order = HostOrder::as_named;

    std::optional<topo::BindTo> bind;   ///< none: as the placement finds best
    topo::MapBy map;
    bool span = false;                    ///< ranks are to be dealt out over the units of all nodes
    bool rank_by_node = false;            ///< ranks are numbered across nodes, wherever they have been dealt to
    std::string rank_file;                ///< empty: none
    bool rank_file_wanted = false;        ///< by --map-by rankfile, which may leave its name to --rankfile
    std::string rank_map;                 ///< the host's index for each rank, as MPICH writes it; empty: none
    bool sequential = false;              ///< rank i goes to the i-th line of sequence_file, or the i-th host named
    std::string sequence_file;            ///< empty: the hosts
    std::string map_file;                 ///< of --map-by, until it is known what kind of file it is
    std::vector<RankPlace> rank_places;   ///< from one of these
    std::string default_host_file;        ///< read where no host is named; empty: none
    std::vector<int> cpus;                ///< the only processing units of each node to be used; empty: all
    bool cpus_in_order = false;           ///< each rank is bound to one of them
    bool report_bindings = false, no_oversubscribe = false;
    bool show_map = false, show_allocation = false;

    bool debugger = false;       ///< in the windows
    std::vector<int> windows;    ///< ranks that get one; −1: all
    bool keep_windows = false;   ///< after the end of the rank

    InputTo input;
    std::string prefix;          ///< that each line begins with, with %r and so on in it
    bool timestamps = false;     ///< that each line begins with before that
    bool merge_errors = false;   ///< standard error goes where standard output goes
    std::string out_pattern, err_pattern;
    int output_from = -1;       ///< the only rank whose output is shown; −1: all are
    bool on_terminal = false;   ///< a daemon's output goes to a terminal in the end

    int gpus_per_rank = -1;       ///< −1: ranks see the GPUs that mpiexec sees
    bool index_argv = false;      ///< the program's first argument ends with its rank
    bool do_not_launch = false;   ///< show what was asked for, and start nothing
    std::string report_pid;       ///< where mpiexec writes its process number: -, + or a file; empty: nowhere

    std::chrono::milliseconds timeout{0};   ///< 0: none
    std::string explain;                    ///< the code of a report whose page is printed; empty: none
    bool json_messages = false;             ///< reports are lines of JSON
    bool stand_on_deadlock = false;         ///< a deadlock is told, and the job kept for a debugger
    bool quiet = false, verbose = false;
    bool exit_codes = false;   ///< of all ranks are told
    bool keep_going = false;   ///< the other ranks go on when one fails
    bool statistics = false;
    std::string report_file, trace_file;      ///< to be written at the end; empty: none
    std::uint64_t traced_events = 1u << 18;   ///< of each rank, the last ones
    bool traced() const { return !report_file.empty() || !trace_file.empty(); }
    bool drop_in = false;
    std::optional<bool> preload_arena;   ///< none: where a program needs it
    bool show_hierarchy = false, show_help = false, show_version = false;
    std::string help_topic;             ///< empty: all options
    std::vector<std::string> notes;     ///< sentences about options, for mpiexec to tell before the start
    std::vector<std::string> remarks;   ///< those that only --verbose shows: options that change nothing here

    int ranks() const {
        int sum = 0;
        for (Program const& p : programs) sum += p.ranks;
        return sum;
    }

    bool has_program() const { return !programs.empty() && !programs.front().command.empty(); }

    /// Ranks that each node is to get; 0: as many as it has slots.
    int slots_per_node() const { return per_node > 0 ? per_node : map.unit == topo::Unit::node ? map.per_unit : 0; }
};

}   // namespace tutti::launcher
