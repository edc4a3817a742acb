# SPDX-License-Identifier: BSD-3-Clause
"""Does what a page says, as somebody who reads it would: run_page.py PAGE BUILD_COMMAND [LEAST], in the tree's root.
A page has at least LEAST (8) blocks that it can do.

A block of C++ becomes the file that was named last; of a block of commands each line is run, where those that configure
and build are replaced by BUILD_COMMAND; a block of text must be in the output of the last commands, line by line, with
any numbers in place of its own, and any word in that of HOST.
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
    """The line's words with any blanks between them, numbers as any numbers."""
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
                sys.exit(f"{page} expects\n" + "\n".join(missing) + f"\nbut there was\n{output}")
    if done < int(least):
        sys.exit(f"{page} has only {done} blocks that this program understands")


main(*sys.argv[1:])
