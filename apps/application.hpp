// SPDX-License-Identifier: BSD-3-Clause
// The main function of an application: its command line, which has only options, and MPI_Init and MPI_Finalize.
// Needs only an MPI library.
#pragma once

#include "options.hpp"

#include <mpi.h>

namespace apps {

struct Application {
    std::string name;      ///< "tutti-cg"
    std::string purpose;   ///< the paragraph of the help in front of the options
    std::vector<Option> options;
    std::string results = "";   ///< the paragraph after the options
    /// Called when all options are parsed. Returns an error message, or an empty string.
    std::function<std::string()> check = [] { return std::string(); };
};

inline std::string help_of(Application const& application) {
    std::string text = "Usage: mpiexec -n N " + application.name + " [options]\n\n";
    text += wrapped(application.purpose, 0) + "\n" + help_text(application.options);
    if (!application.results.empty()) text.append("\n").append(wrapped(application.results, 0));
    return text;
}

/// Parses the options. Returns an error message, or an empty string; sets `help` and parses no further at -h or --help.
inline std::string parse(Application const& application, std::vector<std::string> const& words, bool& help) {
    std::string error;
    for (std::size_t at = 0; at < words.size() && error.empty();) {
        if ((help = words[at] == "--help" || words[at] == "-h")) return "";
        bool known = false;
        error = parse_option(application.options, words, at, known);
        if (!known) return unknown_option(words[at], names_of(application.options));
    }
    if (error.empty()) error = application.check();
    return error.empty() ? "" : error + "; see --help";
}

/// The main function: calls `run` on all ranks if the options are valid and do not request the help. Returns the exit
/// code, which is that of `run`, 0 after the help, or 2 after an error message.
inline int run_application(int argc, char** argv, Application const& application, std::function<int()> const& run) {
    MPI_Init(&argc, &argv);
    int rank, result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool help = false;
    const std::string error = parse(application, {argv + 1, argv + argc}, help);
    if (!error.empty()) result = rank == 0 ? print_error(application.name.c_str(), error, 2) : 2;
    else if (!help) result = run();
    else if (rank == 0) std::fputs(help_of(application).c_str(), stdout);
    MPI_Finalize();
    return result;
}

}   // namespace apps
