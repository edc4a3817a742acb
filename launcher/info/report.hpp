// SPDX-License-Identifier: BSD-3-Clause
// The report of tutti-info as plain data, and its output as text, JSON and Markdown. report.cpp collects the data,
// print.cpp formats it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coll/choice/cost.hpp"
#include "runtime/job/launcher_found.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::info {

/// A facility of the machine or the system that Tutti uses. Each one is tested here, not inferred from a version.
struct Facility {
    std::string name;
    bool available = false;   ///< it is available
    std::string detail;       ///< what was found, or why the facility is not available
    std::string use;          ///< what Tutti uses it for
};

std::vector<Facility> facilities();

/// A parameter of an algorithm: its name, default, description and permitted values.
struct ParameterText {
    std::string name, default_value, description, range;
};

/// A name for the algorithm with these parameters.
struct PresetText {
    std::string name, parameters;
};

/// One algorithm of a collective (coll::AlgorithmRow).
struct AlgorithmText {
    std::string collective, name, description, family, source;
    std::string file;   ///< relative to the root of the source tree
    std::vector<ParameterText> parameters;
    std::vector<PresetText> presets;
    std::optional<std::size_t> max_bytes;          ///< largest message, a power of two, that it accepts; none: no limit
    std::string requirements;                      ///< requirements on a call, as text; empty: none
    std::string bytes;                             ///< formula of the bytes loaded and stored; empty: not stated
    std::string time;                              ///< formula of the time in the model of messages; empty: not stated
    std::string where;                             ///< the communicators on which it runs, as text
    bool unequal_parts = true;                     ///< supports calls in which ranks do not know each other's sizes
    bool intercommunicator = false;                ///< for intercommunicators only
    bool single_node = true, multi_node = false;   ///< runs on one node, on several nodes
};

/// An algorithm that a variable requests for all calls of a collective that it supports.
struct RequestText {
    std::string collective, setting, origin;
};

/// The choice of algorithms as lines of a tuning file; the first matching line applies, unless one is requested.
struct Table {
    std::vector<RequestText> requested;
    std::string tuning;                       ///< the tuning file in force; empty: none
    std::vector<std::string> tuned_rules;     ///< lines of the tuning file
    std::vector<std::string> default_rules;   ///< lines of the default table, which follow those of the tuning file
    std::vector<std::string> diagnostics;     ///< diagnostics about the file
};

/// Why a call takes its algorithm.
struct Explanation {
    /// A setting that the choice considers, in order of preference.
    struct Candidate {
        std::string setting;    ///< "rg:degree=15"
        std::string origin;     ///< "coll/choice/table.def:23", "TUTTI_COLL"
        std::string rule;       ///< the line of the table or the file; empty: none
        std::string obstacle;   ///< why it cannot do the call; empty: it can
    };

    std::string call;   ///< "allreduce of 4K bytes on 8 ranks of one node that share 2 cores"
    std::string collective, algorithm;
    std::vector<ParameterText> parameters;   ///< of the algorithm, with their values as default values
    std::vector<Candidate> candidates;
    std::size_t chosen = 0;               ///< index of the candidate that runs
    std::string formula;                  ///< of the bytes loaded and stored; empty: not stated
    std::optional<std::uint64_t> bytes;   ///< its value for the call; none: not stated
    std::string time_formula;             ///< of the time in the model of messages; empty: not stated
    std::optional<double> time;           ///< its value in microseconds; none: not stated, or no --message-times
    std::vector<std::string> diagnostics;
};

/// One performance variable of MPI_T.
struct CounterText {
    std::string name, description;
};

/// Facilities, counters and data of the machine are set only for Part::everything, `table` for Part::table as well.
struct Report {
    std::string version, abi, machine;
    int usable_cores = 1, units = 1;   ///< units: processing units of the machine
    std::uint64_t memory = 0;          ///< bytes
    std::vector<Facility> facilities;
    std::vector<VariableRow> variables;
    std::vector<std::string> diagnostics;   ///< diagnostics about the environment
    std::vector<AlgorithmText> algorithms;
    std::vector<CounterText> counters;
    Table table;
    Explanation why;
    LauncherFound launcher;
};

enum class ReportPart { everything, variables, algorithms, table, why, launcher };

/// The call of --why.
struct CallRequest {
    enum class Operator { predefined, commutative, noncommutative };

    std::string collective;   ///< a valid name
    std::size_t bytes = 8;    ///< as in the table of choices
    int ranks = 2, nodes = 1, root = 0;
    Operator op = Operator::predefined;           ///< of a reduction; the others are the user's
    bool equal_parts = true;                      ///< every rank knows the size of each part
    std::optional<coll::MessageTimes> messages;   ///< for the time of the call
};

/// The request of the user.
struct InfoRequest {
    ReportPart part = ReportPart::everything;
    std::vector<std::string> collectives;   ///< collectives whose algorithms are listed; empty: all
    int ranks = 2;      ///< number of ranks for which the limits of the algorithms are computed, and of the call
    CallRequest call;   ///< of ReportPart::why
};

std::vector<std::string> collective_names();

Report collect_report(InfoRequest const& request);
/// Explains the choice for a call as a job started by mpiexec would make it. Throws std::runtime_error if there can be
/// no such job. `tuning`: the tuning file in force.
Explanation explain(CallRequest const& call, Variables const& variables, TuningFile const& tuning,
                    topo::Machine const& machine);
std::string as_text(Report const& report, ReportPart part);
std::string as_json(Report const& report, ReportPart part);
/// Returns the tables of coll/ALGORITHMS.md.
std::string as_markdown(Report const& report);

}   // namespace tutti::info
