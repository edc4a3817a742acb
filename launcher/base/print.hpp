// SPDX-License-Identifier: BSD-3-Clause
// What the launcher's programs print on standard output: help, tables, drawings.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace tutti::launcher {

/// All of `text`, now. The program's exit code: 0, or 1 when it cannot be written (a full disk), which is told.
inline int print(char const* program, std::string const& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "%s: standard output cannot be written: %s.\n", program, std::strerror(errno));
    return 1;
}

}   // namespace tutti::launcher
