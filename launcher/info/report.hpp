// SPDX-License-Identifier: BSD-3-Clause
// Everything that tutti-info knows, as plain data and in its two forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/info/facilities.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::info {

struct ParameterText {
    std::string name, fallback, sentence, range;
};

struct AlgorithmText {
    std::string collective, name, sentence, family, source;
    std::vector<ParameterText> parameters;
    std::optional<std::size_t> most_bytes;   ///< of a message that it can take; none: any
    std::string requirements;                ///< what a call must offer, in words; empty: nothing
    std::string where;                       ///< on which communicators it runs, in words
    bool unequal_parts = true;               ///< can do calls in which ranks do not know each other's sizes
    bool two_groups = false;                 ///< for intercommunicators, and for these alone
    bool on_node = true, on_nodes = false;   ///< runs on one node, on several
};

/// Which algorithm runs when, as lines of a tuning file; the first that fits holds.
struct Table {
    std::string tuning;                    ///< the tuning file in force; empty: there is none
    std::vector<std::string> measured;     ///< its lines
    std::vector<std::string> fallback;     ///< those of the default table, which come behind
    std::vector<std::string> complaints;   ///< about the file
};

/// One of MPI_T's performance variables.
struct CounterText {
    std::string name, sentence;
};

struct Report {
    std::string version, abi, machine;
    int usable_cores = 1, units = 1;
    std::uint64_t memory = 0;   ///< bytes
    std::vector<Facility> facilities;
    std::vector<VariableRow> variables;
    std::vector<std::string> complaints;   ///< about the environment
    std::vector<AlgorithmText> algorithms;
    std::vector<CounterText> counters;
    Table table;
};

enum class Part { everything, variables, algorithms, table };

/// What is asked for.
struct Question {
    Part part = Part::everything;
    std::vector<std::string> collectives;   ///< whose algorithms; empty: all
    int ranks = 2;                          ///< for which the algorithms' limits are told
};

/// The names of all collectives.
std::vector<std::string> collective_names();

Report make_report(Question const& question);
std::string as_text(Report const& report, Part part);
std::string as_json(Report const& report, Part part);
/// The algorithms as the tables of coll/ALGORITHMS.md.
std::string as_markdown(Report const& report);

}   // namespace tutti::info
