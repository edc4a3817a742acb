// SPDX-License-Identifier: BSD-3-Clause
// The command line: one table for parsing, range checks and --help.
#include "options.hpp"

#include <cstdlib>
#include <sstream>
#include <variant>
#include <vector>

namespace stencil {
namespace {

struct Setting {
    std::string name;
    std::variant<int*, double*, bool*> value;
    double low, high;
    std::string text;
};

std::vector<Setting> settings(Options& o) {
    return {
        {"--cells", &o.cells, 2, 64, "cells per block and direction, even"},
        {"--roots", &o.roots, 1, 64, "coarsest blocks per direction"},
        {"--levels", &o.levels, 0, 8, "levels of refinement above the coarsest"},
        {"--variables", &o.variables, 1, 1000, "variables per cell"},
        {"--together", &o.together, 0, 1000, "variables sent in one message (0: all)"},
        {"--steps", &o.steps, 1, 1e6, "time steps"},
        {"--stages", &o.stages, 1, 1000, "ghost exchanges and updates per time step"},
        {"--refine-every", &o.refine_every, 0, 1e6, "time steps between refinements (0: only at the start)"},
        {"--check-every", &o.check_every, 1, 1e6, "time steps between checksums"},
        {"--radius", &o.radius, 0, 2, "radius of the moving sphere in the unit cube"},
        {"--speed", &o.speed, 0, 1, "distance that the sphere's centre moves per time step"},
        {"--verify", &o.verify, 0, 1, "repeat the run serially on rank 0 and compare all checksums bit for bit"},
        {"--quiet", &o.quiet, 0, 1, "print only the result"},
    };
}

std::string help(Options& options) {
    std::ostringstream out;
    out << "Usage: mpiexec -n N tutti-stencil [options]\n\n"
           "Heat flows through a unit cube of blocks; the mesh follows the surface of a moving sphere.\n"
           "The heat of each variable must be conserved, and every checksum must be the same for any number of\n"
           "ranks.\n\n";
    for (auto& setting : settings(options)) {
        std::ostringstream left;
        left << "  " << setting.name;
        if (auto* number = std::get_if<int*>(&setting.value)) left << " " << **number;
        else if (auto* real = std::get_if<double*>(&setting.value)) left << " " << **real;
        std::string gap(left.str().size() < 22 ? 22 - left.str().size() : 1, ' ');
        out << left.str() << gap << setting.text << "\n";
    }
    return out.str();
}

bool store(Setting& setting, char const* text) {
    char* end = nullptr;
    double number = std::strtod(text, &end);
    if (end == text || *end || number < setting.low || number > setting.high) return false;
    if (auto* value = std::get_if<int*>(&setting.value)) **value = static_cast<int>(number);
    else **std::get_if<double*>(&setting.value) = number;
    return true;
}

}   // namespace

std::string parse(int argc, char** argv, Options& options, bool& failed) {
    auto all = settings(options);
    failed = true;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            failed = false;
            Options defaults;
            return help(defaults);
        }
        Setting* setting = nullptr;
        for (auto& candidate : all) setting = candidate.name == word ? &candidate : setting;
        if (!setting) return "tutti-stencil: unknown option " + word + "; --help lists them\n";
        if (auto* flag = std::get_if<bool*>(&setting->value)) {
            **flag = true;
        } else if (i + 1 >= argc || !store(*setting, argv[++i])) {
            std::ostringstream out;
            out << "tutti-stencil: " << word << " needs a number from " << setting->low << " to " << setting->high
                << "\n";
            return out.str();
        }
    }
    if (options.cells % 2) return "tutti-stencil: --cells must be even\n";
    if (options.together == 0 || options.together > options.variables) options.together = options.variables;
    failed = false;
    return "";
}

}   // namespace stencil
