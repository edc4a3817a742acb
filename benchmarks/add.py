#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Appends the figures of one version to benchmarks/history.csv: the time of Tutti's operations divided by that of
Debian's MPICH and Open MPI, measured by tutti-bench in turn, on 2 ranks and on more ranks than cores.

Run it at the top of the tree, with a release build and with nothing else running.
"""
import argparse
import collections
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile

COLUMNS = ["version", "date", "commit", "processor", "cores", "operation", "ranks", "bytes", "microseconds",
           "ratio_to_mpich", "ratio_to_openmpi"]
OPERATIONS = ["pingpong", "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"]
SIZES = [8, 4 << 10, 64 << 10, 1 << 20]
QUICK_OPERATIONS, QUICK_SIZES = ["barrier", "bcast"], [8]
OTHERS = {"mpich": "MPICH", "openmpi": "Open MPI"}   # as --against names them, and as the results do


def arguments():
    description, epilog = __doc__.split("\n\n", maxsplit=1)
    parser = argparse.ArgumentParser(description=description, epilog=epilog)
    parser.add_argument("--build", default="build", help="the build folder (default: build)")
    parser.add_argument("--output", default=os.path.join(os.path.dirname(__file__), "history.csv"),
                        help="the file to extend (default: history.csv beside this script)")
    parser.add_argument("--against", default=",".join(OTHERS), help="the other MPIs (default: mpich,openmpi)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all are run in turn (default: 5)")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each line and round (default: 0.3)")
    parser.add_argument("--quick", action="store_true", help="a few lines in one round, to test this script")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.against.split(",") if name not in OTHERS]
    if unknown:
        parser.error(f"--against knows {', '.join(OTHERS)}, not {unknown[0]}")
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 0.01
    return chosen


def measure(chosen, ranks, size, operations, results):
    """Returns the results of one comparison, as tutti-bench --json writes them."""
    command = [os.path.join(chosen.build, "bin/tutti-bench"), "-n", str(ranks), "--against", chosen.against,
               "--sizes", f"{size}:{size}", "--rounds", str(chosen.rounds), "--seconds", str(chosen.seconds),
               "--json", results, *operations]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if ended != 0:
        sys.exit(f"add.py: {' '.join(command)} ended with {ended}; nothing was added.")
    with open(results, encoding="utf-8") as file:
        return json.load(file)


def ratio(ours, theirs):
    return f"{ours['median'] / theirs['median']:.3g}" if theirs and theirs["median"] > 0 else ""


def rows_of(results, facts):
    """Returns a row for each point of Tutti."""
    medians = collections.defaultdict(dict)
    for series in results["series"]:
        for point in series["points"]:
            medians[series["name"]][point["operation"], point["bytes"]] = point
    for (operation, size), point in medians["Tutti"].items():
        others = [ratio(point, medians[name].get((operation, size))) for name in OTHERS.values()]
        yield [*facts(results), operation, results["ranks"], size, f"{point['median']:.3f}", *others]


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def facts_of(chosen, cores):
    """Returns a function from results to the cells that are the same in all rows."""
    with open(os.path.join(chosen.build, "CMakeCache.txt"), encoding="utf-8") as file:
        version = next(line.split("=", 1)[1].strip() for line in file if line.startswith("CMAKE_PROJECT_VERSION:"))
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    commit = output_of("git", "-C", source, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    date = datetime.date.today().isoformat()
    return lambda results: [version, date, commit, results["processor"], cores]


def append(file_name, rows):
    """Appends the rows; a new or an empty file gets the header first. Exits if the file has other columns."""
    with open(file_name, "a+", encoding="utf-8", newline="") as file:
        file.seek(0)
        header = file.readline().strip()
        if header and header != ",".join(COLUMNS):
            sys.exit(f"add.py: {file_name} has other columns than this script writes; nothing was added.")
        writer = csv.writer(file, lineterminator="\n")
        if not header:
            writer.writerow(COLUMNS)
        writer.writerows(rows)


def main():
    chosen = arguments()
    if not os.path.exists(os.path.join(chosen.build, "bin/tutti-bench")):
        sys.exit(f"add.py: there is no {chosen.build}/bin/tutti-bench; build it first, or name the build folder with "
                 "--build.")
    append(chosen.output, [])   # checks the file before anything is measured
    cores = len(os.sched_getaffinity(0))
    facts, rows = facts_of(chosen, cores), []
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (2, 4 * cores):
            for size in QUICK_SIZES if chosen.quick else SIZES:
                operations = QUICK_OPERATIONS if chosen.quick else OPERATIONS
                if size != SIZES[0]:
                    operations = [name for name in operations if name != "barrier"]   # it has no size
                print(f"{ranks} ranks, {size} bytes ...", file=sys.stderr)
                rows += rows_of(measure(chosen, ranks, size, operations, os.path.join(folder, "results.json")), facts)
    append(chosen.output, rows)
    print(f"Added {len(rows)} lines to {chosen.output}")


if __name__ == "__main__":
    main()
