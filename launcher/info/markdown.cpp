// SPDX-License-Identifier: BSD-3-Clause
// The algorithms as a page of the tree: coll/ALGORITHMS.md is this text, and a test fails when it is another.
#include <sstream>

#include "launcher/info/report.hpp"

namespace tutti::info {
namespace {

/// A bar would end the cell.
std::string cell(std::string const& text) {
    std::string all;
    for (char c : text) all += c == '|' ? std::string("\\|") : std::string(1, c);
    return all;
}

/// Seen from coll/.
std::string file_of(AlgorithmText const& a) {
    char const* const where = a.two_groups ? "between_groups/"
                              : !a.on_node ? "between_nodes/"
                              : a.on_nodes ? "messages/"
                                           : "";
    return "algorithms/" + a.collective + "/" + where + a.name + ".cpp";
}

std::string parameters_of(AlgorithmText const& a) {
    std::string all;
    for (ParameterText const& p : a.parameters) {
        bool const plain = p.fallback.find(' ') == std::string::npos;   // else it is no word to be written
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

}   // namespace tutti::info
