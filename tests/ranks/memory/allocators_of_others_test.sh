#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Other allocators replace Tutti's: jemalloc preloaded before the program, and valgrind's own.
# cores: 1
. "$(dirname "$0")/allocators.sh" "$1"
need_package libjemalloc2 "/usr/lib/*/libjemalloc.so.2"
need_package valgrind valgrind
jemalloc=(/usr/lib/*/libjemalloc.so.2)
expect private "$mpiexec" -n 2 -env LD_PRELOAD "${jemalloc[0]}" "$folder/place"
expect private "$mpiexec" -n 2 valgrind -q "$folder/place"
finish
