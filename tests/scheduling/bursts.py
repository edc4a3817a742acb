#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs bcast, reduce and allreduce beside a process that works in short bursts. Reports runs whose median is so long
that ranks must have shared a core, and compares the medians with those of the other MPIs."""
import argparse
import statistics
import sys

from jobs import BESIDE, GROUPS, MPIS, Lab
from matrix import geometric_mean


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder (build)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8], help="numbers of ranks (2 4 8)")
    parser.add_argument("--runs", type=int, default=40, help="runs of each number of ranks, with the MPIs in turn (40)")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for each operation and size (0.3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 32768], help="bytes (8 32768)")
    parser.add_argument("--operations", nargs="+", default=["bcast", "reduce", "allreduce"], help="patterns (all three)")
    parser.add_argument("--beside", choices=BESIDE, default="bursts", help="other work (bursts)")
    parser.add_argument("--group", choices=GROUPS, default="together", help="scheduling group of the ranks (together)")
    parser.add_argument("--impl", nargs="+", choices=MPIS, default=list(MPIS), help="which MPIs (all)")
    parser.add_argument("--limit", type=float, default=100, help="microseconds above which a median counts as too long (100)")
    return parser.parse_args()


def report(ranks, medians, failures, chosen, mpis):
    """`medians`: (mpi, pattern) to a list of microseconds, one per run; `failures`: mpi to their number."""
    patterns = list(dict.fromkeys(pattern for _, pattern in medians))
    ratios = []
    print(f"\n{ranks} ranks beside {chosen.beside}; medians of the runs in microseconds, maxima in brackets")
    for pattern in patterns:
        cells = [(mpi, values) for mpi in mpis if (values := medians.get((mpi, pattern)))]
        theirs = [statistics.median(values) for mpi, values in cells if mpi != "tutti"]
        ours = [statistics.median(values) for mpi, values in cells if mpi == "tutti"]
        line = "".join(f"  {mpi} {statistics.median(values):.2f} [{max(values):.2f}]" for mpi, values in cells)
        if ours and theirs:
            ratios.append(ours[0] / min(theirs))
            line += f"  ours / better peer {ratios[-1]:.2f}"
        print(f"  {pattern:18}{line}")
    for mpi in mpis:
        late = [values for (one, _), values in medians.items() if one == mpi]
        longest = [max(run) for run in zip(*late)]
        print(f"  {mpi}: {sum(value > chosen.limit for value in longest)} of {len(longest)} runs had a median above "
              f"{chosen.limit:g} us, {failures[mpi]} failed")
    if ratios:
        print(f"  ours / better peer: geometric mean {geometric_mean(ratios):.2f}, worst {max(ratios):.2f}", flush=True)


def main():
    chosen = options()
    patterns = [f"{operation}:{size}" for size in chosen.sizes for operation in chosen.operations]
    failed = False
    with Lab(chosen.build, chosen.impl) as lab:
        lab.compile("patterns")
        for ranks in chosen.ranks:
            medians, failures = {}, dict.fromkeys(lab.mpis, 0)
            for _ in range(chosen.runs):
                for mpi in lab.mpis:
                    with lab.beside(chosen.beside, mpi, ranks):
                        output = lab.run(mpi, ranks, ["patterns", chosen.seconds, ",".join(patterns)], chosen.group,
                                         limit=120 + 20 * chosen.seconds * len(patterns))
                    if output.failure:
                        failures[mpi] += 1
                        print(f"FAILED: {mpi}, {ranks} ranks: {output.failure}", flush=True)
                        continue
                    for pattern in patterns:
                        medians.setdefault((mpi, pattern), []).append(output.of(pattern).median)
            report(ranks, medians, failures, chosen, lab.mpis)
            failed = failed or failures.get("tutti", 0) > 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
