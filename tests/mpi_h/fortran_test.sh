#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran through MPICH's interface on our library: programs with mpif.h, the modules mpi and mpi_f08, built by our
# mpifort; the same programs built by MPICH's own wrapper and started with --drop-in; and the plain word when the
# headers are not there.
. "$(dirname "$0")/lib.sh" "$1"
PATH=$build/bin:$PATH

need_package gfortran gfortran
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
# An mpifort that finds no headers says so and names the package. It looks below /usr, which a test cannot empty, so a
# copy that looks elsewhere stands in.
mkdir -p "$work/empty/bin" "$work/empty/lib" "$work/empty/include"
sed 's#/usr/#/nowhere/#g' "$build/bin/mpifort" >"$work/empty/bin/mpifort" && chmod +x "$work/empty/bin/mpifort"
out=$("$work/empty/bin/mpifort" a.f90 2>&1) && wrong "mpifort succeeds without MPICH's Fortran headers"
has "mpifort without headers" libmpich-dev "$out"

job() { run "$@"; echo "$out$err"; }
for source in "$here"/fortran/with_*; do
    program=$work/$(basename "$source")
    mpifort -Wall "$source" -J"$work" -o "$program.tutti" >"$work/log" 2>&1 || { wrong "mpifort $source"; cat "$work/log"; continue; }
    for ranks in 1 2 4; do
        equal "$(basename "$source") on $ranks" "right on $ranks" "$(job -n $ranks "$program.tutti")"
    done
    mpifort.mpich "$source" -J"$work" -o "$program.mpich" >"$work/log" 2>&1 || { wrong "mpifort.mpich $source"; cat "$work/log"; continue; }
    equal "$(basename "$source") built with MPICH" "right on 2" "$(job --drop-in -n 2 "$program.mpich")"
done
finish
