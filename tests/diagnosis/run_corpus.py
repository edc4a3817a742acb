# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs of wrong/ or right/, which `ninja corpus` builds, and compares the reports with their head comments.

Usage: run_corpus.py BUILD [AREA]... [--jobs N] [--limit SECONDS] [--only PART-OF-A-PATH]
                     [--check] [--verbose] [--hosts A,B] [--before WORDS] [--options WORDS] [--under LAUNCHER]
An AREA is wrong, right, or a folder such as wrong/circles; wrong/fortran means all Fortran programs of wrong/.
README.md describes head comments and HERE marks.
"""
import argparse
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = (".c", ".cpp", ".f90")
CODE = r"(?:T\d\d|MPI_\w+)"   # of a report: ours, or an MPI error class
DEADLOCKED = 125   # mpiexec's exit code after it has reported an error


def numbers(words, count):
    """Parses ranks such as "0 2-4", "all", "1-last"; ignores those that a job of `count` ranks does not have."""
    found = set()
    for word in words.replace(",", " ").replace("and", " ").split():
        if word == "all":
            word = "0-last"
        first, _, last = word.replace("last", str(count - 1)).partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return {rank for rank in found if rank < count}


class Program:
    on_hosts = False   # the ranks run on several hosts
    checked = False   # under mpiexec --check
    other_launcher = False   # the launcher is not Tutti's mpiexec

    def __init__(self, path, wrong):
        self.path, self.wrong = path, wrong
        self.name = os.path.relpath(path, HERE)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.head = {}
        for line in lines[:20]:
            key = re.match(r"(?://|!) (ranks|whole|flags|args|input|env|mpiexec|unchecked|may warn|missed|says|one node"
                           r"|limit|ended|expect(?: \d+| nodes| checked)?): (.*)", line)
            if key:
                self.head[key.group(1)] = key.group(2)
        self.counts = [int(word) for word in self.head["ranks"].split()]
        self.marks = []   # (line, ranks as text)
        for number, line in enumerate(lines, 1):
            mark = re.search(r"(?://|!) HERE ([\w ,-]+)$", line)
            if mark:
                self.marks.append((number, mark.group(1)))

    def command(self, build):
        """Returns the executable (see extra.cmake) with the program's arguments."""
        folder, source = os.path.split(os.path.join(build, "tests", "corpus", self.name))
        alone = source.endswith(".f90") or "whole" in self.head or "flags" in self.head
        program = [source.replace(".", "_")] if alone else ["cases", os.path.splitext(source)[0]]
        return [os.path.join(folder, program[0]), *program[1:], *self.head.get("args", "").split()]

    def expectation(self, count):
        special = self.head.get("expect nodes" if self.on_hosts else "expect checked" if self.checked else "")
        return special or self.head.get(f"expect {count}", self.head.get("expect", ""))

    def message(self, count):
        """Returns the expected message if an MPI call detects the error; empty if mpiexec does."""
        return self.expectation(count).partition("message ")[2]

    def expected(self, count):
        """Returns (codes, ranks that are causes, ranks of which one is a cause, ranks that wait for them, code)."""
        parts = re.fullmatch(rf"(warning )?({CODE}(?: or {CODE})*)(?: ranks (.*?))?(?: one of (.*?))?(?: behind (.*?))?"
                             r"(?: ending with (\d+))?", self.expectation(count))
        code = int(parts.group(6) or (0 if parts.group(1) else DEADLOCKED))
        return parts.group(2).split(" or "), *(numbers(part or "", count) for part in parts.group(3, 4, 5)), code


def parse_report(report, count):
    """Returns the codes of a report, and {rank: [its lines]} of causes and of ranks that wait for them."""
    codes = re.findall(rf"^(?:error|warning)\[({CODE})\]", report, re.M)
    why, behind = {}, {}
    for ranks, rest in re.findall(r"^  ranks? ([\d, and-]+?) {2,}(.*)$", report, re.M):
        for rank in numbers(ranks, count):
            (behind if "waits for them)" in rest else why).setdefault(rank, []).append(rest)
    return codes, why, behind


def differences(program, count, code, report):
    """Yields descriptions of everything that is not as expected."""
    if words := program.message(count):
        if code == 0:
            yield "ended with 0"
        if words not in report:
            yield f"the message '{words}' is missing"
        return
    codes, ranks, choice, others, exit_code = program.expected(count)
    reported_codes, why, behind = parse_report(report, count)
    kinds = {one.startswith("MPI_") for one in reported_codes or codes}   # each host may find another error
    by_rank = True in kinds and code not in (0, None, DEADLOCKED)   # the exit code is that of the error
    if program.other_launcher:   # its exit code may also differ
        by_rank = exit_code != 0 and code not in (0, None)
    if not by_rank and not (False in kinds and code == exit_code):
        yield f"ended with {code} instead of {'the code of an error' if kinds == {True} else exit_code}"
    if not any(one in reported_codes[:1] for one in codes):
        yield f"reported {' '.join(reported_codes) or 'nothing'} instead of {' or '.join(codes)}"
    if program.head.get("says", "") not in report:
        yield f"the text '{program.head['says']}' is missing"
    for rank in sorted(ranks - set(why)):
        yield f"rank {rank} is not reported as a cause"
    if choice and not choice & set(why):
        yield f"none of the ranks {sorted(choice)} is reported as a cause"
    for rank in sorted(others & set(why)):
        yield f"rank {rank} is wrongly reported as a cause"
    if program.on_hosts and "expect nodes" in program.head:
        return   # the error may be reported at other calls
    file = os.path.basename(program.path)
    places = {}
    for line, words in program.marks:
        for rank in numbers(words, count):
            places.setdefault(rank, []).append(line)
    lines_of = {rank: " ".join(why.get(rank, []) + behind.get(rank, [])) for rank in places}
    for rank, lines in sorted(places.items()):
        if rank not in ranks | set(why) | set(behind):   # not blocked yet when the error was reported
            continue
        reported = lines_of[rank]
        if not any(re.search(rf"\b{re.escape(file)}:{line}\b", reported) for line in lines):
            yield f"rank {rank} is not reported at {file}:{' or '.join(map(str, lines))}"


def harmless(report, codes):
    """Returns whether the report is empty or has only errors and warnings with these codes."""
    found = set(re.findall(r"^(?:error|warning)\[(.*?)\]", report, re.M))
    return not report or (found and found <= set(codes))


def places(options, count):
    """Returns the option that distributes the ranks evenly over the hosts, with the remainder on the first ones."""
    hosts = options.hosts.split(",") if options.hosts else []
    each = [(count + len(hosts) - 1 - i) // len(hosts) for i in range(len(hosts))]
    return ["-hosts", ",".join(f"{host}:{ranks}" for host, ranks in zip(hosts, each) if ranks)] if hosts else []


def run(program, count, limit, options):
    """Returns (mpiexec's exit code or None after the limit, standard output, standard error)."""
    with tempfile.TemporaryDirectory() as folder:
        return run_in(folder, program, count, limit, options)


def run_in(folder, program, count, limit, options):
    """As run(). `folder`: for another launcher's files."""
    mpiexec = [*options.before.split(), os.path.join(options.build, "bin", "mpiexec"), *options.options.split()]
    mpiexec += [*places(options, count), *(["--check"] if options.check else [])]
    if options.under:
        mpiexec = options.under.split()
    command = [*mpiexec, *program.head.get("mpiexec", "").split(), "-n", str(count), *program.command(options.build)]
    environment = dict(os.environ, **dict(word.split("=", 1) for word in program.head.get("env", "").split()))
    if options.under:   # mpirun of Open MPI 4 fails if another one creates its folder at the same time
        environment["OMPI_MCA_orte_tmpdir_base"] = folder
    typed = program.head["input"] + "\n" if "input" in program.head else None
    process = subprocess.Popen(command, stdin=subprocess.PIPE if typed else subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", env=environment,
                               start_new_session=True)
    end = time.monotonic() + limit
    while True:
        try:
            out, err = process.communicate(typed, timeout=0.5 if "ended" in program.head else limit)
            return process.returncode, out, err
        except subprocess.TimeoutExpired as running:
            reported = "ended" in program.head and b"mpiexec --explain" in (running.stderr or b"")
            if not reported and time.monotonic() < end:
                continue
        # SIGTERM first, so that mpiexec can end its ranks.
        for how in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, how)
            try:
                out, err = process.communicate(timeout=5)
                break
            except subprocess.TimeoutExpired:
                pass
        return process.returncode if reported else None, out, err


def check(program, count, options):
    """Returns (everything that is not as expected, all output)."""
    missed = "missed" in program.head
    limit = min(options.limit, 3) if missed else float(program.head.get("limit", options.limit))
    code, out, err = run(program, count, limit, options)
    if missed:
        return (["reported now: remove the line 'missed:'"] if code is not None else []), out + err
    output = out + err
    if program.wrong:
        problems = list(differences(program, count, code, err))
    else:
        problems = [f"ended with {code} instead of 0"] if code != 0 else []
        if not harmless(err, program.head.get("may warn", "").split()
                        if options.check or "mpiexec" in program.head else []):
            problems.append("a message on standard error")
    if code is None:
        problems.insert(0, f"still ran after {limit} s")
    return problems, output


def programs_of(area, only):
    kind, _, part = area.partition("/")
    folder = os.path.join(HERE, kind if part == "fortran" else area)
    for path in sorted(os.path.join(one, name) for one, _, names in os.walk(folder) for name in names):
        language = os.path.splitext(path)[1]
        of_area = not part or (part == "fortran") == (language == ".f90")
        if language in LANGUAGES and of_area and any(part in os.path.relpath(path, HERE) for part in only):
            yield Program(path, kind == "wrong")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build")
    arguments.add_argument("areas", nargs="*", default=["wrong", "right"])
    arguments.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    arguments.add_argument("--limit", type=float, default=60)
    arguments.add_argument("--only", default="", help="parts of paths, separated by commas")
    arguments.add_argument("--check", action="store_true", help="run with mpiexec --check")
    arguments.add_argument("--verbose", action="store_true")
    arguments.add_argument("--hosts", default="", help="distribute the ranks over these hosts")
    arguments.add_argument("--before", default="", help="command that runs mpiexec")
    arguments.add_argument("--options", default="", help="options for mpiexec")
    arguments.add_argument("--under", default="", help="another launcher with its options; it must accept -n")
    options = arguments.parse_args()
    Program.on_hosts = bool(options.hosts)
    Program.checked = options.check
    programs = [one for area in options.areas for one in programs_of(area, options.only.split(","))]
    if options.check:
        programs = [one for one in programs if "unchecked" not in one.head]
    if options.hosts:
        programs = [one for one in programs if "one node" not in one.head]
    if options.under:
        Program.other_launcher = True
        programs = [one for one in programs if "mpiexec" not in one.head]
    return judge(programs, options)


def judge(programs, options):
    runs = [(program, count) for program in programs for count in program.counts if count > 1 or not options.hosts]
    runs.sort(key=lambda one: "ended" not in one[0].head)   # long runs first
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda one: check(*one, options), runs))
    total, good = {True: 0, False: 0}, {True: 0, False: 0}
    for (program, count), (problems, output) in zip(runs, results):
        total[program.wrong] += 1
        good[program.wrong] += not problems or "missed" in program.head
        if problems:
            failures += 1
            print(f"FAILED {program.name} -n {count}: {'; '.join(problems)}")
        if problems or options.verbose:
            print("".join(f"    {line}\n" for line in output.splitlines()[:40]), end="", flush=True)
    if total[True]:
        missed = sum("missed" in program.head for program, _ in runs)
        print(f"wrong programs: {good[True] - missed} of {total[True]} runs reported as expected, "
              f"{missed} not reported, as is known")
    if total[False]:
        print(f"right programs: {good[False]} of {total[False]} runs without a message, "
              f"{total[False] - good[False]} false alarms or failures")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
