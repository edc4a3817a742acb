// SPDX-License-Identifier: BSD-3-Clause
// The measuring program alone, as any MPI's wrapper builds it. Tutti's own tutti-bench has driver/main.cpp instead.
#include "program.hpp"

int main(int argc, char **argv) { return bench::program(argc, argv, bench::usage() + bench::description()); }
