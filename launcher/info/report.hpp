// SPDX-License-Identifier: BSD-3-Clause
// The report of tutti-info as plain data, and its output as text, JSON and Markdown. report.cpp collects the data,
// print.cpp formats it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// One algorithm of a collective (coll::AlgorithmRow).
struct AlgorithmText {
    std::string collective, name, description, family, source;
    std::string file;   ///< relative to the root of the source tree
    std::vector<ParameterText> parameters;
    std::optional<std::size_t> max_bytes;          ///< largest message, a power of two, that it accepts; none: no limit
    std::string requirements;                      ///< requirements on a call, as text; empty: none
    std::string where;                             ///< the communicators on which it runs, as text
    bool unequal_parts = true;                     ///< supports calls in which ranks do not know each other's sizes
    bool intercommunicator = false;                ///< for intercommunicators only
    bool single_node = true, multi_node = false;   ///< runs on one node, on several nodes
};

/// The choice of algorithms as lines of a tuning file; the first matching line applies.
struct Table {
    std::string tuning;                       ///< the tuning file in force; empty: none
    std::vector<std::string> tuned_rules;     ///< lines of the tuning file
    std::vector<std::string> default_rules;   ///< lines of the default table, which follow those of the tuning file
    std::vector<std::string> diagnostics;     ///< diagnostics about the file
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
};

enum class ReportPart { everything, variables, algorithms, table };

/// The request of the user.
struct InfoRequest {
    ReportPart part = ReportPart::everything;
    std::vector<std::string> collectives;   ///< collectives whose algorithms are listed; empty: all
    int ranks = 2;                          ///< number of ranks for which the limits of the algorithms are computed
};

std::vector<std::string> collective_names();

Report collect_report(InfoRequest const& request);
std::string as_text(Report const& report, ReportPart part);
std::string as_json(Report const& report, ReportPart part);
/// Returns the tables of coll/ALGORITHMS.md.
std::string as_markdown(Report const& report);

}   // namespace tutti::info
