#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The first lesson's program in Fortran.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
need_package gfortran gfortran
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
"$build/bin/mpifort" -g "$source/apps/lessons/01-hello/hello.f90" -o "$folder/fortran" || wrong "mpifort ended with $?"
run -n 2 "$folder/fortran"; expect_code 0
[ "$(sort <<<"$out" | xargs)" = "rank 0 of 2 rank 1 of 2" ] || wrong "hello in Fortran: $out"
finish
