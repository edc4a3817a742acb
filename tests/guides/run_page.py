# SPDX-License-Identifier: BSD-3-Clause
"""Executes the blocks of a page, to be run at the top of the tree: run_page.py PAGE BUILD_COMMAND [LEAST].
The page must have at least LEAST (default: 8) executable blocks.

A block of C++ is written to the file that the page named last. Each line of a block of commands is run, where the lines
that configure and build are replaced by BUILD_COMMAND. The lines of a block of text must occur in the output of the
last commands, where numbers match any number, and HOST matches any word.
"""
import re
import subprocess
import sys


def blocks(page):
    named = None
    for text, language, body in re.findall(r"(.*?)^```(\w+)\n(.*?)^```\n", page, re.S | re.M):
        names = re.findall(r"`([\w/-]+\.\w+)`", text)
        named = names[-1] if names else named
        yield named, language, body


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


def pattern(line):
    """Returns a regular expression of the line's words, with any blanks between them and any numbers."""
    words = (re.sub(r"\d+(?:\\\.\d+)?", r"\\d+(?:\\.\\d+)?", re.escape(w)) for w in line.split())
    return r"\s+".join(w.replace("HOST", r"\S+") for w in words)


def main(page, build, least="8"):
    output, done = "", 0
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for named, language, body in blocks(text):
        done += 1
        if language == "cpp":
            with open(named, "w", encoding="utf-8") as file:
                file.write(body)
        elif language == "sh":
            output = run(body, build)
        elif language == "text":
            missing = [line for line in body.splitlines() if not re.search(pattern(line), output)]
            if missing:
                sys.exit(f"{page} expects\n" + "\n".join(missing) + f"\nbut the output is\n{output}")
    if done < int(least):
        sys.exit(f"{page} has only {done} executable blocks")


main(*sys.argv[1:])
