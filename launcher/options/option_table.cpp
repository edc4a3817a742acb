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
        {"Where ranks run", groups::placement()},
        {"Several nodes", groups::nodes()},
        {"Environment of the ranks", groups::environment()},
        {"Input and output", groups::streams()},
        {"Debuggers", groups::debuggers()},
        {"End, and help", groups::termination()},
        {"Options of other launchers that are accepted without effect", groups::ignored()},
        {"Options of other launchers that are refused, with the reason", groups::refused()},
    };
    return all;
}

}   // namespace tutti::launcher
