// SPDX-License-Identifier: BSD-3-Clause
// The measuring program alone, built by any MPI's wrapper. Tutti's own tutti-bench has driver/main.cpp instead.
#include "settings.hpp"

int main(int argc, char** argv) {
    return bench::program(argc, argv, [](apps::Information const& requested) {
        return requested.version ? "tutti-bench, built with " + bench::library_version() + "\n"
                                 : bench::usage() + bench::description();
    });
}
