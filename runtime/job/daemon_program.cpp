// SPDX-License-Identifier: BSD-3-Clause
// Its place relative to the library, as installed and in a build folder.
#include "runtime/job/daemon_program.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <dlfcn.h>
#include <unistd.h>

namespace tutti {

std::string daemon_program() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&daemon_program), &here) == 0 || !here.dli_fname) return {};
    std::error_code none;
    return (std::filesystem::absolute(here.dli_fname, none).parent_path() / TUTTI_PROGRAMS_FROM_LIBRARIES /
            "tutti-daemon")
        .lexically_normal();
}

std::vector<char*> daemon_environment() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) kept.push_back(*variable);
    kept.push_back(nullptr);
    return kept;
}

}   // namespace tutti
