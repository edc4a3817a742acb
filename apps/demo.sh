#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is needed, builds Tutti, and shows it at work: a first program, an adaptive-mesh code, a solver,
# one-sided communication, the machine.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
--help | -h) echo "Usage: apps/demo.sh    (no options; needs Debian 12, and root or sudo for missing packages)"; exit 0 ;;
'') ;;
*) echo "apps/demo.sh: it takes no arguments" >&2; exit 2 ;;
esac

bold= plain=
[ -t 1 ] && bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() { echo "\$ $*"; "$@"; }

title "1. Packages and build"
# shellcheck source=tests/install.sh
. tests/install.sh
need "${build_packages[@]}"
mkdir -p build
if ! { cmake -G Ninja -B build -DTUTTI_TESTS=OFF . && ninja -C build; } >build/log 2>&1; then
    tail -n 30 build/log
    exit 1
fi
echo "Built in $SECONDS seconds; the whole story is in build/log."

PATH=$PWD/build/bin:$PATH
title "2. A small C program, compiled with mpicc, on 4 ranks"
show mpicc apps/hello.c -o build/hello
show mpiexec -n 4 build/hello

title "3. The proxy app: heat in an adaptive mesh, on 4 ranks, verified against a serial run"
show mpiexec -n 4 build/bin/tutti-stencil --verify

title "4. Conjugate gradients: thousands of small sums over all ranks, checked against the known solution"
show mpiexec -n 2 build/bin/tutti-cg
show mpiexec -n 2 build/bin/tutti-cg --dots pipelined

title "5. One-sided communication: a hash table in everybody's memory, and a halo by messages and by a shared window"
show mpiexec -n 4 build/bin/tutti-hashtable
show mpiexec -n 2 build/bin/tutti-halo

title "6. The machine, as the collectives see it"
show mpiexec -n 4 --show-hierarchy

title "Done. Your own program: build/bin/mpicc app.c -o app && build/bin/mpiexec -n 8 ./app"
