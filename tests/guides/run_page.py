# SPDX-License-Identifier: BSD-3-Clause
"""Executes the blocks of a page, to be run at the top of the tree: run_page.py PAGE BUILD_COMMAND [LEAST] [--write].
The page must have at least LEAST (default: 8) executable blocks.

A block of C or C++ is written to the file that the page named last. Each line of a block of commands is run, where the lines
that configure and build are replaced by BUILD_COMMAND. The block of text directly below must show all output of these
commands (page_output.py); without such a block they must print nothing. --write writes the output into the page
instead of comparing it.
"""
import re
import subprocess
import sys

import page_output

BLOCK = re.compile(r"^```(c|cpp|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.S | re.M)


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


def file_named_last(text):
    names = re.findall(r"`([\w/-]+\.\w+)`", text)
    return names[-1] if names else sys.exit("a block of C or C++ without the name of its file")


def main(page, build, least="8", write=False):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    written, errors = text, []
    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        language, body, shown = block.groups()
        if language != "sh":
            with open(file_named_last(text[:block.start()]), "w", encoding="utf-8") as file:
                file.write(body)
            continue
        printed = run(body, build)
        if page_output.is_same(shown or "", printed):
            continue
        errors.append(f"{page}:{text.count(chr(10), 0, block.start()) + 1}:\n{body}should print\n{shown or 'nothing'}\n"
                      f"and printed\n{printed}")
        if shown is not None:
            replaced = block.group().replace("```text\n" + shown, "```text\n" + page_output.for_page(printed))
            written = written.replace(block.group(), replaced)
    if text.count("```text\n") != sum(block.group(3) is not None for block in blocks):
        errors.append(f"{page} has a block of text that is not directly below a block of commands")
    if len(blocks) < int(least):
        errors.append(f"{page} has only {len(blocks)} executable blocks")
    if write and written != text:
        with open(page, "w", encoding="utf-8") as file:
            file.write(written)
    elif errors:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main(*[argument for argument in sys.argv[1:] if argument != "--write"], write="--write" in sys.argv)
