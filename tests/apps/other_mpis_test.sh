#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's MPIs build the applications and the programs of the lessons, and tutti-cg computes the same bits with them
# as with Tutti, although they add in other orders.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
need_package libopenmpi-dev "/usr/lib/*/openmpi/include/mpi.h"
need_package mpich mpiexec.mpich
need_package openmpi-bin mpiexec.openmpi
unset LD_LIBRARY_PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
identity() { grep -E '^(iterations|checksum) ' <<<"$1" | xargs; } # the lines that must not depend on the MPI

for mpi in mpich openmpi; do
    for app in cg halo hashtable; do
        "mpicxx.$mpi" -std=c++20 -O1 "$source"/apps/$app/*.cpp -o "$folder/$app.$mpi" || wrong "$mpi does not build $app"
    done
    for dots in blocking pipelined; do
        theirs=$("mpiexec.$mpi" -n 4 "$folder/cg.$mpi" --dots $dots --unknowns 30 --solves 1) || wrong "$dots, $mpi: $?"
        run -n 4 "$build/bin/tutti-cg" --dots $dots --unknowns 30 --solves 1; expect_code 0
        [ -n "$(identity "$out")" ] && [ "$(identity "$out")" = "$(identity "$theirs")" ] || wrong "$dots: $out under $mpi: $theirs"
    done
    for program in "$source"/apps/lessons/*/*.c; do
        [[ "$program" != */mistake-* ]] || continue
        "mpicc.$mpi" -std=c99 -w "$program" -o "$folder/program" -lm || wrong "$mpi does not build $program"
    done
done
finish
