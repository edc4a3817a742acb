#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the required packages, builds Tutti, and demonstrates it: a first program, an adaptive-mesh code, a solver,
# one-sided communication, the machine.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
--help | -h) echo "Usage: apps/demo.sh    (no options; needs Debian or Ubuntu, and root or sudo for missing packages)"; exit 0 ;;
'') ;;
*) echo "apps/demo.sh takes no arguments" >&2; exit 2 ;;
esac

umask 022
bold= plain=
[ -t 1 ] && bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() { echo "\$ $*"; "$@"; }

# Reads ninja's output, copies it to build/log and prints the progress: on a terminal, one line that is updated, with
# the estimated remaining time; otherwise one line per tenth.
show_progress() {
    local line done all tenth=0 left
    while IFS= read -r line; do
        echo "$line" >>build/log
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
        [ "$done" -gt 0 ] || continue   # "[0/2] Re-checking globbed directories..."
        left=$(((SECONDS - started) * (all - done) / done))
        if [ -t 1 ]; then
            printf '\r[%*d/%d] about %d s left   ' "${#all}" "$done" "$all" "$left"
        elif [ $((done * 10 / all)) -gt "$tenth" ]; then
            tenth=$((done * 10 / all))
            echo "[$done/$all] about $left s left"
        fi
    done
    [ ! -t 1 ] || printf '\r%*s\r' 40 ''
}

title "1. Packages and build"
# shellcheck source=tests/install.sh
. tests/install.sh
install_groups build
mkdir -p build
started=$SECONDS
if ! cmake -G Ninja -B build -DCMAKE_UNITY_BUILD=ON -DTUTTI_TESTS=OFF . >build/log 2>&1 ||
    ! { set -o pipefail; ninja -C build -j "$(default_jobs)" demo 2>&1 | show_progress; }; then
    grep -A 30 -m 1 -E '^FAILED: |CMake Error' build/log || tail -n 30 build/log
    exit 1
fi
echo "Built in $((SECONDS - started)) s; build/log has the details."

PATH=$PWD/build/bin:$PATH
title "2. A small C program, compiled with mpicc, on 4 ranks"
show mpicc apps/hello.c -o build/hello
show mpiexec -n 4 build/hello

title "3. The proxy app: heat in an adaptive mesh, on 4 ranks, verified against a serial run"
show mpiexec -n 4 build/bin/tutti-stencil --verify

title "4. Conjugate gradients: thousands of small sums over all ranks, checked against the known solution"
show mpiexec -n 2 build/bin/tutti-cg
show mpiexec -n 2 build/bin/tutti-cg --dots pipelined

title "5. One-sided communication: a hash table in a distributed window, and a halo by messages and by a shared window"
show mpiexec -n 4 build/bin/tutti-hashtable
show mpiexec -n 2 build/bin/tutti-halo

title "6. The machine, as the collectives see it"
show mpiexec -n 4 --show-hierarchy

title "Done. Your own program: build/bin/mpicc app.c -o app && build/bin/mpiexec -n 8 ./app"
echo "The rest (tutti-bench, tutti-info, tutti-tune, other programs): ninja -C build"
