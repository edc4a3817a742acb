#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scheduling matrix: eight patterns of communication with several numbers of ranks, in several groups of the
scheduler, alone and beside other work, on one node and on two simulated ones, with Tutti, MPICH and Open MPI in turn.

Prints for each cell the time per operation (of the slowest rank, median over operations, then over rounds) and the
slow-down: this time relative to the same pattern with the same MPI, ranks and hosts, alone and in one session. MPICH's
launcher creates a session for each rank in any case. The whole matrix has about a thousand cells and takes half an hour
or more per round with the default of 0.3 s per pattern; no other work may run meanwhile. If it is stopped early
(Ctrl-C), it prints the results so far."""
import argparse
import collections
import json
import math
import os
import statistics
import sys

from jobs import BESIDE, GROUPS, MPIS, PATTERNS, Lab

Setting = collections.namedtuple("Setting", "hosts ranks group beside")   # of a job; a setting and a pattern are a cell


def options():
    cores = len(os.sched_getaffinity(0))
    ranks = ",".join(str(n) for n in sorted({max(1, cores // 2), cores, 2 * cores, 4 * cores}))
    several = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder (build)")
    parser.add_argument("--patterns", type=several, default=list(PATTERNS),
                        help=f"of {','.join(PATTERNS)}, also bcast, reduce and NAME:BYTES (the eight)")
    parser.add_argument("--ranks", type=several, default=ranks, help=f"numbers of ranks ({ranks}: 1/2, 1, 2, 4 per core)")
    parser.add_argument("--groups", type=several, default=list(GROUPS), help=f"of {','.join(GROUPS)} (all)")
    parser.add_argument("--beside", type=several, default=["alone", "steady", "bursts", "job"],
                        help=f"of {','.join(BESIDE)} (alone,steady,bursts,job); same: a second job of the same MPI")
    parser.add_argument("--hosts", type=several, default="1,2", help="numbers of hosts (1,2)")
    parser.add_argument("--impl", type=several, default=list(MPIS), help=f"of {','.join(MPIS)} (all)")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for each pattern in each round (0.3)")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds, with the MPIs in turn (1)")
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds after which a job is ended; its output until then is used (60)")
    parser.add_argument("--figure", choices=("median", "mean"), default="median",
                        help="figure of the operations of one run; the mean shows rare long interruptions")
    parser.add_argument("--json", help="write all figures to this file")
    chosen = parser.parse_args()
    chosen.ranks, chosen.hosts = [[int(n) for n in (several(text) if isinstance(text, str) else text)]
                                  for text in (chosen.ranks, chosen.hosts)]
    for name, known in (("groups", GROUPS), ("beside", BESIDE), ("impl", MPIS)):
        for unknown in set(getattr(chosen, name)) - set(known):
            parser.error(f"--{name}: there is no {unknown}, only {', '.join(known)}")
    return chosen


def quiet(setting):
    """Returns the setting to which this one is compared."""
    return setting._replace(group="together", beside="alone")


def settings(lab, chosen):
    """Returns the chosen settings that are possible here, after those to which they are compared."""
    found, impossible = [], {}
    for hosts in chosen.hosts:
        for ranks in chosen.ranks:
            for group in chosen.groups:
                why = lab.why_not(ranks, group, hosts)
                if why:
                    impossible[f"{group}, {ranks} ranks on {hosts} hosts"] = why
                    continue
                for beside in chosen.beside:
                    setting = Setting(hosts, ranks, group, beside)
                    found += [one for one in dict.fromkeys((quiet(setting), setting)) if one not in found]
    for what, why in impossible.items():
        print(f"left out: {what}: {why}")
    return found


class Measurements:
    """Times of each MPI in each cell, one per round."""

    def __init__(self, lab, chosen):
        self.lab, self.chosen = lab, chosen
        self.times = collections.defaultdict(list)   # (mpi, setting, pattern): microseconds
        self.failures = []

    def measure(self, setting, mpi):
        # Only the pattern `threads` needs MPI_THREAD_MULTIPLE and its lock.
        parts = [[p for p in self.chosen.patterns if (p == "threads") == threaded] for threaded in (False, True)]
        for part in filter(None, parts):
            with self.lab.beside(setting.beside, mpi, setting.ranks):
                output = self.lab.run(mpi, setting.ranks, ["patterns", self.chosen.seconds, ",".join(part)],
                                      setting.group, setting.hosts, self.chosen.limit + self.chosen.seconds * len(part))
            if output.failure:
                self.failures.append((mpi, setting))
                print(f"FAILED: {mpi}, {describe(setting)}: {output.failure}", flush=True)
            if setting.group == "sessions" and output.sessions not in (None, setting.ranks):
                print(f"note: {mpi}, {describe(setting)}: {output.sessions} sessions")
            for pattern in part:
                if result := output.of(pattern):
                    self.times[mpi, setting, pattern].append(getattr(result, self.chosen.figure))

    def time(self, mpi, setting, pattern):
        """Returns the time in microseconds, or None."""
        times = self.times.get((mpi, setting, pattern))
        return statistics.median(times) if times else None

    def slow_down(self, mpi, setting, pattern):
        time, alone = self.time(mpi, setting, pattern), self.time(mpi, quiet(setting), pattern)
        return time / alone if time and alone else None

    def against_better(self, figure, setting, pattern):
        """Returns Tutti's figure relative to the better peer, or None. `figure`: the method `time` or `slow_down`."""
        ours = figure("tutti", setting, pattern)
        theirs = [value for mpi in self.lab.mpis if mpi != "tutti" and (value := figure(mpi, setting, pattern))]
        return ours / min(theirs) if ours and theirs else None


def describe(setting):
    hosts = "two hosts" if setting.hosts == 2 else f"{setting.hosts} host"
    return f"{setting.ranks} ranks, {hosts}, {setting.group}, {setting.beside}"


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def cell_text(measured, mpi, setting, pattern):
    time, slow = measured.time(mpi, setting, pattern), measured.slow_down(mpi, setting, pattern)
    return f"{time:10.2f} {f'{slow:.2f}x' if slow else '-':>8}" if time else f"{'-':>10} {'-':>8}"


def print_table(measured, all_settings, patterns):
    mpis = measured.lab.mpis
    print(f"\n{'hosts':>5} {'ranks':>5} {'group':9}{'beside':8}{'pattern':12}" +
          "".join(f"{mpi + ' us':>11} {'slower':>8}" for mpi in mpis) + f"{'/better':>9}")
    for setting in all_settings:
        for pattern in patterns:
            cells = " ".join(cell_text(measured, mpi, setting, pattern) for mpi in mpis)
            ratio = measured.against_better(measured.time, setting, pattern)
            print(f"{setting.hosts:5} {setting.ranks:5} {setting.group:9}{setting.beside:8}{pattern:12} {cells}"
                  f" {f'{ratio:8.2f}' if ratio else '       -'}")


def print_summary(measured, all_settings, patterns):
    cells = [(setting, pattern) for setting in all_settings for pattern in patterns]
    print()
    for mpi in measured.lab.mpis:
        slow = [(value, cell) for cell in cells if cell[0] != quiet(cell[0]) and (value := measured.slow_down(mpi, *cell))]
        if slow:
            worst, (setting, pattern) = max(slow)
            print(f"{mpi}: slow-down {geometric_mean([value for value, _ in slow]):.2f} (geometric mean of {len(slow)} cells)"
                  f", at most {worst:.2f}: {pattern}, {describe(setting)}")
    for name, figure, counted in (("time", measured.time, cells),
                                  ("slow-down", measured.slow_down, [c for c in cells if c[0] != quiet(c[0])])):
        ratios = [(value, cell) for cell in counted if (value := measured.against_better(figure, *cell))]
        if ratios:
            worst, (setting, pattern) = max(ratios)
            above = sum(value > 1.2 for value, _ in ratios)
            print(f"{name}, ours / better peer: geometric mean {geometric_mean([value for value, _ in ratios]):.2f} of "
                  f"{len(ratios)} cells, {above} above 1.2, worst {worst:.2f}: {pattern}, {describe(setting)}")
    if measured.failures:
        print(f"{len(measured.failures)} jobs failed, {sum(mpi == 'tutti' for mpi, _ in measured.failures)} of ours")


def write_json(path, measured):
    rows = [dict(setting._asdict(), mpi=mpi, pattern=pattern, times=times, time=statistics.median(times),
                 slow_down=measured.slow_down(mpi, setting, pattern))
            for (mpi, setting, pattern), times in measured.times.items()]
    with open(path, "w") as file:
        json.dump(rows, file, indent=1)


def main():
    chosen = options()
    with Lab(chosen.build, chosen.impl) as lab:
        lab.compile("patterns")
        all_settings, measured = settings(lab, chosen), Measurements(lab, chosen)
        try:
            for number in range(chosen.rounds):
                for setting in all_settings:
                    print(f"round {number + 1} of {chosen.rounds}: {describe(setting)}", file=sys.stderr, flush=True)
                    for mpi in lab.mpis:
                        measured.measure(setting, mpi)
        finally:   # also if it is stopped
            print_table(measured, all_settings, chosen.patterns)
            print_summary(measured, all_settings, chosen.patterns)
            if chosen.json:
                write_json(chosen.json, measured)
    return any(mpi == "tutti" for mpi, _ in measured.failures)


if __name__ == "__main__":
    sys.exit(main())
