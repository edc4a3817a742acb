# SPDX-License-Identifier: BSD-3-Clause
"""Style checks over the source tree; prints each offender as path:line: what, and exits 1 if there is one.

With --self-test it checks itself first on small snippets, so that a rule that finds nothing is known to work.
"""
import glob
import os
import re
import sys

SOURCES = (".c", ".h", ".cpp", ".hpp", ".def", ".sh", ".py", ".cmake", "CMakeLists.txt")
CODE = (".c", ".h", ".cpp", ".hpp")
MAX_FILE, MAX_FUNCTION, MAX_README, MAX_LINE = 400, 80, 60, 120
MAY_INCLUDE = {  # a folder and the folders whose headers it may include
    "topo": {"topo"},
    "runtime": {"runtime", "topo"},
    "p2p": {"p2p", "runtime", "topo"},
    "coll": {"coll", "p2p", "runtime", "topo"},
    "mpi_h": {"mpi_h", "coll", "p2p", "runtime", "topo"},
    "launcher": {"launcher", "runtime", "topo"},
    "launcher/info": {"launcher", "coll", "p2p", "runtime", "topo"},  # a program of its own that lists all layers
    "launcher/tune": {"launcher", "coll", "p2p", "runtime", "topo"},  # likewise
}


def blank_comments_and_strings(text):
    """The same text, same line breaks, without what the rules must not look into."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(code):
    """(first line, last line) of each brace block that follows a closing parenthesis and is no control statement."""
    found, stack, line = [], [], 1
    head_start = 0
    for i, c in enumerate(code):
        if c == "\n":
            line += 1
        elif c == "{":
            head = code[head_start:i].strip()
            is_function = re.search(r"\)\s*(const|noexcept|override|final|mutable|->[^;{}]*|\s)*(:[^;]*)?$", head) and \
                not re.search(r"^(else\s+)?(if|for|while|switch|catch)\b|\b(namespace|class|struct|union|enum)\b|[=,(]\s*$|\[[^\]]*\]\s*\(",
                              head)
            stack.append((line - head.count("\n"), bool(is_function)))
            head_start = i + 1
        elif c == "}":
            if stack:
                start, is_function = stack.pop()
                if is_function:
                    found.append((start, line))
            head_start = i + 1
        elif c == ";":
            head_start = i + 1
    return found


def check_code(path, text):
    code = blank_comments_and_strings(text)
    folder = path.split("/")[0]
    if os.path.dirname(path) in MAY_INCLUDE:
        folder = os.path.dirname(path)
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
        if include and folder in MAY_INCLUDE and include.group(1) not in MAY_INCLUDE[folder]:
            yield number, f"{folder}/ may not include {include.group(1)}/"
        if re.match(r"\s*#\s*include\s+[<\"]mpi\.h[>\"]", line) and folder in MAY_INCLUDE and folder != "mpi_h":
            yield number, "only mpi_h/ knows mpi.h"
        if len(line) > MAX_LINE and not path.endswith("/mpi.h"):
            yield number, f"a line of {len(line)} characters (at most {MAX_LINE})"
    for number, line in enumerate(code.split("\n"), 1):
        if re.search(r"\bgoto\b", line):
            yield number, "goto"
    for first, last in functions(code):
        if last - first + 1 > MAX_FUNCTION:
            yield first, f"a function of {last - first + 1} lines (at most {MAX_FUNCTION})"


def check_file(path, text):
    lines = text.count("\n")
    if path.endswith("README.md"):
        if "/" in path and lines > MAX_README:
            yield 1, f"a README of {lines} lines (at most {MAX_README})"
        return
    if not path.endswith(SOURCES):
        return
    if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(text.split("\n")[:3]):
        yield 1, "no SPDX line"
    if lines > MAX_FILE and not path.endswith((".def", "/mpi.h")):
        yield 1, f"a file of {lines} lines (at most {MAX_FILE})"
    if path.endswith(CODE):
        yield from check_code(path, text)
    if re.fullmatch(r"coll/\w+/\w+\.cpp", path):
        yield from check_algorithm(path, text)


def check_algorithm(path, text):
    """coll/algorithms/<collective>/<name>.cpp: its record has its name, its head says what it costs and where it comes from."""
    name = os.path.basename(path)[:-len(".cpp")]
    head = re.match(r"(//[^\n]*\n)*", text).group()
    record = re.search(r'(\w+)_algorithm = \{\s*"(\w+)",(.*?)\};', text, re.S)
    if not record or record.group(1) != name or record.group(2) != name:
        yield 1, f"no record {name}_algorithm whose name is {name}"
        return
    if not re.search(r"\bsteps?\b|\bexchanges?\b|\bin a row\b|\bone after the other\b", head, re.I):
        yield 1, "the head does not say how many steps it takes"
    if not re.search(r"\bbytes?\b|\b[sn]\b|\bflags?\b|\bwords?\b|\bdata\b", head, re.I):
        yield 1, "the head does not say what is moved"
    published = not re.search('"Tutti"|"folklore', record.group(3))
    if published and not re.search(r"\bsections?\b|\b(19|20)\d\d\b", head):
        yield 1, "the head names no paper and section"


def check_list(listed, files):
    """`listed`: the lines of algorithms.def as "collective/name"; `files`: the same from coll/."""
    yield from (f"{name} is listed twice" for name in sorted({n for n in listed if listed.count(n) > 1}))
    yield from (f"{name} has no file coll/{name}.cpp" for name in sorted(set(listed) - set(files)))
    yield from (f"coll/{name}.cpp has no line ALGORITHM(...)" for name in sorted(set(files) - set(listed)))


def self_test():
    long_body = "\n".join("    x();" for _ in range(MAX_FUNCTION))
    spdx = "// SPDX-License-Identifier: BSD-3-Clause\n"
    bad = {
        "topo/a.cpp": spdx + '#include "runtime/b.hpp"\n',
        "launcher/a.cpp": spdx + '#include "p2p/b.hpp"\n',
        "launcher/info/a.cpp": spdx + '#include "mpi_h/b.hpp"\n',
        "coll/a.cpp": spdx + "#include <mpi.h>\n",
        "p2p/a.cpp": "int x;\n",
        "p2p/b.cpp": spdx + "void f(int a)\n{\n" + long_body + "\n}\n",
        "p2p/c.cpp": spdx + "F::F(int a) : a_(a) {\n" + long_body + "\n}\n",
        "p2p/d.cpp": spdx + "void f() { goto end; }\n",
        "p2p/e.hpp": spdx + "\n" * MAX_FILE,
        "p2p/README.md": "x\n" * (MAX_README + 1),
    }
    good = {
        "mpi_h/a.cpp": spdx + '#include "runtime/b.hpp"\n#include "mpi.h"\n// goto is forbidden\n',
        "p2p/a.cpp": spdx + "namespace a {\nstruct B {\n" + "    int f() { return 1; }\n" * 90 + "};\n}\n",
    }
    record = "constinit const Algorithm<A> a_algorithm = {\n    \"%s\", \"sentence\", Family::xhc, \"%s\"};\n"
    head = spdx + "// Two steps; s bytes. A. Author, 2019, section 3.\n"
    algorithms = {head + record % ("a", "XHC"): True, head + record % ("b", "XHC"): False,
                  spdx + "// Two steps; s bytes.\n" + record % ("a", "XHC"): False,
                  spdx + "// Two steps; s bytes.\n" + record % ("a", "Tutti"): True,
                  spdx + "// A. Author, 2019. s bytes.\n" + record % ("a", "XHC"): False,
                  spdx + "// A. Author, 2019. Two steps.\n" + record % ("a", "XHC"): False}
    if any(good_one == bool(list(check_algorithm("coll/c/a.cpp", t))) for t, good_one in algorithms.items()) or \
            len(list(check_list(["c/a", "c/b", "c/b"], ["c/a", "c/d"]))) != 3:
        sys.exit("tree_check.py judges its own examples of algorithms wrongly")
    wrong = [p for p, t in bad.items() if not list(check_file(p, t))] + \
            [p for p, t in good.items() if list(check_file(p, t))]
    if wrong:
        sys.exit("tree_check.py judges these of its own examples wrongly: " + ", ".join(wrong))


def main(root):
    self_test()
    offenders = 0
    with open(os.path.join(root, "coll/algorithms/algorithms.def"), encoding="utf-8") as file:
        listed = ["/".join(m) for m in re.findall(r"^ALGORITHM\((\w+), (\w+)\)", file.read(), re.M)]
    files = [p[len("coll/"):-len(".cpp")] for p in
             (os.path.relpath(f, root) for f in glob.glob(os.path.join(root, "coll/*/*.cpp")))]
    for what in check_list(listed, files):
        offenders += 1
        print(f"coll/algorithms/algorithms.def: {what}")
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"]
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), root)
            if not path.endswith(SOURCES + (".md",)):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line, what in check_file(path, file.read()):
                    offenders += 1
                    print(f"{path}:{line}: {what}")
    print(f"{offenders} offenders" if offenders else "The tree keeps its rules.")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
