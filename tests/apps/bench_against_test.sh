#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark builds and runs with Debian's MPIs; tutti-bench --against compiles the measuring program as one file.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
need_package libopenmpi-dev "/usr/lib/*/openmpi/include/mpi.h"
need_package mpich mpiexec.mpich
need_package openmpi-bin mpiexec.openmpi
there=mpich,openmpi

unset LD_LIBRARY_PATH
grep -qF 'mpicxx -std=c++20 -O2 apps/bench/program/*.cpp -o bench' "$source/apps/README.md" || wrong "the line of apps/README.md"
mpicxx.mpich -std=c++20 -fsyntax-only "$source"/apps/bench/program/*.cpp || wrong "the line of apps/README.md does not compile"
# The installed tutti-bench finds the installed sources.
cmake --install "$build" --prefix "$folder/first" >"$folder/log" 2>&1 || wrong "install: $(cat "$folder/log")"
mv "$folder/first" "$folder/moved"
"$folder/moved/bin/tutti-bench" -n 2 --against "$there" --rounds 1 --seconds 0.01 --sizes 8:16 \
    --json "$folder/out.json" pingpong bcast allreduce >"$folder/table" 2>&1 || wrong "--against $there ended with $?"
grep -q "^Building $folder/moved/.*share/tutti/apps/bench/program with .*/mpicxx" "$folder/table" ||
    wrong "not the installed sources: $(cat "$folder/table")"
for mpi in "MPICH: built with /usr/bin/mpicxx.mpich" "Open MPI: built with /usr/bin/mpicxx.openmpi"; do
    grep -q "^$mpi and kept: $XDG_CACHE_HOME/tutti/bench/mpicxx\." "$folder/table" || wrong "not kept: $(cat "$folder/table")"
done
# Among what they were built from are the MPI's header and library.
for list in "$XDG_CACHE_HOME"/tutti/bench/*.inputs; do
    grep -q '/mpi\.h$' "$list" && grep -qE '/libmpi(ch)?\.so' "$list" && grep -q '/share/tutti/apps/bench/program/operation\.hpp$' "$list" ||
        wrong "the program does not depend on header, library and sources: $(cat "$list")"
done
# Algorithms beside the other MPIs, whose programs are used again.
out=$("$folder/moved/bin/tutti-bench" -n 2 --algorithms allreduce:exchange,allreduce:hierarchical --against "$there" --rounds 1 \
    --seconds 0.01 --sizes 8:16 2>&1) || wrong "--algorithms with --against ended with $?: $out"
[ "$(grep -cE "^(MPICH|Open MPI): used again, as " <<<"$out")" = 2 ] && ! grep -q "^Building" <<<"$out" || wrong "not used again: $out"
grep -qE "^ *bytes +Tutti +exchange +hierarchical +MPICH +Open MPI +Tutti ran +MPICH/Tutti +Open MPI/Tutti +best +Tutti/best$" <<<"$out" ||
    grep -qE "^ *bytes +Tutti ran +MPICH/Tutti +Open MPI/Tutti +best +Tutti/best$" <<<"$out" || wrong "algorithms: $out"
python3 - "$folder/out.json" "$there" <<'EOF' || wrong "--against $there: $(cat "$folder/table")"
import json, sys
series = {s["name"]: s for s in json.load(open(sys.argv[1]))["series"]}
names = {"mpich": "MPICH", "openmpi": "Open MPI"}
for mpi in sys.argv[2].split(","):
    other = series[names[mpi]]
    assert other["library"].startswith(names[mpi]), other["library"]
    assert {(p["operation"], p["bytes"]) for p in other["points"]} == \
        {(o, b) for o in ("pingpong", "bcast", "allreduce") for b in (8, 16)}, other["points"]
assert series["Tutti"]["library"].startswith("Tutti")
EOF
finish
