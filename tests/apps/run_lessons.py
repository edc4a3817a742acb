# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pages of apps/lessons: run_lessons.py COPY LESSONS [--write], with mpicc and mpiexec in PATH.

Runs each line of a sh block in the lesson's folder of COPY, and compares its output with the text block that follows. A
command with ./mistake-… must fail or print a warning; any other one must succeed and print nothing to standard error.
--write writes the output into the pages of LESSONS instead of comparing it.
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
    """Returns the parts of an output that are compared: a report's headline and source lines, or all other lines."""
    text = re.sub(r"on \S+, process \d+", "on HOST, process N", text)
    text = re.sub(r"\d+\.\d+ (us|s|times)\b", r"N \1", text)
    text = re.sub(r"^  ranks? .*  waiting for rank \d+\n", "", text, flags=re.M)   # printed only after a long wait
    lines = [" ".join(line.split()) for line in text.splitlines()]
    headline = next((line for line in lines if REPORT.match(line)), None)
    if headline:
        # Dependent ranks of a deadlock, and ranks that have reached MPI_Finalize, differ from run to run; the headline
        # names the ranks that matter.
        found = re.findall(r"^  (ranks? [\d, and-]+?)  (.*) ([\w-]+\.c:\d+)(?!.*\(waits for them)", text, re.M)
        places = {("" if "MPI_Finalize" in call else ranks, place) for ranks, call, place in found}
        if headline.startswith("error[MPI_"):   # the job may end before all ranks report it
            places = {("", place) for _, place in places}
        return sorted(re.findall(r"\w+", headline)) + sorted(places)   # two ranks may be named in either order
    return sorted(without_end([line for line in lines if line]))


def without_end(lines):
    """Omits mpiexec's line on how the job ended if other lines give the reason."""
    reasons = [line for line in lines if not line.startswith("mpiexec: rank")]
    return reasons or lines


def run(command, folder):
    """Returns an error message or None, and the output."""
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, timeout=LIMIT_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return f"{command}: still running after {LIMIT_S} s", ""
    printed = done.stdout + done.stderr
    if re.match(r"mpiexec .*\./mistake-", command):
        reported = done.returncode != 0 or "warning[" in done.stderr
        return (None if reported else f"{command}: exit code 0"), done.stderr
    if done.returncode != 0 or done.stderr:
        return f"{command}: exit code {done.returncode}: {printed}", printed
    return None, printed


def for_page(printed):
    """Returns the output as the page shows it."""
    printed = re.sub(r"on \S+, process \d+", "on desk, process 4711", printed)
    lines = without_end(printed.splitlines())
    if not any(REPORT.match(line) for line in lines):
        lines.sort()
    return "".join(line + "\n" for line in lines)


def run_blocks(page, folder):
    """Yields an error message or None, the block's match, and the output."""
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
        yield (None if same else f"{block.group(1)}should print\n{block.group(2)}and printed\n{printed}"), block, printed


def run_lesson(copy, page_path, write):
    """Returns the errors of one lesson, as messages."""
    folder = os.path.join(copy, os.path.basename(os.path.dirname(page_path)))
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    programs = [name[:-len(".c")] for name in sorted(os.listdir(folder)) if name.endswith(".c")]
    errors = [f"{name} is not run by any command of its page"
              for name in programs if not re.search(rf"\./{name}\b", page)]
    written = page
    for failure, block, printed in run_blocks(page, folder):
        if write and block.group(2) is not None and (failure or "error[" in printed):
            shown = block.group().replace("```text\n" + block.group(2), "```text\n" + for_page(printed))
            written = written.replace(block.group(), shown)
        elif failure:
            errors.append(failure)
    for name in programs:
        for ranks in (2, 4) if not name.startswith("mistake-") else ():
            failure, _ = run(f"mpiexec -n {ranks} ./{name}", folder)
            errors += [failure] if failure else []
    if written != page:
        with open(page_path, "w", encoding="utf-8") as file:
            file.write(written)
    return [f"{os.path.basename(folder)}: {error}" for error in errors]


def main(copy, lessons, write):
    pages = [os.path.join(lessons, name, "README.md") for name in sorted(os.listdir(lessons)) if name[:1].isdigit()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda page: run_lesson(copy, page, write), pages)
        errors = [error for of_one_lesson in results for error in of_one_lesson]
    print("\n".join(errors) if errors else f"the output of {len(pages)} lessons is as expected")
    return 1 if errors or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--write" in sys.argv[3:]))
