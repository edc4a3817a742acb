// SPDX-License-Identifier: BSD-3-Clause
// tutti-info: prints the version of Tutti, what it detects on this machine, and its settings and algorithms.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "apps/manual.hpp"
#include "launcher/base/text.hpp"
#include "launcher/info/report.hpp"
#include "runtime/base/error.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

namespace {

using namespace tutti::info;
using tutti::join;
using tutti::launcher::print;

constexpr int most_ranks = 1 << 20;

/// What the command line requests.
struct CommandLine {
    InfoRequest request;
    bool json = false, markdown = false;
    std::string call_option;   ///< an option that only --why uses; empty: none is given
    apps::Information information;
};

/// Throws std::invalid_argument, with the nearest name or all of them, if there is no collective of this name.
void check_collective(std::string const& word) {
    std::vector<std::string> const names = collective_names();
    if (std::ranges::find(names, word) != names.end()) return;
    std::string all;
    for (std::string const& name : names) all += (all.empty() ? "; these are: " : ", ") + name;
    std::string const hint = tutti::topo::nearest_hint(word, names);
    throw std::invalid_argument(join(word, " is not a collective", hint.empty() ? all : hint));
}

/// Adds the collectives in `text` ("bcast,reduce"). Throws std::invalid_argument if a name is unknown.
void add_collectives(std::string const& text, InfoRequest& request) {
    for (std::string const& word : tutti::topo::split_words(text, ",")) {
        check_collective(word);
        request.collectives.push_back(word);
    }
}

bool read_message_times(std::string const& text, tutti::coll::MessageTimes& times) {
    constexpr double most = 1e12;
    auto const read_line = [](std::string const& from, tutti::coll::MessageTimes::Line& to) {
        std::vector<std::string> const numbers = tutti::topo::split_words(from, ":");
        return numbers.size() == 2 && apps::read_number(numbers[0], 0.0, most, to.latency) &&
               apps::read_number(numbers[1], 0.0, most, to.per_byte);
    };
    std::vector<std::string> const parts = tutti::topo::split_words(text, ",");
    bool const has_alpha = parts.size() == 3;
    return (has_alpha || parts.size() == 2) && read_line(parts[0], times.inside) &&
           read_line(parts[1], times.between) && (!has_alpha || apps::read_number(parts[2], 0.0, 1.0, times.alpha));
}

/// The options of --why, which describe a call.
std::vector<apps::Option> call_options(CommandLine& line) {
    using enum CallRequest::Operator;
    InfoRequest& request = line.request;
    CallRequest& call = request.call;
    return {
        {"--why", "COLLECTIVE", "the name of a collective such as allreduce",
         "Print which algorithm a call takes, by which setting or line of a table, and why others are passed over. "
         "The call is described by --bytes, -n, --nodes, --root, --op, --unequal and --message-times.",
         [&request](std::string const& text) {
             check_collective(text);
             request.part = ReportPart::why;
             request.call.collective = text;
             return true;
         },
         "Why a call takes its algorithm"},
        {"--bytes", "SIZE", "a number of bytes such as 4096, 4K or 1M",
         "With --why: the size of the message (default: 8).",
         [&](std::string const& text) {
             line.call_option = "--bytes";
             auto const bytes = tutti::topo::parse_bytes(text);
             call.bytes = bytes.value_or(0);
             return bytes.has_value();
         }},
        {"--nodes", "N", join("a number of nodes from 1 to ", most_ranks),
         "With --why: the number of nodes (default: 1).",
         [&](std::string const& text) {
             line.call_option = "--nodes";
             auto const nodes = tutti::topo::parse_number(text, 1, most_ranks);
             call.nodes = nodes.value_or(1);
             return nodes.has_value();
         }},
        {"--root", "RANK", "the number of a rank", "With --why: the root (default: 0).",
         [&](std::string const& text) {
             line.call_option = "--root";
             auto const root = tutti::topo::parse_number(text, 0, most_ranks - 1);
             call.root = root.value_or(0);
             return root.has_value();
         }},
        {"--op", "KIND", "commutative or noncommutative",
         "With --why: the operator of a reduction is user-defined, and commutative or noncommutative.",
         [&](std::string const& text) {
             line.call_option = "--op";
             call.op = text == "commutative" ? commutative : noncommutative;
             return text == "commutative" || text == "noncommutative";
         }},
        {"--message-times", "INSIDE,BETWEEN[,ALPHA]", "times such as 0.5:0.0002,20:0.001 or 0.5:0.0002,20:0.001,0.3",
         "With --why: what messages take inside nodes (on one node: inside the parts of its outermost level) and "
         "between them, each LATENCY:PER_BYTE in microseconds, and the time of the second of two messages from the "
         "same rank as a part of that of the first (default: 1/3). The time of the call is printed by the model "
         "of Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, if the algorithm states it.",
         [&](std::string const& text) {
             line.call_option = "--message-times";
             return read_message_times(text, call.messages.emplace());
         }},
        {"--unequal", "", "", "With --why: the parts of the ranks have unequal sizes.", [&](auto&) {
             line.call_option = "--unequal";
             call.equal_parts = false;
             return true;
         }}};
}

/// An option without an argument that selects a part of the report.
apps::Option part_option(std::string const& name, ReportPart part, CommandLine& line, std::string const& description,
                         std::string const& summary) {
    return {name, "", "", description, [&line, part](auto&) { return line.request.part = part, true; }, summary};
}

std::vector<apps::Option> options_of(CommandLine& line) {
    InfoRequest& request = line.request;
    std::vector<apps::Option> all{
        part_option("--variables", ReportPart::variables, line,
                    "Print the settings (TUTTI_…) with value, origin and meaning.", "The settings (TUTTI_…)"),
        {"--algorithms", "[COLLECTIVES]", "collectives such as bcast,reduce",
         "Print the algorithms of each collective, or of these collectives, with their parameters.",
         [&request](std::string const& text) {
             request.part = ReportPart::algorithms;
             if (!text.empty()) add_collectives(text, request);
             return true;
         },
         "The algorithms of each collective"},
        part_option("--table", ReportPart::table, line,
                    "Print the choice of algorithms: the current tuning file and the default table.",
                    "Which calls use which algorithm"),
        part_option("--launcher", ReportPart::launcher, line,
                    "Print which launcher has started this process, by which variables, the interfaces that it offers, "
                    "and what a program does in MPI_Init: start it in place of the program.",
                    "The launcher, and how programs join its job"),
        apps::switch_option("--json", line.json,
                            "Print JSON, for programs; may be combined with the other options. It also contains the "
                            "largest message of each algorithm.",
                            "JSON, for programs"),
        apps::switch_option("--markdown", line.markdown, "Print the algorithms as Markdown tables."),
        {"--ranks -n", "N", join("a number of ranks from 1 to ", most_ranks),
         "The number of ranks of --why, and of the largest messages of --json (default: 2).",
         [&request](std::string const& text) {
             auto const ranks = tutti::topo::parse_number(text, 1, most_ranks);
             request.ranks = ranks.value_or(0);
             return ranks.has_value();
         }},
    };
    for (apps::Option& option : call_options(line)) all.push_back(std::move(option));
    for (apps::Option& option : apps::information_options(line.information)) all.push_back(std::move(option));
    return all;
}

/// Returns the settings, each with its valid values and its default.
std::vector<apps::Entry> variables() {
    std::vector<apps::Entry> all;
    for (tutti::VariableRow const& row : tutti::describe_variables(nullptr))
        all.push_back({row.name, "",
                       join(row.description, " Values: ", row.range,
                            "; default: ", row.fallback.empty() ? "empty" : row.fallback, ".")});
    return all;
}

apps::Manual manual() {
    CommandLine line;
    apps::Manual all;
    all.name = "tutti-info";
    all.purpose = "prints the version of Tutti, what it detects on this machine, its settings and algorithms";
    all.usage = {"tutti-info [OPTION…]"};
    all.description =
        "Without an option, it prints version, ABI, machine, facilities, variables, counters, algorithms "
        "and choices. Variables are read from the environment, so the output shows the values for a rank.";
    all.examples = {{"tutti-info --algorithms bcast,reduce", "the algorithms of two collectives"},
                    {"tutti-info --why allreduce --bytes 4K -n 8", "which algorithm a call takes, and why"},
                    {"TUTTI_WAIT=shared tutti-info --variables", "the values of variables for a rank"},
                    {"tutti-info --algorithms --json --ranks 64", "also the largest messages among 64 ranks"}};
    all.sections = {{"options", "Options", "", apps::entries_of(options_of(line)), apps::Section::Kind::options},
                    {"exit-codes", "Exit status", "0; 1 if the output cannot be written; 2 for an invalid option."},
                    {"variables", "Environment",
                     "An invalid value is reported, and the default is used. A size may end in K, M, G or T.",
                     variables(), apps::Section::Kind::reference}};
    all.see_also = "mpiexec(1), tutti-bench(1), tutti-tune(1)";
    return all;
}

int run(std::vector<std::string> const& words) {
    CommandLine line;
    apps::parse_options(options_of(line), words);
    if (line.information.requested()) return print("tutti-info", apps::information_text(manual(), line.information));
    if (!line.call_option.empty() && line.request.part != ReportPart::why)
        throw std::invalid_argument(line.call_option + " describes the call of --why, which is missing");
    line.request.call.ranks = line.request.ranks;
    Report const report = collect_report(line.request);
    if (line.markdown) return print("tutti-info", as_markdown(report));
    ReportPart const part = line.request.part;
    return print("tutti-info", line.json ? as_json(report, part) : as_text(report, part));
}

}   // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (std::invalid_argument const& error) {
        return apps::print_error("tutti-info", error.what(), 2);
    } catch (std::exception const& error) { return apps::print_error("tutti-info", error.what(), 1); }
}
