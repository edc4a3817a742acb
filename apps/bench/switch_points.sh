#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Which algorithm wins at which size? Runs tutti-bench for one operation with each of its algorithms in turn, several
# rounds alternating, and prints for each size the medians, the best one, and how much the table's choice loses to it.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
usage() {
    cat <<EOF
Usage: apps/bench/switch_points.sh RANKS OPERATION [FROM:TO [CANDIDATE ...]]

OPERATION is one of tutti-bench's, FROM:TO are sizes in bytes (64:1M). Candidates beside the table's choice:
  algorithm                         one of the collective's, as tutti-info lists them; all of them when none is named
  algorithm:parameter=value         the same with another parameter
  TUTTI_VARIABLE=value              the table's choice under another setting
An algorithm that cannot do a call leaves it to the table: its column then repeats the table's.

  BIN=folder      where mpiexec, tutti-bench and tutti-info are (build/bin)
  ROUNDS=n        rounds, of which the median counts (3)
  LINE=seconds    for each size in each round (0.1)
Variables such as TUTTI_ARENA=no before the command hold for all candidates.
EOF
}
[ $# -ge 2 ] || { usage >&2; exit 2; }
ranks=$1 operation=$2 sizes=${3:-64:1M}
shift $(($# < 3 ? $# : 3))
bin=${BIN:-$here/build/bin} rounds=${ROUNDS:-3} line=${LINE:-0.1}

# The algorithms that tutti-info lists below the collective's name.
algorithms_of() {
    "$bin/tutti-info" | awk -v collective="$1" '
        /^Algorithms/ { listed = 1 }
        listed && /^  [a-z_]+$/ { here = $1 == collective }
        here && /^    [a-z_0-9]+: / { sub(":", "", $1); print $1 }'
}
# The collective that the operation is a form of: gatherv is chosen as gather is.
collective=$operation
case $operation in
    gatherv | scatterv | allgatherv | alltoallv) collective=${operation%v} ;;
    alltoallw) collective=alltoall ;;
    reduce_scatter_block) collective=reduce_scatter ;;
esac
known=$(algorithms_of "$collective")
[ $# -gt 0 ] || set -- $known
for candidate; do
    case $candidate in TUTTI_*=*) continue ;; esac
    grep -qx "${candidate%%:*}" <<<"$known" ||
        { echo "switch_points.sh: $collective has no algorithm ${candidate%%:*}; it has:" $known >&2; exit 2; }
done

results=$(mktemp)
trap 'rm -f "$results"' EXIT
measure() {   # candidate, settings
    env "${@:2}" "$bin/mpiexec" -n "$ranks" "$bin/tutti-bench" --csv --sizes "$sizes" --seconds "$line" "$operation" |
        awk -F, -v candidate="$1" -v OFS=, '{ print candidate, $3, $5 }' >>"$results"
}
for ((round = 0; round < rounds; ++round)); do
    measure table
    for candidate; do
        case $candidate in
            TUTTI_*=*) measure "$candidate" "$candidate" ;;
            *) measure "$candidate" TUTTI_COLL="$collective=$candidate" ;;
        esac
    done
done

echo "$operation, $ranks ranks: median of $rounds rounds, slowest rank's time per call in microseconds"
awk -F, -v candidates="table $*" '
    { n[$1, $2]++; time[$1, $2, n[$1, $2]] = $3; if (!($2 in seen)) { seen[$2]; sizes[++count] = $2 } }
    function column(text, candidate) {
        return sprintf(" %" (length(candidate) > 9 ? length(candidate) : 9) "s", text)
    }
    function median(candidate, bytes,    i, j, held, all) {
        all = n[candidate, bytes]
        for (i = 1; i <= all; i++)
            for (j = i; j > 1 && time[candidate, bytes, j - 1] > time[candidate, bytes, j]; j--) {
                held = time[candidate, bytes, j]
                time[candidate, bytes, j] = time[candidate, bytes, j - 1]
                time[candidate, bytes, j - 1] = held
            }
        return time[candidate, bytes, int((all + 1) / 2)]
    }
    END {
        number = split(candidates, name, " ")
        printf "%10s", "bytes"
        for (c = 1; c <= number; c++) printf "%s", column(name[c], name[c])
        printf " %11s  %s\n", "table/best", "best"
        for (s = 1; s <= count; s++) {
            best = 1
            printf "%10d", sizes[s]
            for (c = 1; c <= number; c++) {
                value[c] = median(name[c], sizes[s])
                if (value[c] < value[best]) best = c
                printf "%s", column(sprintf("%.2f", value[c]), name[c])
            }
            printf " %11.2f  %s\n", (value[best] > 0 ? value[1] / value[best] : 1), name[best]
        }
    }' "$results"
