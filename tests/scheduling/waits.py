#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a wait of a second, in percent of a core, and the wake-up time after its event: in a barrier, a
receive, an allreduce, a loop of MPI_Test and usleep(100), and, for comparison, in that loop without MPI and in a futex
wait."""
import argparse
import statistics
import sys

from jobs import GROUPS, MPIS, Lab


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder (build)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 8], help="numbers of ranks (2 8)")
    parser.add_argument("--seconds", type=float, default=1, help="seconds that each wait lasts (1)")
    parser.add_argument("--repetitions", type=int, default=5, help="repetitions of each wait in one job (5)")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds, with the MPIs in turn (1)")
    parser.add_argument("--group", choices=GROUPS, default="together", help="scheduling group of the ranks (together)")
    parser.add_argument("--impl", nargs="+", choices=MPIS, default=list(MPIS), help="which MPIs (all)")
    parser.add_argument("--waits", default="barrier,recv,allreduce,test,usleep,futex", help="which waits (all)")
    chosen = parser.parse_args()
    failed = False
    with Lab(chosen.build, chosen.impl) as lab:
        lab.compile("waits")
        print(f"{'ranks':>5} {'wait':10}{'MPI':9}{'% mean':>8}{'% most':>8}{'wake-up us':>12}")
        for ranks in chosen.ranks:
            rows = {}   # (wait, mpi): a list of (mean, most, wake-up), one per round
            for _ in range(chosen.rounds):
                for mpi in lab.mpis:
                    limit = 60 + 60 * (chosen.seconds + 1) * chosen.repetitions
                    output = lab.run(mpi, ranks, ["waits", chosen.seconds, chosen.repetitions, chosen.waits], chosen.group,
                                     limit=limit)
                    if output.failure:
                        failed = failed or mpi == "tutti"
                        print(f"FAILED: {mpi}, {ranks} ranks: {output.failure}")
                    for words in map(str.split, output.text.splitlines()):
                        if words[:1] == ["wait"]:
                            rows.setdefault((words[1], mpi), []).append(tuple(map(float, words[2:])))
            for (wait, mpi), rounds in sorted(rows.items(), key=lambda row: row[0][0]):
                mean, most, wake_up = map(statistics.median, zip(*rounds))
                late = f"{wake_up:12.1f}" if wait != "usleep" else f"{'-':>12}"   # no event ends this wait
                print(f"{ranks:5} {wait:10}{mpi:9}{mean:8.2f}{most:8.2f}{late}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
