// SPDX-License-Identifier: BSD-3-Clause
// Formats the report of tutti-info as text, JSON and Markdown.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "launcher/info/report.hpp"

// The list of algorithms as Markdown. coll/ALGORITHMS.md is this text; a test fails if the two differ.

namespace tutti::info {
namespace {

/// Escapes bars, which would end the cell.
std::string cell(std::string const& text) {
    std::string all;
    for (char c : text) all += c == '|' ? std::string("\\|") : std::string(1, c);
    return all;
}

/// Returns the path of the file relative to coll/.
std::string file_of(AlgorithmText const& a) { return a.file.substr(std::string_view("coll/").size()); }

std::string parameters_of(AlgorithmText const& a) {
    std::string all;
    for (ParameterText const& p : a.parameters) {
        // A default that contains a blank cannot be written as a value.
        bool const plain = p.fallback.find(' ') == std::string::npos;
        all += (all.empty() ? "`" : ", `") + p.name + (plain ? "=" + p.fallback : "") + "`";
    }
    return all;
}

}   // namespace

std::string as_markdown(Report const& r) {
    std::ostringstream out;
    out << "# All algorithms\n\n"
           "Made by `tutti-info --algorithms --markdown > coll/ALGORITHMS.md` from the records that\n"
           "[algorithms.def](algorithms/algorithms.def) lists. What each costs stands at the head of its file;\n"
           "`tutti-info --algorithms` explains the parameters.\n";
    std::string last;
    for (AlgorithmText const& a : r.algorithms) {
        if (a.collective != last)
            out << "\n## " << (last = a.collective)
                << "\n\n| algorithm | what it does | whose | source | where | needs | parameters |\n"
                   "|---|---|---|---|---|---|---|\n";
        out << "| [" << a.name << "](" << file_of(a) << ") | " << cell(a.sentence) << " | " << a.family << " | "
            << (a.source == a.family ? "" : cell(a.source)) << " | " << a.where << " | " << a.requirements << " | "
            << parameters_of(a) << " |\n";
    }
    return out.str();
}

namespace {

constexpr std::size_t width = 110;

/// Prints `text` wrapped at `width`, each line indented by `indent` blanks.
void print_indented(std::ostream& out, std::string const& text, std::size_t indent) {
    std::istringstream words(text);
    std::size_t at = 0;
    for (std::string word; words >> word; at += word.size() + 1) {
        if (at > 0 && at + word.size() > width) out << '\n', at = 0;
        if (at == 0) out << std::string(indent, ' '), at = indent;
        else out << ' ';
        out << word;
    }
    out << '\n';
}

void print_machine(std::ostream& out, Report const& r) {
    out << "Tutti " << r.version << "\nABI: " << r.abi << "\n\nMachine: " << r.machine << ", " << r.units
        << " processing units, " << r.usable_cores << " usable at a time, " << std::fixed << std::setprecision(1)
        << static_cast<double>(r.memory) / (1 << 30) << " GiB of memory\n\nFacilities:\n";
    for (Facility const& f : r.facilities) {
        std::string detail = f.detail.empty() ? "" : " (" + f.detail + ")";
        out << "  " << (f.there ? "yes  " : "no   ") << f.name << detail << ": " << f.use << "\n";
    }
    out << "\n";
}

void print_variables(std::ostream& out, Report const& r) {
    out << "Variables (environment), with value and default where that differs:\n";
    for (VariableRow const& v : r.variables) {
        out << "  " << v.name << " = " << (v.value.empty() ? "(empty)" : v.value) << "  [" << v.origin;
        if (v.value != v.fallback) out << "; default " << (v.fallback.empty() ? "(empty)" : v.fallback);
        out << "]\n";
        print_indented(out, v.sentence + " Values: " + v.range + ".", 6);
    }
    for (std::string const& complaint : r.complaints) out << "  ! " << complaint << ".\n";
}

void print_counters(std::ostream& out, Report const& r) {
    out << "Counters; mpiexec --stats prints them, and a program reads them as MPI_T's performance variables:\n";
    for (CounterText const& c : r.counters) print_indented(out, c.name + ": " + c.sentence, 2);
}

void print_algorithms(std::ostream& out, Report const& r) {
    out << "Algorithms; TUTTI_COLL=collective=algorithm chooses one:\n";
    std::string last;
    for (AlgorithmText const& a : r.algorithms) {
        if (a.collective != last) out << "  " << (last = a.collective) << "\n";
        std::string const from = (a.family == a.source ? "" : a.family + ": ") + a.source;
        print_indented(out, a.name + ": " + a.sentence + " [" + from + "; " + a.where + "]", 4);
        for (ParameterText const& p : a.parameters)
            print_indented(out, p.name + " = " + p.fallback + ": " + p.sentence + " (" + p.range + ")", 8);
    }
}

void print_table(std::ostream& out, Report const& r) {
    Table const& t = r.table;
    for (std::string const& complaint : t.complaints) out << "! " << complaint << ".\n";
    out << "Choices; the first line that fits a call holds. ";
    if (t.tuning.empty()) out << "There is no tuning file (tutti-tune makes one), so this is the default table:\n";
    else out << "The tuning file " << t.tuning << ":\n";
    for (std::string const& line : t.measured) out << "  " << line << "\n";
    if (!t.tuning.empty()) out << "Behind it, the default table:\n";
    for (std::string const& line : t.fallback) out << "  " << line << "\n";
}

nlohmann::ordered_json variables_json(Report const& r) {
    auto all = nlohmann::ordered_json::array();
    for (VariableRow const& v : r.variables)
        all.push_back({{"name", v.name},
                       {"group", v.group},
                       {"type", v.type},
                       {"range", v.range},
                       {"value", v.value},
                       {"default", v.fallback},
                       {"origin", v.origin},
                       {"sentence", v.sentence}});
    return all;
}

nlohmann::ordered_json algorithms_json(Report const& r) {
    auto all = nlohmann::ordered_json::array();
    for (AlgorithmText const& a : r.algorithms) {
        auto parameters = nlohmann::ordered_json::array();
        for (ParameterText const& p : a.parameters)
            parameters.push_back(
                {{"name", p.name}, {"default", p.fallback}, {"range", p.range}, {"sentence", p.sentence}});
        all.push_back({{"collective", a.collective},
                       {"name", a.name},
                       {"sentence", a.sentence},
                       {"family", a.family},
                       {"source", a.source},
                       {"parameters", parameters},
                       {"most_bytes", a.most_bytes ? nlohmann::ordered_json(*a.most_bytes) : nullptr},
                       {"unequal_parts", a.unequal_parts},
                       {"two_groups", a.two_groups},
                       {"where", a.where},
                       {"one_node", a.on_node},
                       {"several_nodes", a.on_nodes}});
    }
    return all;
}

nlohmann::ordered_json counters_json(Report const& r) {
    auto all = nlohmann::ordered_json::array();
    for (CounterText const& c : r.counters) all.push_back({{"name", c.name}, {"sentence", c.sentence}});
    return all;
}

nlohmann::ordered_json machine_json(Report const& r) {
    nlohmann::ordered_json all{{"version", r.version},           {"abi", r.abi},
                               {"machine", r.machine},           {"units", r.units},
                               {"usable_cores", r.usable_cores}, {"memory", r.memory}};
    auto facilities = nlohmann::ordered_json::array();
    for (Facility const& f : r.facilities)
        facilities.push_back({{"name", f.name}, {"there", f.there}, {"detail", f.detail}, {"use", f.use}});
    all["facilities"] = facilities;
    return all;
}

}   // namespace

std::string as_text(Report const& report, Part part) {
    std::ostringstream out;
    bool const everything = part == Part::everything;
    if (everything) print_machine(out, report);
    if (everything || part == Part::variables) print_variables(out, report);
    if (everything) out << "\n", print_counters(out, report), out << "\n";
    if (everything || part == Part::algorithms) print_algorithms(out, report);
    if (everything) out << "\n";
    if (everything || part == Part::table) print_table(out, report);
    return out.str();
}

std::string as_json(Report const& report, Part part) {
    nlohmann::ordered_json all;
    bool const everything = part == Part::everything;
    if (everything) all = machine_json(report);
    if (everything || part == Part::variables)
        all["variables"] = variables_json(report), all["complaints"] = report.complaints;
    if (everything) all["counters"] = counters_json(report);
    if (everything || part == Part::algorithms) all["algorithms"] = algorithms_json(report);
    if (everything || part == Part::table) {
        Table const& t = report.table;
        all["table"] = {
            {"tuning", t.tuning}, {"measured", t.measured}, {"default", t.fallback}, {"complaints", t.complaints}};
    }
    return all.dump(2) + "\n";
}

}   // namespace tutti::info
