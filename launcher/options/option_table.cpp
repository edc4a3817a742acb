// SPDX-License-Identifier: BSD-3-Clause
// Every option of mpiexec with its names, its sentence and its effect. The table is our own because both families have
// long options with one dash (-genv, -bind-to), which CLI11 and getopt do not take; one table serves parser, help and
// the list of what is compatible.
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
