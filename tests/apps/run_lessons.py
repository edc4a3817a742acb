# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pages of apps/lessons: run_lessons.py COPY LESSONS [--write], with mpicc and mpiexec in PATH.

Each line of a sh block is run in the lesson's folder of COPY, and what it prints is compared with the text block behind
it. A command with ./mistake-… must fail or be warned of, any other one succeed without a word on standard error. --write
puts what was printed into the pages of LESSONS in place of comparing.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
REPORT = re.compile(r"(error|warning)\[")
LIMIT_S = 60


def essence(text):
    """Of a report its headline, and each rank's place; of anything else its lines, without what differs from run to run."""
    text = re.sub(r"on \S+, process \d+", "on HOST, process N", text)
    text = re.sub(r"\d+\.\d+ (us|s|times)\b", r"N \1", text)
    text = re.sub(r"^  ranks? .*  waiting for rank \d+\n", "", text, flags=re.M)   # if it has done so for long by then
    lines = [" ".join(line.split()) for line in text.splitlines()]
    headline = next((line for line in lines if REPORT.match(line)), None)
    if headline:
        # Which ranks already wait behind those of a deadlock differs, and which others have reached MPI_Finalize; the
        # headline names those that matter.
        found = re.findall(r"^  (ranks? [\d, and-]+?)  (.*) ([\w-]+\.c:\d+)(?!.*\(behind)", text, re.M)
        places = {("" if "MPI_Finalize" in call else ranks, place) for ranks, call, place in found}
        if headline.startswith("error[MPI_"):   # some of those that make it may be ended before they say so
            places = {("", place) for _, place in places}
        return sorted(re.findall(r"\w+", headline)) + sorted(places)   # whichever of two ranks looks first may be named first
    return sorted(without_end([line for line in lines if line]))


def without_end(lines):
    """mpiexec's own line on how the job ended is left out where something else tells why."""
    told = [line for line in lines if not line.startswith("mpiexec: rank")]
    return told or lines


def run(command, folder):
    """(what is wrong or None, what it printed)"""
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, timeout=LIMIT_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return f"{command}: not ended after {LIMIT_S} s", ""
    printed = done.stdout + done.stderr
    if re.match(r"mpiexec .*\./mistake-", command):
        told = done.returncode != 0 or "warning[" in done.stderr
        return (None if told else f"{command}: exit code 0"), done.stderr
    if done.returncode != 0 or done.stderr:
        return f"{command}: exit code {done.returncode}: {printed}", printed
    return None, printed


def for_page(printed):
    """As it is shown to a reader."""
    printed = re.sub(r"on \S+, process \d+", "on desk, process 4711", printed)
    lines = without_end(printed.splitlines())
    if not any(REPORT.match(line) for line in lines):
        lines.sort()
    return "".join(line + "\n" for line in lines)


def run_blocks(page, folder):
    """Yields (what is wrong or None, the block's match, what it printed)."""
    for block in BLOCK.finditer(page):
        printed = ""
        for command in block.group(1).splitlines():
            failure, output = run(command, folder)
            printed += output
            if failure:
                yield failure, block, printed
        if block.group(2) is None:
            continue
        same = essence(block.group(2)) == essence(printed)
        yield (None if same else f"{block.group(1)}says\n{block.group(2)}and printed\n{printed}"), block, printed


def run_lesson(copy, page_path, write):
    """The wrongs of one lesson, as sentences."""
    folder = os.path.join(copy, os.path.basename(os.path.dirname(page_path)))
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    programs = [name[:-len(".c")] for name in sorted(os.listdir(folder)) if name.endswith(".c")]
    wrongs = [f"{name} is run by no command of its page" for name in programs if not re.search(rf"\./{name}\b", page)]
    written = page
    for failure, block, printed in run_blocks(page, folder):
        if write and block.group(2) is not None and (failure or "error[" in printed):
            shown = block.group().replace("```text\n" + block.group(2), "```text\n" + for_page(printed))
            written = written.replace(block.group(), shown)
        elif failure:
            wrongs.append(failure)
    for name in programs:
        for ranks in (2, 4) if not name.startswith("mistake-") else ():
            failure, _ = run(f"mpiexec -n {ranks} ./{name}", folder)
            wrongs += [failure] if failure else []
    if written != page:
        with open(page_path, "w", encoding="utf-8") as file:
            file.write(written)
    return [f"{os.path.basename(folder)}: {what}" for what in wrongs]


def main(copy, lessons, write):
    pages = [os.path.join(lessons, name, "README.md") for name in sorted(os.listdir(lessons)) if name[:1].isdigit()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrongs = [what for all_of_one in pool.map(lambda page: run_lesson(copy, page, write), pages) for what in all_of_one]
    print("\n".join(wrongs) if wrongs else f"{len(pages)} lessons do as they say")
    return 1 if wrongs or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--write" in sys.argv[3:]))
