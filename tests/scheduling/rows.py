#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of Tutti outside of the matrix: many ranks, many communicators, many starts, time on shared cores, two
cluster tests at the same time, and any command beside other work. Prints figures; only jobs that fail are errors."""
import argparse
import os
import subprocess
import statistics
import sys
import time

from bounds import BOUNDS, measured
from jobs import BESIDE, LOADS, Lab

AUTOGROUP = "/proc/sys/kernel/sched_autogroup_enabled"


def took(lab, ranks, command, limit, diagnosis=None):
    """Returns the figures after "took" in the output of a many.c job, and its Output. `diagnosis`: TUTTI_DIAGNOSIS."""
    if diagnosis:
        os.environ["TUTTI_DIAGNOSIS"] = diagnosis
    output = lab.run("tutti", ranks, ["many", *command], limit=limit)
    os.environ.pop("TUTTI_DIAGNOSIS", None)
    words = next((line.split() for line in output.text.splitlines() if line.startswith("took ")), [])
    return [float(word) for word in words[1:]], output


def starts(lab, chosen):
    """Starts jobs of 100 allreduces each, beside other work."""
    times, failed = [], 0
    with lab.beside(chosen.beside, "tutti", chosen.ranks[0]):
        for number in range(chosen.number):
            began = time.monotonic()
            _, output = took(lab, chosen.ranks[0], ["allreduce", 100], chosen.limit)
            times.append(time.monotonic() - began)
            failed += bool(output.failure)
            if output.failure or times[-1] > 2:
                print(f"start {number}: {times[-1]:.2f} s {output.failure}", flush=True)
    print(f"{len(times)} starts of {chosen.ranks[0]} ranks beside {chosen.beside}: median {statistics.median(times):.3f} s, "
          f"longest {max(times):.3f} s, {sum(value > 2 for value in times)} above 2 s, {failed} failed")
    return failed


def communicators(lab, chosen):
    """Duplicates MPI_COMM_WORLD with the default diagnosis and without, in turn."""
    failed = 0
    for ranks in chosen.ranks:
        for use in ("keep", "free", "twice"):
            times = {"auto": [], "no": []}
            for _ in range(chosen.rounds):
                for diagnosis, list_of_times in times.items():
                    figures, output = took(lab, ranks, ["dups", chosen.number, use], chosen.limit, diagnosis)
                    if output.failure:
                        failed += 1
                        print(f"FAILED: {ranks} ranks, diagnosis {diagnosis}, {use}: {output.failure}", flush=True)
                    else:
                        list_of_times.append(figures)
            medians = {key: statistics.median(f[0] for f in figures) for key, figures in times.items() if figures}
            line = ", ".join(f"diagnosis {key} {value:.3f} s" for key, value in medians.items())
            if len(medians) == 2:
                line += f", ratio {medians['auto'] / medians['no']:.2f}, " \
                        f"{statistics.median(f[1] for f in times['auto']) / 1024:.2f} KiB per rank and communicator"
            print(f"{ranks} ranks, {chosen.number} duplicates, {use}: {line}", flush=True)
    return failed


def growth(lab, chosen):
    """Runs allreduces of 8 bytes with increasing numbers of ranks, with diagnosis and without."""
    failed, before = 0, None
    for ranks in chosen.ranks:
        medians = {}
        for diagnosis in ("auto", "no"):
            figures = []
            for _ in range(chosen.rounds):
                figures_of_run, output = took(lab, ranks, ["allreduce", chosen.number], chosen.limit, diagnosis)
                failed += bool(output.failure)
                if output.failure:
                    print(f"FAILED: {ranks} ranks, diagnosis {diagnosis}: {output.failure}", flush=True)
                else:
                    figures.append(1e6 * figures_of_run[0] / chosen.number)
            if figures:
                medians[diagnosis] = statistics.median(figures)
        line = f"{ranks:5} ranks: " + ", ".join(f"diagnosis {key} {value:.1f} us" for key, value in medians.items())
        if len(medians) == 2:
            per_rank = medians["auto"] / ranks
            line += f", ratio {medians['auto'] / medians['no']:.2f}, per rank {per_rank:.3f} us"
            line += f", {per_rank / before:.2f} of the row before" if before else ""
            before = per_rank
        print(line, flush=True)
    return failed


def launch(lab, chosen):
    """Compares a job of 100 allreduces with starts of /bin/true, and times the end of a job whose rank is killed."""
    ranks = chosen.ranks[0]
    spawned = float(subprocess.run([lab.path("many.tutti"), "spawn", str(ranks)], capture_output=True, text=True,
                                   check=True).stdout.split()[1])
    began = time.monotonic()
    figures, output = took(lab, ranks, ["allreduce", 100], chosen.limit)
    whole = time.monotonic() - began
    if output.failure:
        print(f"FAILED: {output.failure}")
        return 1
    print(f"{ranks} ranks: {whole:.2f} s, of which 100 allreduces {figures[0]:.2f} s; {ranks} starts of /bin/true "
          f"{spawned:.2f} s; ratio {whole / spawned:.2f}", flush=True)
    figures, output = took(lab, ranks, ["kill", 1], chosen.limit)
    ended = time.monotonic()
    if not figures or "did not end" in output.failure or not output.failure:
        print(f"FAILED: the job with the killed rank: {output.failure or 'ended well'}")
        return 1
    print(f"the job ended {ended - figures[1]:.2f} s after one rank was killed")
    return 0


def shared(lab, chosen):
    """Prints the bounded counters of a long run of the patterns beside other work."""
    patterns = ["pingpong", "allreduce", "polling"]
    with lab.beside(chosen.beside, "tutti", chosen.ranks[0]):
        output = lab.run("tutti", chosen.ranks[0], ["patterns", chosen.number / len(patterns), ",".join(patterns), "counters"],
                         limit=chosen.limit + 2 * chosen.number)
    print(output.failure or f"{chosen.ranks[0]} ranks beside {chosen.beside}, {output.elapsed:.0f} s; maxima over the ranks:")
    for bound in BOUNDS:
        value = measured(bound, output)
        unit = "per second" if bound.per == "second" else "of the time"
        print(f"  {bound.counter}: " + ("not counted by this build" if value is None else f"{value:.4g} {unit}"))
    return bool(output.failure)


def cluster(lab, chosen):
    """Runs two cluster tests in turn and at the same time, with and without the kernel's session groups."""
    test = ["ctest", "--test-dir", chosen.build, "--output-on-failure", "-R"]
    command = lambda layout: subprocess.Popen([*test, f"^cluster/ranks/{layout}$"], stdout=subprocess.DEVNULL,
                                              start_new_session=True)
    failed = 0
    with open(AUTOGROUP) as file:
        before = file.read()
    try:
        for groups in ("1", "0"):
            with open(AUTOGROUP, "w") as file:
                file.write(groups)
            began = time.monotonic()
            failed += sum(command(layout).wait() != 0 for layout in ("2x2", "4x2"))
            in_turn, began = time.monotonic() - began, time.monotonic()
            both = [command(layout) for layout in ("2x2", "4x2")]
            failed += sum(job.wait() != 0 for job in both)
            together = time.monotonic() - began
            print(f"session groups {groups}: in turn {in_turn:.1f} s, together {together:.1f} s, "
                  f"{together / (in_turn / 2):.2f} of half the time in turn; {failed} failed so far", flush=True)
    finally:
        with open(AUTOGROUP, "w") as file:
            file.write(before)
    return failed


def beside(lab, chosen):
    """Runs a command beside other work, and returns its exit code."""
    if not chosen.command:
        sys.exit("rows.py beside: a command is missing, as in: rows.py beside --beside turns -- COMMAND...")
    with lab.beside(chosen.beside):
        return subprocess.run(chosen.command).returncode


ROWS = {   # name: function, ranks, number (see --help), rounds, other work
    "starts": (starts, [4], 1000, 1, "bursts"), "communicators": (communicators, [256], 50, 10, "alone"),
    "growth": (growth, [64, 128, 256, 512, 1024], 100, 3, "alone"), "launch": (launch, [1024], 1, 1, "alone"),
    "shared": (shared, [2], 60, 1, "bursts"), "cluster": (cluster, [4], 1, 1, "alone"),
    "beside": (beside, [2], 1, 1, "turns")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    rows = parser.add_subparsers(dest="row", required=True)
    for name, (function, ranks, number, rounds, work) in ROWS.items():
        row = rows.add_parser(name, help=function.__doc__, description=function.__doc__)
        row.add_argument("--build", default="build", help="the build folder (build)")
        row.add_argument("--ranks", type=int, nargs="+", default=ranks, help=f"numbers of ranks ({ranks})")
        row.add_argument("--number", type=int, default=number, help=f"number of starts, duplicates, allreduces or seconds ({number})")
        row.add_argument("--rounds", type=int, default=rounds, help=f"repetitions of each measurement ({rounds})")
        row.add_argument("--limit", type=float, default=600, help="seconds after which a job counts as hanging (600)")
        row.add_argument("--beside", choices=BESIDE, default=work, help=f"other work; {', '.join(LOADS)} are loads ({work})")
        row.add_argument("command", nargs="*", help="for `beside`")
    chosen = parser.parse_args()
    with Lab(chosen.build, ["tutti"]) as lab:
        for program in ("many", "patterns"):
            lab.compile(program)
        return ROWS[chosen.row][0](lab, chosen)


if __name__ == "__main__":
    sys.exit(bool(main()))
