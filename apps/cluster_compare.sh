#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Times collectives on several hosts against other MPIs over TCP. Hosts are network namespaces of this machine,
# connected by cables of a given delay and rate; all MPIs have the same placement, by slot, and the same measuring
# program.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() {
    cat <<'USAGE'
Usage: apps/cluster_compare.sh [options] [OPERATION ...]
  --build FOLDER     build folder of Tutti, with its tests (build)
  --hosts N          hosts, 2 to 4 (4)
  --ranks N          ranks per host (4)
  --delay US         one-way delay of each cable, in microseconds (50)
  --rate MBIT        send rate of each host, in Mbit/s (1000)
  --sizes "A B"      message sizes in bytes ("8 4096 1048576")
  --rounds N         rounds; the MPIs run in turn (3)
  --seconds S        time per operation and size in each run (1)
  --limit S          seconds after which a run is ended (180)
  --against "A B"    of mpich, openmpi and openmpi-yield, whose waiting ranks yield their core (all three)
Operations: bcast reduce allreduce allgather alltoall barrier scan. The time is the slowest rank's: the median over
iterations, then over rounds. "ratio" is Tutti's time divided by that of the fastest other MPI; "roots" is the time of
Tutti's slowest root divided by that of its fastest one, both medians. With more ranks than cores, MPIs whose waiting
ranks never yield take tens of milliseconds. The other MPIs are Debian's packages mpich, libmpich-dev, openmpi-bin,
libopenmpi-dev.
USAGE
}

build=build count=4 ranks=4 delay=50 rate=1000 sizes="8 4096 1048576" rounds=3 seconds=1 limit=180
against="mpich openmpi openmpi-yield"
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 ;; --hosts) count=$2 ;; --ranks) ranks=$2 ;; --delay) delay=$2 ;; --rate) rate=$2 ;;
    --sizes) sizes=$2 ;; --rounds) rounds=$2 ;; --seconds) seconds=$2 ;; --limit) limit=$2 ;; --against) against=$2 ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "cluster_compare.sh: no option $1" >&2; usage >&2; exit 2 ;;
    *) break ;;
    esac
    shift 2
done
operations=("$@")
[ $# -gt 0 ] || operations=(bcast reduce allreduce allgather alltoall barrier scan)
for needed in bin/mpiexec bin/tutti-bench tests/cluster_wire; do
    [ -x "$build/$needed" ] && continue
    echo "cluster_compare.sh: there is no $needed in $build; use --build FOLDER to name the build folder" >&2
    exit 2
done
build=$(cd "$build" && pwd) || exit 2
# shellcheck source=tests/cluster/hosts.sh
. "$here/../tests/cluster/hosts.sh"

# Builds the measuring program with another MPI's wrapper.
build_with() {
    local mpi=$1 program=$build/cluster_bench.$1
    [ -x "$program" ] && [ -z "$(find "$here/bench" -newer "$program" -name '*.[ch]pp')" ] && return
    echo "Building apps/bench with mpicxx.$mpi ..."
    "mpicxx.$mpi" -std=c++20 -O2 "$here"/bench/program/*.cpp -o "$program"
}

# start MPI ARGUMENTS: starts the measuring program from the first host.
start() {
    local mpi=$1 list k words=()
    shift
    for ((k = 1; k <= count; k++)); do list+=${list:+,}h$k:$ranks; done
    case $mpi in
    tutti) words=("$build/bin/mpiexec" --launcher-agent "$agent" -hosts "$list" -n $((count * ranks))
        "$build/bin/tutti-bench") ;;
    mpich) words=(env UCX_TLS=tcp,sm,self UCX_NET_DEVICES=eth0 mpiexec.mpich -launcher ssh -launcher-exec "$agent"
        -hosts "$list" -n $((count * ranks)) "$build/cluster_bench.mpich") ;;
    openmpi*) words=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi
        --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include eth0
        --mca oob_tcp_if_include eth0 --host "$list" --oversubscribe --map-by slot)
        [ "$mpi" = openmpi ] || words+=(--mca mpi_yield_when_idle 1)
        words+=(-n $((count * ranks)) "$build/cluster_bench.openmpi") ;;
    esac
    on_host h1 timeout -k 5 "$limit" "${words[@]}" "$@"
}

measure() {
    local mpi=$1 size=$2 code
    start "$mpi" --csv --sizes "$size:$size" --root each --iterations 100000 --warmup 3 --seconds "$seconds" \
        --json "$scratch/$mpi.json" "${operations[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    grep -q WRONG "$scratch/out" && grep WRONG "$scratch/out"
    sed -nE "s/^([a-z_]+,([0-9]+|ranks),.*)/$mpi,\1/p" "$scratch/out" >>"$scratch/results"
    [ ! -f "$scratch/tutti.json" ] || mv "$scratch/tutti.json" "$scratch/roots.$round.$size.json"
    # Results count even if the launcher does not terminate, which happens with MPICH.
    [ "$code" = 0 ] || echo "$mpi, $size bytes: ended with $code $(grep -v '^\[' "$scratch/err" | head -c 300)"
    for k in "${hosts[@]}"; do end_processes_on "$k"; done
}

table() {
    python3 - "$scratch" <<'PYTHON'
import collections, csv, glob, json, math, statistics, sys
times, roots = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(list)
names = []
for row in csv.reader(open(sys.argv[1] + "/results")):
    if row[1] == "operation":
        columns = row
        continue
    name, cells = row[0], dict(zip(columns, row))
    times[cells["operation"], int(cells["bytes"])][name].append(float(cells["median"]))
    names += [name] if name not in names else []
for path in glob.glob(sys.argv[1] + "/roots.*.json"):
    for point in json.load(open(path))["series"][0]["points"]:
        if point.get("roots"):
            roots[point["operation"], point["bytes"]].append(point["roots"])
print("%-12s%10s" % ("operation", "bytes") + "".join("%15s" % name for name in names) + "%8s%8s" % ("ratio", "roots"))
logs = []
for key in sorted(times):
    medians = {name: statistics.median(times[key][name]) for name in times[key]}
    others = [medians[name] for name in medians if name != "tutti"]
    ratio = medians["tutti"] / min(others) if others and "tutti" in medians else None
    logs += [math.log(ratio)] if ratio else []
    by_root = [statistics.median(rounds) for rounds in zip(*roots[key])]
    print("%-12s%10d" % key + "".join("%15.1f" % medians[n] if n in medians else "%15s" % "-" for n in names)
          + ("%8.3f" % ratio if ratio else "%8s" % "-")
          + ("%8.2f" % (max(by_root) / min(by_root)) if by_root else ""))
if logs:
    print("geometric mean %.3f, worst %.3f of %d" % (math.exp(sum(logs) / len(logs)), math.exp(max(logs)), len(logs)))
PYTHON
}

for mpi in mpich openmpi; do
    [[ $against != *$mpi* ]] || build_with "$mpi" || exit 1
done
hosts_up "$count" "delay=$delay" "rate=$rate"
[ -z "$pretended" ] || { echo "Comparing needs network namespaces." >&2; exit 77; }
: >"$scratch/results"
for ((round = 1; round <= rounds; round++)); do
    for size in $sizes; do
        for mpi in tutti $against; do measure "$mpi" "$size"; done
    done
done
echo "$count hosts of $ranks ranks, $delay microseconds one way, $rate Mbit/s; microseconds per operation"
table
