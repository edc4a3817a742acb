# SPDX-License-Identifier: BSD-3-Clause
"""Compares the output of commands with the block of text that a page shows below them.

The page shows the whole output as it was printed, standard error included. All lines must be equal, in order, except:
- A line with only `…` stands for one or more lines that the page leaves out.
- Any amount of blanks separates words; empty lines are ignored. The host is named `desk`, and the number
  after `process` is any number, and so is an address (`0x…` with six digits or more). The source tree is
  `/home/you/tutti`, the cache folder `/home/you/.cache`; sums in names of files there are any sums.
- Measured values vary: a number with a unit (us, ms, s, %, KiB, cores, …), every number with a decimal point in a line
  that has a unit, and a number with an exponent. All other numbers are compared.
- In a table all numbers vary, except in the first column, and whole ones after a name in it; a name of a column or row
  of this or an earlier table, such as the best algorithm, matches any other one. A table starts with a line of four or
  more columns of which none begins with a digit, or whose first one is `bytes` and whose others are sizes.
- Adjacent lines that start with a word or a bracket and differ only in numbers come from several ranks, in any order.
- A report names two ranks in either order. In a report of an MPI error class, and for MPI_Finalize, only some of the
  ranks may have arrived; any of them may end the job. A line that ends with `waiting for rank N` or `(waits for them)`
  may be missing. The send of a message may be its sender's last call, or not any more: then its name and source line
  are missing.
"""
import itertools
import os
import pathlib
import re
import socket

NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = {**dict.fromkeys(("us", "ms", "s"), "TIME"), **dict.fromkeys(("B", "KiB", "MiB", "GiB", "TiB"), "BYTES"),
        "%": "PERCENT", "million": "MILLION", "times": "TIMES", **dict.fromkeys(("core", "cores"), "CORES")}
WITH_UNIT = re.compile(rf"(?<![\w.]){NUMBER} ({'|'.join(UNIT)})(?!\w)")
RANKS = re.compile(r"  (ranks? \d[\d, and-]*?)  +(.*)")
ENDED = re.compile(r"mpiexec: rank (\d+) on (.*)")
LAST_SEND = re.compile(r"MPI_\w*send\w*\((.*?)\)  .*\(its last call\)$", re.M | re.I)
MAY_BE_MISSING = re.compile(r"  rank.*(waiting for rank \d+|\(waits for them\))$")
LEFT_OUT = "…"


def with_usual_names(text):
    """Returns the text with the usual names of the host and of folders."""
    text = re.sub(rf"(?<![\w.-]){re.escape(socket.gethostname())}(?![\w-])", "desk", text)
    for folder, usual in ((os.environ.get("XDG_CACHE_HOME"), "/home/you/.cache"),
                          (str(pathlib.Path(__file__).resolve().parents[2]), "/home/you/tutti")):
        if folder:
            text = text.replace(folder + "/", usual + "/")
    return text


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def is_header(line):
    first, *others = cells(line)
    return len(others) >= 3 and (not re.search(r"(^|\s)\d", line) or first == "bytes" and all(map(str.isdigit, others)))


def without_measurements(line):
    """Returns the line with the kind of each measured value in its place."""
    replaced = WITH_UNIT.sub(lambda found: UNIT[found.group(1)], line)
    if replaced != line or "microseconds" in line:
        replaced = re.sub(r"(?<![\w.])\d+\.\d+(?![\w.])", "NUMBER", replaced)
    return re.sub(r"(?<![\w.])\d+(?:\.\d+)?e[-+]\d+", "NUMBER", replaced)


def row_without_measurements(line, names):
    """Returns a line of a table whose columns have these names: numbers and names of columns are replaced."""
    words = cells(line)
    first = 2 if len(words) > 1 and words[1].isdigit() and not words[0].isdigit() else 1
    return "  ".join(words[:first] + ["NUMBER" if re.fullmatch(rf"{NUMBER}( ({'|'.join(UNIT)}))?", word) else
                                      "NAME" if word in names else word for word in words[first:]])


def compared_lines(text):
    """Returns the lines in the form that is compared; lines of several ranks are sorted."""
    text = re.sub(r"-[0-9a-f]{8}-[0-9a-f]{16}\b", "-SUM", with_usual_names(text))
    text = re.sub(r"\b0x[0-9a-f]{6,}", "ADDRESS", re.sub(r"\bprocess \d+", "process N", text))
    text = LAST_SEND.sub(r"send of \1", text)
    lines, names, known = [], [], []
    for line in text.splitlines():
        if is_header(line):
            names = known = known + cells(line)
        elif len(cells(line)) < 2:
            names = []
        else:
            known = known + cells(line)[:1] if names else known
            line = "  " + row_without_measurements(line, names) if names else line
        indent = "  " if line.startswith("  ") else ""
        words = cells(line) if RANKS.match(line) else line.split()
        lines.append(indent + without_measurements(("  " if RANKS.match(line) else " ").join(words)))
    return sorted_by_rank([line for line in lines if line.strip()])


def sorted_by_rank(lines):
    """Sorts adjacent lines that differ only in numbers, and are not indented."""
    def shape(numbered):
        number, line = numbered
        may_be_sorted = re.match(r"[\w\[(]", line) and len(cells(line)) < 3   # tables have an order
        return re.sub(r"\d+", "N", line) if may_be_sorted else number
    groups = itertools.groupby(enumerate(lines), shape)
    return [line for _, group in groups for line in sorted(line for _, line in group)]


def rank_set(text):
    """Returns the ranks of "ranks 0,2-3" or "rank 1"."""
    ranges = (re.findall(r"\d+", part) for part in re.split(r",| and ", text))
    return {rank for ends in ranges for rank in range(int(ends[0]), int(ends[-1]) + 1)}


def same_line(shown, printed, mpi_error, named):
    """Compares two lines; `named` are the ranks in the page's report, `mpi_error`: it is about an MPI error class."""
    if shown == printed:
        return True
    if re.match(r"(error|warning)\[", shown):
        return sorted(re.findall(r"[\w\[]+", shown)) == sorted(re.findall(r"[\w\[]+", printed))
    ends = ENDED.fullmatch(shown), ENDED.fullmatch(printed)
    if all(ends):
        return mpi_error and {int(end.group(1)) for end in ends} <= named and ends[0].group(2) == ends[1].group(2)
    calls = RANKS.fullmatch(shown), RANKS.fullmatch(printed)
    if not all(calls) or calls[0].group(2) != calls[1].group(2) or not (mpi_error or "MPI_Finalize" in shown):
        return False
    return rank_set(calls[1].group(1)) <= rank_set(calls[0].group(1))


def matches(shown, printed, mpi_error=False, named=frozenset()):
    """Returns whether all printed lines match the shown ones."""
    if not shown:
        return not printed
    if shown[0] == LEFT_OUT:
        return any(matches(shown[1:], printed[n:], mpi_error, named) for n in range(1, len(printed) + 1))
    if MAY_BE_MISSING.match(shown[0]) and matches(shown[1:], printed, mpi_error, named):
        return True
    if re.match(r"(error|warning)\[", shown[0]):
        mpi_error = shown[0].startswith("error[MPI_")
        named = set().union(*(rank_set(found.group(1)) for found in map(RANKS.fullmatch, shown) if found))
    return bool(printed) and same_line(shown[0], printed[0], mpi_error, named) and \
        matches(shown[1:], printed[1:], mpi_error, named)


def is_same(shown, printed):
    """Returns whether a page's block of text shows this output; without a block, ""."""
    return matches(compared_lines(shown), compared_lines(printed))


def for_page(printed):
    """Returns the output as a page shows it."""
    printed = with_usual_names(printed)
    processes = itertools.count(4711)
    printed = re.sub(r"\bprocess \d+", lambda _: f"process {next(processes)}", printed)
    return "".join(line.rstrip() + "\n" for line in sorted_by_rank(printed.rstrip().splitlines()))
