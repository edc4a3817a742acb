// SPDX-License-Identifier: BSD-3-Clause
// tutti-info: prints the version of Tutti, what it detects on this machine, and its settings and algorithms.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <sstream>
#include <string_view>

#include "launcher/base/text.hpp"
#include "launcher/info/report.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/text.hpp"

namespace {

using namespace tutti::info;
using tutti::launcher::print;

constexpr char help[] = R"(tutti-info prints the version of Tutti and what it detects on this machine.

    tutti-info                    version, ABI, machine, facilities, variables, algorithms, choices
    tutti-info --variables        the settings (TUTTI_…) with value, origin and meaning
    tutti-info --algorithms       the algorithms of each collective, with their parameters
    tutti-info --algorithms bcast,reduce    only those of these collectives
    tutti-info --table            the choice of algorithms: the current tuning file and the default table
    tutti-info --json             the same for programs; may be combined with the other options. Also contains the
                                  largest message of each algorithm among 2 ranks, or among --ranks N
    tutti-info --algorithms --markdown      the algorithms as Markdown tables
    tutti-info --version

Variables are read from the environment: TUTTI_WAIT=shared tutti-info --variables shows the values for a rank.
)";

int report_usage_error(std::string const& what, std::string_view word, std::span<std::string_view const> known,
                       std::string const& fallback_hint) {
    std::string const near = tutti::nearest(word, known);
    std::fprintf(stderr, "tutti-info: %s%s\n", what.c_str(),
                 (near.empty() ? "; " + fallback_hint + "." : "; did you mean " + near + "?").c_str());
    return 2;
}

int report_unknown_option(std::string_view word) {
    constexpr std::string_view known[] = {"--variables", "--algorithms", "--table",   "--json",
                                          "--markdown",  "--ranks",      "--version", "--help"};
    return report_usage_error(std::string(word) + " is not an option", word, known, "--help lists them");
}

/// Adds the collectives in `text` ("bcast,reduce") to `question`. Returns 0, or the exit code if a name is unknown.
int parse_collectives(std::string const& text, InfoRequest& request) {
    std::vector<std::string> const names = collective_names();
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        if (std::ranges::find(names, word) == names.end()) {
            std::vector<std::string_view> const known(names.begin(), names.end());
            std::string all;
            for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
            return report_usage_error(word + " is not a collective", word, known, "these are: " + all);
        }
        request.collectives.push_back(word);
    }
    return 0;
}

bool parse_ranks(char const* text, InfoRequest& request) {
    auto const ranks = tutti::topo::parse_number(text, 1, 1 << 20);
    request.ranks = ranks.value_or(0);
    return ranks.has_value();
}

int run(int argc, char** argv) {
    InfoRequest request;
    bool json = false, markdown = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        bool const followed = i + 1 < argc && argv[i + 1][0] != '-';
        if (word == "--help" || word == "-h") return print("tutti-info", help);
        if (word == "--version" || word == "-V") return print("tutti-info", "Tutti " TUTTI_VERSION "\n");
        if (word == "--variables") request.part = ReportPart::variables;
        else if (word == "--table") request.part = ReportPart::table;
        else if (word == "--json") json = true;
        else if (word == "--markdown") markdown = true;
        else if (word == "--ranks") {
            if (!followed || !parse_ranks(argv[++i], request))
                return report_usage_error("--ranks needs a number of ranks", {}, {}, "see --help");
        } else if (word == "--algorithms") {
            request.part = ReportPart::algorithms;
            if (followed)
                if (int const code = parse_collectives(argv[++i], request)) return code;
        } else return report_unknown_option(word);
    }
    Report report = collect_report(request);
    if (markdown) return print("tutti-info", as_markdown(report));
    return print("tutti-info", json ? as_json(report, request.part) : as_text(report, request.part));
}

}   // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "tutti-info: %s.\n", error.what());
        return 1;
    }
}
