# SPDX-License-Identifier: BSD-3-Clause
"""Checks the language of the tree: comments, messages, pages and identifiers.

    language_check.py ROOT                         words that are not used here; comments and pages that name what
                                                   does not exist
    language_check.py ROOT --sample [N [SEED]]     prints N random sentences (default: 60) and the seed

The first form prints each offender as path:line: text and exits 1 if there is one; it checks itself first on snippets.
The second is a reader's test: a sentence fails if an engineer who knows MPI has to read it twice. A good one has a
subject that acts (the rank, the sender, the launcher), a verb and an object, and uses the MPI standard's terms.
"""
import os
import random
import re
import sys

CODE = (".c", ".h", ".cpp", ".hpp", ".def")
SCRIPTS = (".sh", ".py", ".cmake", "CMakeLists.txt")
SKIPPED = {"CHANGELOG.md", "tests/language_check.py"}   # history as it was written; the list itself
WORDS = {  # regular expression: what is written instead. Parts of identifiers count (ToldRank, tell_waiting).
    "nobody|everybody|whoever|anybody": "the actor: no rank, all ranks, a peer",
    "tells?|told|telling": "report, notify, describe",
    "hears?|heard|hearing": "receive, be notified",
    "for ever": "forever, without end",
    "at once": "immediately, at the same time",
    "in vain": "without progress, empty polls",
    "goodbyes?|parted": "shutdown, shut down",
    "outlives?|outlived": "drain",
    "let go|lets go": "release",
    "settles?|settled": "complete, finalize",
    "crowded": "oversubscribed",
    "by processor": "atomic",
    "commons": "world area",
    "complaints?": "diagnostic",
    "wish|wishes|wished": "request",
    "lots": "groups, many",
    "laid out": "staged",
    "sentences?": "description, message",
}
SPOKEN = re.compile("|".join(rf"\b(?:{words})\b" for words in WORDS))
TOKEN = re.compile(r'(?P<include>^[ \t]*#[ \t]*include[^\n]*)|(?P<comment>(?:[ \t]*//[^\n]*\n(?=[ \t]*//))*[ \t]*//[^\n]*|/\*.*?\*/)'
                   r'|(?P<raw>R"(?P<mark>\w*)\(.*?\)(?P=mark)")'
                   r'|(?P<string>"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*)'
                   r"|(?P<char>\'(?:\\.|[^\'\\\n])+\')", re.S | re.M)


def tokens_of_code(text):
    """(kind, line, text) of each comment and string; adjacent comment lines and adjacent strings are one."""
    for found in TOKEN.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found["comment"]:
            yield "comment", line, re.sub(r"^[ \t]*//[/!<]*[ \t]?|^[ \t]*/?\*+/?", "", found.group(), flags=re.M)
        elif found["raw"]:
            yield "string", line, found.group()
        elif found["string"]:
            yield "string", line, "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', found.group())).replace("\\n", "\n")


def code_alone(text):
    """The text without comments and strings."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def tokens_of_script(text):
    """(kind, line, text) of each comment of a shell, Python or CMake file; adjacent lines are one."""
    for found in re.finditer(r"(?:^[ \t]*#[^\n]*\n)+|[ \t]{2,}# [^\n]*", text, re.M):
        yield "comment", text.count("\n", 0, found.start()) + 1, re.sub(r"^[ \t]*#+!?[ \t]?", "", found.group(), flags=re.M)


def tokens_of_page(text):
    """(kind, line, text) of each paragraph of a Markdown page, without the blocks of code."""
    prose = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), text, flags=re.S)
    for found in re.finditer(r"(?:^[^\n]*\S[^\n]*\n?)+", prose, re.M):
        yield "page", prose.count("\n", 0, found.start()) + 1, found.group()


def is_text_of_manual(path):
    return path.startswith("mpi_h/manual/") and path.endswith(".txt")


def without_directives(text):
    """A text of the manual without its directives (mpi_h/manual/README.md), except purposes and errors."""
    text = re.sub(r"^@function \w+  (.*)", r"\1.", text, flags=re.M)
    return re.sub(r"^(?:@error \w+ |@(?!error).*|#.*)", "", text, flags=re.M)


def tokens_of(path, text):
    if path.endswith(".md"):
        return tokens_of_page(text)
    if is_text_of_manual(path):
        return tokens_of_page(without_directives(text))
    return tokens_of_script(text) if path.endswith(SCRIPTS) else tokens_of_code(text)


def words_in(text):
    """(offset of the line, word) of each word that is not used here. Quotations in backquotes are not searched."""
    for offset, line in enumerate(text.split("\n")):
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"`[^`]*`", "", line)).replace("_", " ").lower()
        for found in SPOKEN.finditer(spaced):
            yield offset, found.group()


def check_words(path, text):
    for line, word in words_in(text if path.endswith(CODE) else "\n".join(padded(tokens_of(path, text)))):
        yield line + 1, f'"{word}"; instead: {next(better for words, better in WORDS.items() if re.fullmatch(words, word))}'


def padded(tokens):
    """The lines of the tokens at their places in the file."""
    lines = []
    for _, line, text in tokens:
        lines += [""] * (line - 1 - len(lines)) + text.split("\n")
    return lines


class Tree:
    """The files and identifiers that comments may name."""

    def __init__(self, files):
        self.paths = set(files)
        self.names = {os.path.basename(path) for path in files} | {part for path in files for part in path.split("/")[:-1]}
        self.identifiers = set()
        for path, text in files.items():
            if path.endswith(CODE):
                self.identifiers |= set(re.findall(r"\w+", code_alone(text)))
            elif path.endswith(SCRIPTS):
                self.identifiers |= set(re.findall(r"\w+", text))

    def has_file(self, name, beside):
        folder = os.path.dirname(beside)
        return name in self.paths or os.path.normpath(os.path.join(folder, name)) in self.paths or \
            ("/" not in name and name in self.names) or any(path.endswith("/" + name) for path in self.paths)


def check_page_references(path, text, tree):
    """Files that a page names in backquotes, except those that it has the reader write: a block of code follows their
    name, or a command redirects into them."""
    blocks = re.findall(r"```.*?```", text, re.S)
    written = set(re.findall(r"> *([\w./-]+)", "\n".join(blocks)))
    for block in re.finditer(r"^```c(?:pp)?$", text, re.M):
        written.update(re.findall(r"`([\w/.-]+\.\w+)`", text[:block.start()])[-1:])
    for _, line, body in tokens_of_page(text):
        for offset, each in enumerate(body.split("\n")):
            for name in re.findall(r"`((?:\w[\w-]*/)*\w[\w-]*\.(?:hpp|cpp|def|sh|py|cmake|md|js))`", each):
                if name not in written and not tree.has_file(name, path):
                    yield line + offset, f"names {name}, which does not exist"


def check_references(path, text, tree):
    """Names in comments: files of this tree, `a::b` and `f()`. tree_check.py checks the links of pages."""
    if path.endswith(".md"):
        yield from check_page_references(path, text, tree)
        return
    for kind, line, body in tokens_of(path, text):
        if kind != "comment":
            continue
        for offset, each in enumerate(body.split("\n")):
            for name in re.findall(r"(?<![\w/.<$*{}-])((?:\w[\w-]*/)*\w[\w-]*\.(?:hpp|cpp|def))\b", each):
                if not tree.has_file(name, path):
                    yield line + offset, f"names {name}, which does not exist"
            for scope, name in re.findall(r"(?<![\w:])(\w+)::(\w+)\b(?!::)", each):
                if scope != "std" and not {scope, name} <= tree.identifiers:
                    yield line + offset, f"names {scope}::{name}, which does not exist"
            for name in re.findall(r"(?<![\w:.>-])([a-z]\w*)\(\)", each):
                if path.endswith(CODE) and name not in tree.identifiers:
                    yield line + offset, f"names {name}(), which does not exist"


def sentences_of(path, text):
    """(line, sentence) of everything that a person reads in a file."""
    for kind, line, body in tokens_of(path, text):
        body = re.sub(r".*SPDX-License-Identifier.*", "", body)
        if kind == "string" and (path.startswith("tests/") or len(re.findall(r"\b[a-z]{2,}\b", body)) < 3):
            continue
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`])", re.sub(r"\s+", " ", body).strip()):
            if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 3:
                yield line, sentence


def read_tree(root):
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f == ".ci" or not f.startswith((".", "build")) and f != "__pycache__"]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if path.endswith(CODE + SCRIPTS + (".md",)) or is_text_of_manual(path):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    files[path] = file.read()
    return files


def self_test():
    tree = Tree({"a/b.hpp": "struct B { void run(); };", "a/c.cpp": "int x;"})
    examples = [  # path, text, number of words, number of references
        ("a/d.cpp", "// The rank is told.\nint ToldRank, tell_rank, retell;\n", 3, 0),
        ("a/d.cpp", 'auto s = "in "\n"vain";\n', 0, 0),
        ("a/d.md", "Ask `tell`, hear\n```\ntell\n```\n", 1, 0),
        ("mpi_h/manual/d.txt", "# tell\n@see tell\n@error X It tells.\nHear `tell`.\n", 2, 0),
        ("a/d.sh", "# nobody\ntell x\n", 1, 0),
        ("a/d.cpp", "// See b.hpp, a/c.cpp, run(), B::run and std::x.\n", 0, 0),
        ("a/d.cpp", "// See e.hpp, b/c.cpp, go() and B::go.\n", 0, 4),
        ("a/d.md", "See `b.hpp`, `a/c.cpp`; write `mine.cpp`:\n\n```cpp\nint x;\n```\n\n```sh\ntrue > my.sh\n```\nRun `my.sh`.\n", 0, 0),
        ("a/d.md", "See `e.hpp` and `b/c.cpp`.\n", 0, 2),
    ]
    for path, text, words, references in examples:
        if (len(list(check_words(path, text))), len(list(check_references(path, text, tree)))) != (words, references):
            sys.exit(f"language_check.py judges its own example wrongly: {text!r}")
    if [s for _, s in sentences_of("a/d.cpp", "// SPDX-License-Identifier: X\n// One two three. Four\n// five six.\n")] != ["One two three.", "Four five six."]:
        sys.exit("language_check.py splits its own example wrongly")


def sample(files, number, seed):
    chosen = [(path, *each) for path, text in sorted(files.items()) if path not in SKIPPED for each in sentences_of(path, text)]
    print(f"{number} of {len(chosen)} sentences, seed {seed}")
    for path, line, sentence in random.Random(seed).sample(chosen, min(number, len(chosen))):
        print(f"{path}:{line}: {sentence}")


def main(root, *options):
    self_test()
    files = read_tree(root)
    if options[:1] == ("--sample",):
        sample(files, *[int(option) for option in options[1:2]] or [60], *options[2:3] or [str(random.randrange(10**6))])
        return 0
    tree, offenders = Tree(files), 0
    for path, text in sorted(files.items()):
        if path not in SKIPPED:
            for line, what in [*check_words(path, text), *check_references(path, text, tree)]:
                offenders += 1
                print(f"{path}:{line}: {what}")
    print(f"{offenders} offenders" if offenders else "The tree speaks plainly.")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
