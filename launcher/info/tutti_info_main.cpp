// SPDX-License-Identifier: BSD-3-Clause
// tutti-info: prints the version of Tutti, what it detects on this machine, and its settings and algorithms.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <sstream>
#include <string_view>

#include "launcher/base/text.hpp"
#include "launcher/info/report.hpp"
#include "runtime/settings/variables.hpp"

namespace {

using namespace tutti::info;
using tutti::launcher::print;

constexpr char help[] = R"(tutti-info says what this Tutti is and what it finds on this machine.

    tutti-info                    version, ABI, machine, facilities, variables, algorithms, choices
    tutti-info --variables        the settings (TUTTI_…) with value, origin and meaning
    tutti-info --algorithms       the algorithms of each collective, with their parameters
    tutti-info --algorithms bcast,reduce    of these collectives only
    tutti-info --table            which algorithm is chosen when: the tuning file in force and the default table
    tutti-info --json             the same for programs; may be combined with any. Of each algorithm it also tells
                                  the largest message that it takes among 2 ranks, or among --ranks N
    tutti-info --algorithms --markdown      as tables of a page
    tutti-info --version

Variables are read from the environment: TUTTI_WAIT=shared tutti-info --variables shows what a rank would see.
)";

int complain(std::string const& what, std::string_view word, std::span<std::string_view const> known,
             std::string const& otherwise) {
    std::string const near = tutti::nearest(word, known);
    std::fprintf(stderr, "tutti-info: %s%s\n", what.c_str(),
                 (near.empty() ? "; " + otherwise + "." : "; did you mean " + near + "?").c_str());
    return 2;
}

int wrong_option(std::string_view word) {
    constexpr std::string_view known[] = {"--variables", "--algorithms", "--table",   "--json",
                                          "--markdown",  "--ranks",      "--version", "--help"};
    return complain(std::string(word) + " is not an option", word, known, "--help lists them");
}

/// Adds the collectives in `text` ("bcast,reduce") to `question`. Returns 0, or the exit code if a name is unknown.
int take_collectives(std::string const& text, Question& question) {
    std::vector<std::string> const names = collective_names();
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        if (std::ranges::find(names, word) == names.end()) {
            std::vector<std::string_view> const known(names.begin(), names.end());
            std::string all;
            for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
            return complain(word + " is not a collective", word, known, "these are: " + all);
        }
        question.collectives.push_back(word);
    }
    return 0;
}

bool take_ranks(char const* text, Question& question) {
    auto const [end, error] = std::from_chars(text, text + std::strlen(text), question.ranks);
    return error == std::errc{} && *end == 0 && question.ranks > 0 && question.ranks <= (1 << 20);
}

int answer(int argc, char** argv) {
    Question question;
    bool json = false, markdown = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        bool const followed = i + 1 < argc && argv[i + 1][0] != '-';
        if (word == "--help" || word == "-h") return print("tutti-info", help);
        if (word == "--version" || word == "-V") return print("tutti-info", "Tutti " TUTTI_VERSION "\n");
        if (word == "--variables") question.part = Part::variables;
        else if (word == "--table") question.part = Part::table;
        else if (word == "--json") json = true;
        else if (word == "--markdown") markdown = true;
        else if (word == "--ranks") {
            if (!followed || !take_ranks(argv[++i], question))
                return complain("--ranks needs a number of ranks", {}, {}, "--help tells more");
        } else if (word == "--algorithms") {
            question.part = Part::algorithms;
            if (followed)
                if (int const code = take_collectives(argv[++i], question)) return code;
        } else return wrong_option(word);
    }
    Report report = make_report(question);
    if (markdown) return print("tutti-info", as_markdown(report));
    return print("tutti-info", json ? as_json(report, question.part) : as_text(report, question.part));
}

}   // namespace

int main(int argc, char** argv) {
    try {
        return answer(argc, argv);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "tutti-info: %s.\n", error.what());
        return 1;
    }
}
