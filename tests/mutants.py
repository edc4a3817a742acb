#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Inserts defects into the code, one at a time, and reports which tests find them.

A seed chooses folders, files, lines and kinds of defect, so that a run can be repeated. If the quick tests of the area
(tests/smoke.sh) do not find a defect, all plain tests of the area are run. The tree must have no changes, because files
are modified in place and restored. Defects that do not compile, or change no machine code, are not counted.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
AREAS = ["topo", "runtime", "p2p", "coll", "rma", "mpi_h", "launcher"]
# Functions of mpi.h are tested together with the layer that implements them.
LAYERS = {"mpi_h/p2p": "p2p", "mpi_h/collectives": "coll", "mpi_h/windows": "rma"}

# Kind, pattern of the code that is replaced, and replacement.
KINDS = [
    ("a limit off by one", r"(?<=\w) < (?=[\w(])", " <= "),
    ("a limit off by one", r" <= ", " < "),
    ("a limit off by one", r" > (?=\w)", " >= "),
    ("a limit off by one", r" >= ", " > "),
    ("one too few", r" \+ 1\b", ""),
    ("one too many", r" - 1\b", ""),
    ("an inverted comparison", r" == ", " != "),
    ("an inverted comparison", r" != ", " == "),
    ("and for or", r" && ", " || "),
    ("or for and", r" \|\| ", " && "),
    ("an inverted condition", r"(?<=if \()!", ""),
    ("the wrong extreme", r"std::min\b", "std::max"),
    ("the wrong extreme", r"std::max\b", "std::min"),
    ("the wrong sign", r"(?<=\w) \+= ", " -= "),
    ("the wrong constant", r"\breturn true;", "return false;"),
    ("the wrong constant", r"\breturn false;", "return true;"),
]
# A statement that is a call on a line of its own. Excluded are calls that change no result or are needed to compile.
CALL = re.compile(r"^ +(?!co_return\b|co_await\b|return\b|delete\b|throw\b)(?!.*\.reserve\()[\w.\->\[\]:]+\([^{}]*\);$")
STORE = re.compile(r"\.store\(.*memory_order_release\);$")


def candidates(text):
    """Yields (line, kind, the changed line or lines) of each possible defect; lines count from 0."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if not code.startswith(" ") or '"' in code or re.match(r" *(\*|template|using|static_assert)", code):
            continue
        for kind, pattern, other in KINDS:
            for found in re.finditer(pattern, code):
                yield number, kind, [code[:found.start()] + other + code[found.end():]]
        if CALL.match(code):
            yield number, "an omitted call", [""]
        if STORE.search(code) and number and CALL.match(lines[number - 1].split("//")[0].rstrip()):
            yield number - 1, "a flag published before the data is written", [line, lines[number - 1]]


def chosen_defects(seed):
    """Yields defects without end: areas in turn; in each area a random folder, file and defect; no defect twice."""
    chance = random.Random(seed)
    files = [ROOT / name for name in subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], cwd=ROOT, check=True,
                                                    capture_output=True, text=True).stdout.split()]
    seen = set()
    while True:
        for area in chance.sample(AREAS, len(AREAS)):
            folders = sorted({file.parent for file in files if file.relative_to(ROOT).parts[0] == area})
            folder = chance.choice(folders)
            file = chance.choice([file for file in files if file.parent == folder])
            possible = list(candidates(file.read_text()))
            kinds = sorted({kind for _, kind, _ in possible})
            if not kinds:
                continue
            kind = chance.choice(kinds)
            number, _, lines = chance.choice([one for one in possible if one[1] == kind])
            if (file, number, kind) not in seen:
                seen.add((file, number, kind))
                layers = [layer for place, layer in LAYERS.items() if file.is_relative_to(ROOT / place)]
                yield [area, *layers], file, number, kind, lines


def run(command, log, limit):
    """Returns whether the command succeeds within `limit` seconds; its output is written to the file `log`."""
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True)
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return False


def first_failure(log):
    found = re.search(r"Test +#\d+: (\S+) [^*\n]*\*\*\*(?!Skipped)", pathlib.Path(log).read_text(encoding="utf-8", errors="replace"))
    return found.group(1) if found else "a run that did not end"


def object_codes(name):
    """Returns the contents of the object files that depend on the file."""
    dependents = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    codes, current = {}, None
    for line in dependents.split("\n"):
        if line and not line.startswith(" "):
            current = line.split(":")[0]
        elif line.strip().endswith("/" + name) and (BUILD / current).exists():
            codes[current] = (BUILD / current).read_bytes()
    return codes


def try_defect(areas, jobs, timeout, log):
    """Returns which set of tests finds the present defect, and the test that finds it; None if it does not compile."""
    tests = ["ctest", "--test-dir", str(BUILD), "-j", str(4 * jobs), "--timeout", str(timeout), "--stop-on-failure",
             "-L", f"^({'|'.join(areas)})$"]
    if not run(["ninja", "-C", str(BUILD), *(f"smoke_{area}" for area in areas)], log, 3600):
        return None
    if not run(tests + ["-L", "^smoke$"], log, 3600):
        return "smoke", first_failure(log)
    if not run(["ninja", "-C", str(BUILD)], log, 3600):
        return None
    if not run(tests + ["-LE", "^(foreign|in_all|smoke)$"], log, 7200):
        return "plain", first_failure(log)
    return "not found", ""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options.add_argument("--count", type=int, default=20, help="defects to try (20)")
    options.add_argument("--skip", type=int, default=0, help="number of defects of the seed to skip first")
    options.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at the same time (the number of cores)")
    options.add_argument("--timeout", type=int, default=120, help="seconds after which a test counts as failed (120)")
    options.add_argument("--list", action="store_true", help="only print the defects that would be tried")
    arguments = options.parse_args()
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT, check=False).returncode:
        sys.exit("tests/mutants.py: the tree has uncommitted changes")
    os.environ["TUTTI_TUNING"] = "none"
    print(f"seed {arguments.seed}", flush=True)
    if not arguments.list and not run(["ninja", "-C", str(BUILD)], BUILD / "mutants.log", 7200):
        sys.exit("tests/mutants.py: build the tests first (tests/run.sh does)")
    found = {"smoke": 0, "plain": 0, "not found": 0}
    for number, (areas, file, line, kind, changed) in enumerate(chosen_defects(arguments.seed)):
        if sum(found.values()) == arguments.count:
            break
        if number < arguments.skip:
            continue
        name = str(file.relative_to(ROOT))
        text = file.read_text()
        what = f"{name}:{line + 1}: {kind}: {text.splitlines()[line].strip()}"
        if arguments.list:
            found["plain"] += 1
            print(what)
            continue
        lines = text.split("\n")
        run(["ninja", "-C", str(BUILD)], BUILD / "mutants.log", 7200)   # without the previous defect
        before = object_codes(name)
        try:
            file.write_text("\n".join(lines[:line] + changed + lines[line + len(changed):]))
            verdict = try_defect(areas, arguments.jobs, arguments.timeout, BUILD / "mutants.log")
            after = object_codes(name)
        finally:
            file.write_text(text)
        if verdict is None or before == after:
            print(f"{number:3} {'does not compile' if verdict is None else 'changes nothing':10} {what}", flush=True)
            continue
        found[verdict[0]] += 1
        print(f"{number:3} {verdict[0]:10} {what}  {verdict[1]}", flush=True)
    if not arguments.list:
        print(f"{found['smoke']} found by the quick tests, {found['smoke'] + found['plain']} by the plain ones, "
              f"{found['not found']} not found")


if __name__ == "__main__":
    main()
