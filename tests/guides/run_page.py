# SPDX-License-Identifier: BSD-3-Clause
"""Executes the blocks of a page, to be run at the top of the tree.

A block of C or C++ is written to the file that the page named last. Each line of a block of commands is run, where the
lines that configure and build are replaced by --build. The block of text directly below must show all output of these
commands (page_output.py); without such a block they must print nothing, unless a picture is directly below.

Blocks below a comment <!-- needs PACKAGE... --> are run only with --foreign, and then no others are.

The commands of README.md that install packages (apps/demo.sh, tests/*.sh) are not run here. tests/fresh.sh runs them
on a minimal system; --recorded compares its log, in which `$ COMMAND` precedes an output, with the page.
"""
import argparse
import re
import subprocess
import sys

import page_output

BLOCK = re.compile(r"^(?P<needs><!-- needs [^\n]*-->\n\n)?```(?P<language>c|cpp|sh)\n(?P<body>.*?)^```\n"
                   r"(?:\n```text\n(?P<shown>.*?)^```\n|\n(?P<picture>!\[))?", re.S | re.M)
RUN_ELSEWHERE = re.compile(r"(apps/demo|tests/\w+)\.sh\b")


def run(commands, build):
    output, built = "", False
    for command in commands.splitlines():
        if re.match(r"cmake |ninja ", command):
            if built:
                continue
            command, built = build, True
        result = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output += result.stdout
        if result.returncode != 0:
            sys.exit(f"{command}\nended with {result.returncode}:\n{result.stdout[-5000:]}")
    return output


def recorded_outputs(log, commands):
    """Returns the output of each command that the log contains."""
    outputs, current = {}, None
    for line in log.splitlines(keepends=True):
        command = line[2:].strip() if line.startswith("$ ") else None
        if command in commands and command not in outputs:
            current = command
            outputs[current] = ""
        elif current:
            outputs[current] += line
    return outputs


def file_named_last(text):
    names = re.findall(r"`([\w/-]+\.\w+)`", text)
    return names[-1] if names else sys.exit("a block of C or C++ without the name of its file")


def main(options):
    with open(options.page, encoding="utf-8") as file:
        text = file.read()
    written, errors = text, []
    blocks = list(BLOCK.finditer(text))
    elsewhere = {block["body"].strip() for block in blocks if RUN_ELSEWHERE.match(block["body"])}
    recorded = {}
    if options.recorded:
        with open(options.recorded, encoding="utf-8") as file:
            recorded = recorded_outputs(file.read(), elsewhere)
        errors += [f"{options.recorded} lacks the output of {command}" for command in sorted(elsewhere - set(recorded))]
    for block in blocks:
        needs, language, body, shown, picture = block.groups()
        if bool(options.recorded) != (body.strip() in elsewhere) or options.foreign != bool(needs):
            continue
        if language != "sh":
            with open(file_named_last(text[:block.start()]), "w", encoding="utf-8") as file:
                file.write(body)
            continue
        printed = recorded.get(body.strip()) if options.recorded else run(body, options.build)
        if printed is None or picture or page_output.is_same(shown or "", printed):
            continue
        errors.append(f"{options.page}:{text.count(chr(10), 0, block.start()) + 1}:\n{body}should print\n"
                      f"{shown or 'nothing'}\nand printed\n{printed}")
        if shown is not None:
            replaced = block.group().replace("```text\n" + shown, "```text\n" + page_output.for_page(printed))
            written = written.replace(block.group(), replaced)
    if text.count("```text\n") != sum(block["shown"] is not None for block in blocks):
        errors.append(f"{options.page} has a block of text that is not directly below a block of commands")
    if len(blocks) < options.least:
        errors.append(f"{options.page} has only {len(blocks)} executable blocks")
    if options.write and written != text:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(written)
    elif errors:
        sys.exit("\n".join(errors))
    print(f"{options.page}: {sum(block['language'] == 'sh' for block in blocks)} blocks of commands")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Executes the blocks of a page and compares their output.")
    parser.add_argument("page")
    parser.add_argument("--build", default="true", help="the command that replaces lines of cmake and ninja (true)")
    parser.add_argument("--least", type=int, default=1, help="the page must have so many executable blocks (1)")
    parser.add_argument("--recorded", metavar="LOG", help="compare only what this log of tests/fresh.sh contains")
    parser.add_argument("--foreign", action="store_true", help="run only the blocks that need further packages")
    parser.add_argument("--write", action="store_true", help="write the output into the page instead of comparing it")
    main(parser.parse_args())
