// SPDX-License-Identifier: BSD-3-Clause
// All options of mpiexec with names, description and effect. The table is our own because both MPICH and Open MPI
// have long options with one dash (-genv, -bind-to), which CLI11 and getopt do not support. The parser, the help and
// the compatibility list all use it.
#include "launcher/options/groups.hpp"
#include "launcher/options/options.hpp"

namespace tutti::launcher {

std::span<OptionGroup const> option_groups() {
    static OptionGroup const all[] = {
        {"Programs", groups::programs()},
        {"Where ranks run", groups::places()},
        {"Several nodes", groups::nodes()},
        {"Environment of the ranks", groups::environment()},
        {"Input and output", groups::streams()},
        {"Debuggers", groups::debuggers()},
        {"End, and help", groups::ends()},
        {"Options of others that are accepted and change nothing here", groups::accepted()},
        {"Options of others that are refused, and why", groups::refused()},
    };
    return all;
}

}   // namespace tutti::launcher
