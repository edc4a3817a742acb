// SPDX-License-Identifier: BSD-3-Clause
// Prints descriptions of return addresses of a process: PID ADDRESS... Reports on standard error if a library that
// contacts debuginfod servers was loaded.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "launcher/diagnosis/source_lines.hpp"

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    tutti::launcher::SourceLines lines(std::atoi(argv[1]));
    for (int i = 2; i < argc; ++i) std::puts(describe(lines.at(std::strtoull(argv[i], nullptr, 0))).c_str());
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libdebuginfod") != std::string::npos) return std::fprintf(stderr, "%s\n", line.c_str()), 1;
    return 0;
}
