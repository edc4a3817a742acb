# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pages of apps/lessons: run_lessons.py COPY LESSONS [--write], with mpicc and mpiexec in PATH.

Runs each line of a sh block in the lesson's folder of COPY, and compares its output with the text block that follows
(tests/guides/page_output.py); without a text block it must print nothing. A command with ./mistake-… must fail or print
a warning; any other one must succeed.
--write writes the output into the pages of LESSONS instead of comparing it.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../guides"))
import page_output   # noqa: E402

BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
LIMIT_S = 60


def run(command, folder):
    """Returns an error message or None, and the output."""
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, timeout=LIMIT_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return f"{command}: still running after {LIMIT_S} s", ""
    reported = done.returncode != 0 or "warning[" in done.stdout
    if reported != bool(re.match(r"mpiexec .*\./mistake-", command)):
        return f"{command}: exit code {done.returncode}: {done.stdout}", done.stdout
    return None, done.stdout


def run_blocks(page, folder):
    """Yields an error message or None, the block's match, and the output."""
    for block in BLOCK.finditer(page):
        printed = ""
        for command in block.group(1).splitlines():
            failure, output = run(command, folder)
            printed += output
            if failure:
                yield failure, block, printed
        shown = block.group(2) or ""
        same = page_output.is_same(shown, printed)
        yield (None if same else f"{block.group(1)}should print\n{shown}and printed\n{printed}"), block, printed


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
        if write and block.group(2) is not None and failure:
            shown = block.group().replace("```text\n" + block.group(2), "```text\n" + page_output.for_page(printed))
            written = written.replace(block.group(), shown)
        elif failure:
            errors.append(failure)
    for name in programs:
        for ranks in (2, 4) if not name.startswith("mistake-") else ():
            failure, to_stderr = run(f"mpiexec -n {ranks} ./{name} >/dev/null", folder)
            errors += [failure or to_stderr] if failure or to_stderr else []
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
