// SPDX-License-Identifier: BSD-3-Clause
// tutti-info: what this Tutti is, what it found here, which settings and algorithms it has.
#include <cstdio>
#include <string_view>

#include "launcher/info/report.hpp"
#include "runtime/variables.hpp"

namespace {

using namespace tutti::info;

constexpr char help[] = R"(tutti-info says what this Tutti is and what it finds on this machine.

    tutti-info                version, ABI, machine, facilities, variables, algorithms
    tutti-info --variables    the settings (TUTTI_…) with value, origin and meaning
    tutti-info --algorithms   the algorithms of each collective, with their parameters
    tutti-info --json         the same for programs; may be combined with either
    tutti-info --version

Variables are read from the environment: TUTTI_WAIT=shared tutti-info --variables shows what a rank would see.
)";

int print(std::string const& text) { return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0; }

int complain(std::string_view word) {
    constexpr std::string_view known[] = {"--variables", "--algorithms", "--json", "--version", "--help"};
    std::string near = tutti::nearest(word, known);
    std::fprintf(stderr, "tutti-info: %.*s is not an option%s%s.\n", static_cast<int>(word.size()), word.data(),
                 near.empty() ? "; --help lists them" : "; did you mean ", near.empty() ? "" : (near + "?").c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    Part part = Part::everything;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "--help" || word == "-h") return print(help);
        if (word == "--version" || word == "-V") return print("Tutti " TUTTI_VERSION "\n");
        if (word == "--variables") part = Part::variables;
        else if (word == "--algorithms") part = Part::algorithms;
        else if (word == "--json") json = true;
        else return complain(word);
    }
    Report report = make_report(part);
    return print(json ? as_json(report, part) : as_text(report, part));
}
