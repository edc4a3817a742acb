#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the pictures of README.md and the guides. Needs a built tree, gnuplot, MPICH and Open MPI with their compilers,
# and Chromium (tests/packages). Run nothing else at the same time, because two of them show measurements.
set -eu
cd "$(dirname "$0")/.."
all=(allreduce families report)
case ${1:-} in
--help | -h)
    echo "Usage: guides/pictures.sh [NAME]...    makes these pictures, or all of them: ${all[*]}"
    exit 0
    ;;
esac

allreduce() {
    build/bin/tutti-bench -n 2 --against mpich,openmpi --sizes 8:4M --plot guides/allreduce.svg allreduce
}
families() {
    build/bin/tutti-bench -n 2 --algorithms bcast:xhc,bcast:adaptive_copy,bcast:knem_linear,bcast:cheetah,bcast:mpich_hierarchical \
        --sizes 1K:4M --plot guides/families.svg
}
report() {
    build/bin/mpicc -g apps/lessons/12-halo/heat.c -o build/heat
    build/bin/mpiexec -n 2 --report build/run.html build/heat
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,860 \
        --screenshot=guides/report.png "file://$PWD/build/run.html" 2>/dev/null
}

[ $# -gt 0 ] || set -- "${all[@]}"
for picture in "$@"; do
    [[ " ${all[*]} " == *" $picture "* ]] || { echo "guides/pictures.sh: there is no picture $picture; there are ${all[*]}" >&2; exit 2; }
done
for picture in "$@"; do "$picture"; done
