#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-bench keeps the program that another MPI's wrapper has built, and uses it again until anything that it was built
# from changes; several processes may do that at the same time.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
kept=$XDG_CACHE_HOME/tutti/bench

# Another MPI: its "compiler" counts its calls and names two files that it has read.
mkdir "$folder/bin"
cat >"$folder/bin/mpicxx" <<EOF
#!/bin/sh
[ "\$1" != --version ] || { cat "$folder/version"; exit; }
echo built >>"$folder/built"
while [ \$# -gt 1 ]; do [ "\$1" != -MF ] || echo "x: \\\\
 $folder/mpi.h" >"\$2"; shift; done
echo "/lib/crt1.o ($folder/libmpi.a)send.o"
cp "$build/bin/tutti-bench" "\$1"
EOF
printf '#!/bin/sh\nexec "%s" "$@"\n' "$mpiexec" >"$folder/bin/mpiexec"
chmod +x "$folder"/bin/*
for file in version mpi.h libmpi.a; do echo "$file 1" >"$folder/$file"; done
theirs=$folder/bin/mpicxx
quick=(-n 2 --seconds 0.01 --rounds 1 --sizes 8:8 --timeout "$limit_s")
times() { wc -l <"$folder/built"; }
expect() { # TIMES WORDS: after this comparison the wrapper has built so often, and the introduction says so
    out=$("$build/bin/tutti-bench" "${quick[@]}" --against "$theirs" bcast 2>&1) || wrong "--against ended with $?: $out"
    [ "$(times)" = "$1" ] && grep -q "^$theirs: $2" <<<"$out" || wrong "built $(times) instead of $1 times: $out"
    grep -q "^ *bytes .*$theirs/Tutti$" <<<"$out" || wrong "no comparison: $out"
}
expect 1 "built with $theirs and kept: $kept/mpicxx-"
expect 1 "used again, as $theirs built it earlier: $kept/mpicxx-"
[ "$(ls "$kept" | wc -l)" = 2 ] || wrong "kept: $(ls "$kept")"
touch "$folder/mpi.h"; expect 1 "used again"
n=1
for file in version mpi.h libmpi.a bin/mpicxx; do
    echo "# other" >>"$folder/$file"
    expect $((++n)) "built with"
    expect $n "used again"
    [ "$(ls "$kept" | wc -l)" = 2 ] || wrong "kept after a change of $file: $(ls "$kept")"
done
rm "$kept"/mpicxx-*-*; expect $((++n)) "built with"   # the program alone is gone
rm "$folder/libmpi.a"; expect $((++n)) "built with"
rm -r "$XDG_CACHE_HOME"; expect $((++n)) "built with"; expect $n "used again"

# Two at the same time, of which each may build.
rm -r "$XDG_CACHE_HOME"
pids=()
for i in 1 2 3; do
    "$build/bin/tutti-bench" "${quick[@]}" --against "$theirs" bcast >"$folder/out.$i" 2>&1 & pids+=($!)
done
for i in 1 2 3; do wait "${pids[i - 1]}" || wrong "at the same time: $? $(cat "$folder/out.$i")"; done
n=$(times); expect "$n" "used again"
[ "$(ls "$kept" | wc -l)" = 2 ] || wrong "kept by three: $(ls "$kept")"

# Without a folder to keep it in, the program is built each time.
rm -r "$XDG_CACHE_HOME"
echo >"$XDG_CACHE_HOME"; expect $((++n)) "built with $theirs, but not kept: $kept: "
out=$(env -u HOME -u XDG_CACHE_HOME "$build/bin/tutti-bench" "${quick[@]}" --against "$theirs" bcast 2>&1) &&
    grep -q "but not kept: neither XDG_CACHE_HOME nor HOME is set" <<<"$out" || wrong "without HOME: $out"
XDG_CACHE_HOME=relative HOME=$folder expect $((n + 2)) "built with $theirs and kept: $folder/.cache/tutti/bench/mpicxx-"
finish
