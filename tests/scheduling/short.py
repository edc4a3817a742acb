#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The short form of the scheduling matrix: only Tutti, some cells, at most two minutes on a quiet machine. Each job
must end with correct data, leave no process, and satisfy the bounds on counters in bounds.py. No time is judged."""
import argparse
import os
import sys

from bounds import BOUNDS, measured
from jobs import PATTERNS, Lab
from matrix import Setting, describe

WITHOUT_THREADS = ",".join(pattern for pattern in PATTERNS if pattern != "threads")


def cells(cores):
    """Yields (setting, patterns): with one and two ranks per core, each group and each other work at least once."""
    for ranks in (cores, 2 * cores):
        for group, beside in (("together", "alone"), ("together", "bursts"), ("sessions", "alone"), ("sessions", "bursts"),
                              ("cgroups", "bursts"), ("quota", "alone"), ("sessions", "job")):
            yield Setting(1, ranks, group, beside), WITHOUT_THREADS
        yield Setting(1, ranks, "sessions", "steady"), "threads"
    yield Setting(2, 2 * cores, "sessions", "bursts"), WITHOUT_THREADS


def problems(output, setting, cores):
    """Returns the failures of this job, and the values of the bounded counters, as texts."""
    wrong, values = [output.failure] if output.failure else [], []
    for bound in BOUNDS:
        value = measured(bound, output)
        if value is None or bound.fits not in (None, setting.ranks <= cores):
            continue
        values.append(f"{bound.counter} {value:.3g}")
        if bound.most is not None and value > bound.most:
            unit = "per second" if bound.per == "second" else "of the time"
            wrong.append(f"{bound.counter}: {value:.3g} {unit}, at most {bound.most:g} ({bound.why})")
    return wrong, values


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder (build)")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for each pattern (0.3)")
    chosen = parser.parse_args()
    cores, bad, seen, skipped = len(os.sched_getaffinity(0)), 0, set(), set()
    with Lab(chosen.build, ["tutti"]) as lab:
        lab.compile("patterns")
        for setting, patterns in cells(cores):
            why = lab.why_not(setting.ranks, setting.group, setting.hosts)
            if why:
                skipped.add(f"left out: {setting.group}: {why}")
                continue
            with lab.beside(setting.beside, "tutti", setting.ranks):
                output = lab.run("tutti", setting.ranks, ["patterns", chosen.seconds, patterns, "counters"], setting.group,
                                 setting.hosts, limit=600)
            wrong, values = problems(output, setting, cores)
            seen.update(output.counters)
            bad += bool(wrong)
            print(f"{describe(setting)}: {'; '.join(values)}", *[f"WRONG: {text}" for text in wrong], sep="\n  ", flush=True)
    missing = [bound.counter for bound in BOUNDS if bound.counter not in seen]
    print(*sorted(skipped), *[f"not counted by this build: {name}" for name in missing], sep="\n")
    if len(missing) == len(BOUNDS):
        print("WRONG: no counter of bounds.py exists")
        bad += 1
    print(f"{bad} wrong" if bad else "all well")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
