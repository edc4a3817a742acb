#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Allocations by malloc, in a library opened with dlopen, and in a program that replaces itself with exec.
. "$(dirname "$0")/allocators.sh" "$1"
cat >"$folder/library.c" <<'END'
#include <stdlib.h>
void *allocate(size_t n) { return malloc(n); }
END
cc -shared -fPIC "$folder/library.c" -o "$folder/library.so" || exit 1
expect shared "$mpiexec" -n 2 "$folder/place"
expect shared "$mpiexec" -n 2 "$folder/place" "$folder/library.so"
expect shared "$mpiexec" -n 2 "$folder/place" once again
expect private "$mpiexec" -n 2 -env TUTTI_ARENA no "$folder/place"
expect private "$mpiexec" -n 2 -env TUTTI_ARENA_THRESHOLD 2M "$folder/place"
expect shared "$folder/place"   # without a launcher
expect private env TUTTI_ARENA=no "$folder/place"
finish
