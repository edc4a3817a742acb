#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The lessons: every command of every page, compared with what the page says that it prints; every program with 2 and 4
# ranks, and built by other MPIs. With --write behind the build folder the pages are given what was printed.
set -u
# shellcheck source=tests/apps/common.sh
. "$(dirname "$0")/common.sh" "$1"
grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt" && { echo "the plain build does it"; exit 77; }
unset TUTTI_COLL TUTTI_TOPOLOGY TUTTI_DIAGNOSIS LD_LIBRARY_PATH
export TUTTI_TUNING=none PATH="$build/bin:$PATH"
cp -r "$source/apps/lessons" "$folder/"
python3 "$(dirname "$0")/run_lessons.py" "$folder/lessons" "$source/apps/lessons" "${@:2}" || wrong "the lessons"
for program in "$source"/apps/lessons/*/*.c; do
    mpicc -std=c99 -pedantic -Wall -Wextra -Werror -c "$program" -o "$folder/object" || wrong "a warning of $program"
    [[ "$program" != */mistake-* ]] || continue
    for mpi in mpich openmpi; do
        ! command -v "mpicc.$mpi" >/dev/null || "mpicc.$mpi" -std=c99 -w "$program" -o "$folder/program" -lm || wrong "$mpi: $program"
    done
done
command -v mpifort.mpich >/dev/null || { echo "Fortran's mpi module is missing"; exit $failed; }
mpifort -g "$source/apps/lessons/01-hello/hello.f90" -o "$folder/fortran" || wrong "mpifort ended with $?"
[ "$(mpiexec -n 2 "$folder/fortran" | sort | xargs)" = "rank 0 of 2 rank 1 of 2" ] || wrong "hello in Fortran"
exit $failed
