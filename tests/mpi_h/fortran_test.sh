#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran programs that use mpif.h and the modules mpi and mpi_f08 through MPICH's Fortran library: built with our
# mpifort, and built with MPICH's wrapper and started with --drop-in. Without the headers, mpifort names the missing
# package.
. "$(dirname "$0")/lib.sh" "$1"
PATH=$build/bin:$PATH

need_package gfortran gfortran
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
# An mpifort that finds no headers names the package to install. It searches below /usr, which a test cannot empty, so
# the test uses a copy that searches another folder.
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
