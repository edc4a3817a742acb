# SPDX-License-Identifier: BSD-3-Clause
"""Checks the rules of the source tree; prints each offender as path:line: description, and exits 1 if there is one.

It first checks itself on small snippets, so that a rule without offenders is known to work.
"""
import glob
import os
import re
import sys

SOURCES = (".c", ".h", ".cpp", ".hpp", ".def", ".sh", ".py", ".cmake", "CMakeLists.txt")
CODE = (".c", ".h", ".cpp", ".hpp")
MAX_FILE, MAX_FUNCTION, MAX_README, MAX_LINE = 400, 80, 120, 120
MAX_LESSON = 100  # a page that is read in class, with its reports
MAY_INCLUDE = {  # a folder and the folders whose headers it may include
    "topo": {"topo"},
    "runtime": {"runtime", "topo"},
    "p2p": {"p2p", "runtime", "topo"},
    "coll": {"coll", "p2p", "runtime", "topo"},
    "rma": {"rma", "coll", "p2p", "runtime", "topo"},
    "mpi_h": {"mpi_h", "rma", "coll", "p2p", "runtime", "topo"},
    "launcher": {"launcher", "runtime", "topo", "apps"},  # apps: what its tools and mpiexec share
    "launcher/info": {"launcher", "coll", "p2p", "runtime", "topo", "apps"},  # a separate program that lists all layers
    "launcher/tune": {"launcher", "coll", "p2p", "runtime", "topo", "apps"},  # likewise; it runs apps/bench
}
ROOMS = {  # groups of subfolders: each may include itself and those of earlier groups; "": files outside of subfolders
    "runtime": [["base"], ["kernels", "settings", "state"], ["memory"], ["wait"], ["job", "objects"], ["datatype"], [""]],
    "p2p": [["matching"], ["check", "shm", "tcp"], [""]],
    "coll": [["env"], ["blocks", "match"], ["algorithms"], ["choice"], ["call"], ["comm"]],
    "mpi_h": [["include"], ["abi"], ["entry"], ["communicators", "p2p", "tools"], ["collectives", "datatypes", "windows"],
              ["environment"]],
    "launcher": [["base"], ["diagnosis", "info", "start", "tune"], ["placement", "report"], ["options", "supervise"],
                 ["nodes"], [""]],
}
LIBRARY = ("topo/", "runtime/", "p2p/", "coll/", "rma/", "mpi_h/")   # linked into programs, which may set any locale
STREAMS = "topo/text_streams.hpp"


def blank_comments_and_strings(text):
    """Returns the text with comments and strings replaced by blanks; line breaks are kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(code):
    """Returns (first line, last line) of each block in braces that follows ")" and is no control statement."""
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


def room_of(path):
    """Returns the subfolder of the layer in which a file is, or "" if it is in none."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def check_rooms(path, included):
    """Returns why the file may not include this file of its own layer, or None."""
    groups = ROOMS.get(path.split("/")[0], [])
    own, other = room_of(path), room_of(included)
    group_of = {room: index for index, group in enumerate(groups) for room in group}
    if own != other and own in group_of and other in group_of and group_of[other] >= group_of[own]:
        return f"{own or 'the top folder'}/ may not include {other}/"
    return None


def check_code(path, text):
    code = blank_comments_and_strings(text)
    folder = path.split("/")[0]
    if os.path.dirname(path) in MAY_INCLUDE:
        folder = os.path.dirname(path)
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
        if include and folder in MAY_INCLUDE and include.group(1) not in MAY_INCLUDE[folder]:
            yield number, f"{folder}/ may not include {include.group(1)}/"
        inside = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if inside and inside.group(1).split("/")[0] == path.split("/")[0]:
            why = check_rooms(path, inside.group(1))
            if why:
                yield number, why
        if re.match(r"\s*#\s*include\s+[<\"]mpi\.h[>\"]", line) and folder in MAY_INCLUDE and folder != "mpi_h":
            yield number, "only mpi_h/ may include mpi.h"
        if len(line) > MAX_LINE and not path.endswith("/mpi.h"):
            yield number, f"a line of {len(line)} characters (at most {MAX_LINE})"
    yield from check_locale(path, text, code)
    for number, line in enumerate(code.split("\n"), 1):
        if re.search(r"\bgoto\b", line):
            yield number, "goto"
    yield from check_exceptions(path, code)
    for first, last in functions(code):
        if last - first + 1 > MAX_FUNCTION:
            yield first, f"a function of {last - first + 1} lines (at most {MAX_FUNCTION})"


def check_locale(path, text, code):
    """Finds calls in the library that depend on the locale of the program, and calls anywhere that set a locale."""
    pattern = r"\bsetlocale\b|\blocale::global\b"
    if path.startswith(LIBRARY) and path != STREAMS:
        pattern += r"|\bstd::w?[io]?(?:string|f)stream\b|\bstd::(?:locale|w?regex)\b|\bstrto(?:d|f|ld)\b|\bsto(?:d|f|ld)\b|\batof\b" \
                   r"|\bstr(?:n?casecmp|coll|ftime)\b|\bto(?:upper|lower)\b|\bis(?:al(?:pha|num)|upper|lower|space|print|punct)\b"
    if not path.startswith("tests/"):
        for number, line in enumerate(code.split("\n"), 1):
            for found in re.findall(pattern, line):
                yield number, f"{found} depends on the locale that a program sets ({STREAMS})"
    if path.startswith(LIBRARY):
        for number, line in enumerate(text.split("\n"), 1):
            if re.search(r'(?:print|scan)f\b.*"[^"]*%[-+ #0-9.*l]*[aefgAEFG]', line):
                yield number, f"the decimal point depends on the locale that a program sets ({STREAMS})"


# Calls that throw unless they are given an error code. Directory iterators must use increment(), because ++ throws.
FILE_SYSTEM = re.compile(r"filesystem::(exists|status|symlink_status|is_\w+|(?:weakly_)?canonical|absolute|current_path|"
                         r"read_symlink|create_\w+|remove|remove_all|rename|copy|copy_file|copy_symlink|file_size|"
                         r"temp_directory_path|last_write_time|permissions|resize_file|space|equivalent|relative|"
                         r"proximate|hard_link_count|(?:recursive_)?directory_iterator(?: \w+)?)\(")


def arguments_from(code, at):
    """Returns the text up to the parenthesis that closes the one before `at`."""
    depth, end = 1, at
    while end < len(code) and depth:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return code[at:end - 1]


def check_exceptions(path, code):
    """Programs and libraries: a failed system call must lead to an error message, not to an uncaught exception."""
    if path.startswith("tests/"):
        return
    codes = {name for names in re.findall(r"std::error_code&? (\w+(?:, \w+)*)", code) for name in names.split(", ")}
    for call in FILE_SYSTEM.finditer(code):
        given = arguments_from(code, call.end())
        looped = re.search(r"for \([^;()]*: (?:std::)?$", code[:call.start()])
        if looped or (given.strip() or "iterator" not in call.group(1)) and given.split(",")[-1].strip() not in codes:
            yield code.count("\n", 0, call.start()) + 1, f"{call.group(1)} may throw: it needs an error code"
    main = re.search(r"^int main\(", code, re.M)
    if main and path.startswith(("launcher/", "apps/bench/driver/")) and \
            not re.search(r"catch \((std::exception const&|const std::exception &)", code):
        yield code.count("\n", 0, main.start()) + 1, "main does not catch std::exception"


def check_links(path, text, exists):
    """Checks the links of a page into the tree."""
    prose = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), text, flags=re.S)
    for at, line in enumerate(prose.split("\n"), 1):
        for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", line):
            if not exists(os.path.normpath(os.path.join(os.path.dirname(path), link))):
                yield at, f"a link to {link}, which does not exist"


def check_file(path, text):
    lines = text.count("\n")
    if text and not text.endswith("\n"):
        yield lines + 1, "no end of line at the end of the file (.editorconfig)"
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line (.editorconfig)"
    if path.endswith("README.md"):
        most = MAX_LESSON if re.match(r"apps/lessons/\d", path) else MAX_README
        if lines > most:
            yield 1, f"a README of {lines} lines (at most {most})"
        if path == "README.md":
            for at, line in enumerate(text.split("\n"), 1):
                if line.startswith("|") and len(line) > MAX_LINE:
                    yield at, f"a row of {len(line)} characters (at most {MAX_LINE})"
        return
    if not path.endswith(SOURCES):
        return
    if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(text.split("\n")[:3]):
        yield 1, "no SPDX line"
    if lines > MAX_FILE and not path.endswith((".def", "/mpi.h")):
        yield 1, f"a file of {lines} lines (at most {MAX_FILE})"
    if path.endswith(CODE):
        yield from check_code(path, text)
    if re.fullmatch(r"coll/algorithms/([\w/]+/)?\w+\.cpp", path):
        yield from check_algorithms(text)


def records_of(text):
    """Yields (collective, name of the constant, name in the record, source) of each algorithm of a file. A record begins
    with its own name, or with the head of that name, which several collectives share."""
    heads = {found.group(1): found.groups()[1:] for found in
             re.finditer(r'constexpr RecordHead (\w+)_head = \{\s*"(\w+)",(.*?)\};', text, re.S)}
    collective = ""
    for found in re.finditer(r'^namespace tutti::coll::algorithms::(\w+)|(\w+)_algorithm = \{\s*'
                             r'(?:"(\w+)",|(?:\w+::)?(\w+)_head)(.*?)\};', text, re.S | re.M):
        if found.group(1):
            collective = found.group(1)
        elif found.group(3):
            yield collective, found.group(2), found.group(3), found.group(5)
        else:
            name, rest = heads.get(found.group(4), ("?", ""))
            yield collective, found.group(2), name, rest + found.group(5)


def check_algorithms(text):
    """Checks a file of algorithms: its records have the names of their constants, its comments state the cost and the
    source of each algorithm."""
    comments = "\n".join(re.findall(r"//[^\n]*", text))
    records = list(records_of(text))
    for _, constant, name, _ in records:
        if constant != name:
            yield 1, f"the record {constant}_algorithm has the name {name}"
    if not records:
        yield 1, "no record of an algorithm"
        return
    if not re.search(r"\bsteps?\b|\bexchanges?\b|\bin a row\b|\bone after the other\b", comments, re.I):
        yield 1, "no comment states the number of steps"
    if not re.search(r"\bbytes?\b|\b[sn]\b|\bflags?\b|\bwords?\b|\bdata\b", comments, re.I):
        yield 1, "no comment states the amount of data"
    published = any(not re.search('"Tutti"|"folklore', rest) for *_, rest in records)
    if published and not re.search(r"\bsections?\b|\b(19|20)\d\d\b", comments):
        yield 1, "no comment names the paper and its section"


PAPERS = {"XHC": "xhc", "MPICH2 with master processes": "mpich", "YHCCL": "yhccl", "KNEM-Coll": "knem_coll",
          "Cheetah": "cheetah"}   # chapters of coll/PAPERS.md and the families of their algorithms
STATES = ("as published", "differs", "absent")


def check_papers(text, records):
    """Compares coll/PAPERS.md with the algorithms (`records`: "collective/name" and the record's text)."""
    chapter, named = "", {title: set() for title in PAPERS}
    for at, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            chapter = line[3:]
            if chapter not in PAPERS:
                yield at, f"a chapter {chapter} that is no paper's"
        if not line.startswith("|") or chapter not in PAPERS or line.startswith(("| section |", "|---")):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 5 or cells[3] not in STATES:
            yield at, "a row without a section, what it describes, a file, a state and what differs"
            continue
        if cells[3] != "absent" and "](" not in cells[2]:
            yield at, "a row that names no file"
        if cells[3] != "as published" and not cells[4]:
            yield at, "a difference without a reason"
        for name in re.findall(r"`(\w+/\w+)[`:]", line):
            named[chapter].add(name)
            if name not in records:
                yield at, f"the algorithm {name}, which does not exist"
    for title, family in PAPERS.items():
        missing = {name for name, record in records.items() if f"Family::{family}," in record} - named[title]
        yield from ((1, f"the chapter {title} does not name {name}") for name in sorted(missing))


def check_list(listed, recorded):
    """Compares algorithms.def (`listed`) with the records under coll/algorithms/ (`recorded`): "collective/name"."""
    yield from (f"{name} is listed twice" for name in sorted({n for n in listed if listed.count(n) > 1}))
    yield from (f"{name} has no record under coll/algorithms/" for name in sorted(set(listed) - set(recorded)))
    yield from (f"the record of {name} has no line ALGORITHM(...)" for name in sorted(set(recorded) - set(listed)))


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
        "README.md": "| " + "x" * MAX_LINE + " |\n",
        "p2p/f.hpp": spdx + "int x; \n",
        "p2p/g.hpp": spdx + "int x;",
        "p2p/README.md": "x\n" * (MAX_README + 1),
        "coll/env/a.cpp": spdx + '#include "coll/call/b.hpp"\n',
        "runtime/base/a.hpp": spdx + '#include "runtime/process.hpp"\n',
        "runtime/base/b.hpp": spdx + "std::ostringstream out;\n",
        "runtime/base/c.hpp": spdx + 'std::snprintf(text, sizeof text, "%d %.1f", a, b);\n',
        "runtime/base/d.hpp": spdx + "char c = std::toupper(d);\n",
        "launcher/b.cpp": spdx + 'setlocale(LC_ALL, "");\n',
    }
    bad |= {f"launcher/{i}.cpp": spdx + "std::error_code e;\n" + line + "\n" for i, line in enumerate(
        ["bool b = std::filesystem::exists(f(a, e));", "auto p = std::filesystem::current_path();", "int main() { f(); }",
         "for (auto x : std::filesystem::directory_iterator(p, e)) f(x);", "std::filesystem::directory_iterator i(p);"])}
    bad |= {path: spdx + f'#include "p2p/{included}.hpp"\n' for path, included in
            {"p2p/tcp/a.cpp": "shm/ring", "p2p/shm/a.cpp": "engine", "p2p/matching/a.cpp": "shm/ring"}.items()}
    good = {
        "launcher/fs.cpp": spdx + "std::error_code e;\nbool b = std::filesystem::exists(f(a), e);\n"
                                  "std::filesystem::directory_iterator i(p, e);\nif (i != std::filesystem::directory_iterator()) f();\n",
        "launcher/main.cpp": spdx + "int main() try { f(); } catch (std::exception const& e) { g(e); }\n",
        "p2p/engine.cpp": spdx + '#include "p2p/shm/ring.hpp"\n',
        "p2p/shm/b.cpp": spdx + '#include "p2p/matching/transport.hpp"\n#include "p2p/matching/queues.hpp"\n',
        "coll/call/a.cpp": spdx + '#include "coll/env/b.hpp"\n#include "coll/call/c.hpp"\n',
        "mpi_h/a.cpp": spdx + '#include "runtime/b.hpp"\n#include "mpi.h"\n// goto is forbidden\n',
        STREAMS: spdx + "using TextWriter = Classic<std::ostringstream>;\n",
        "runtime/base/b.hpp": spdx + 'TextWriter out; out << "std::ostringstream"; std::snprintf(text, 9, "%s.%d", f, d);\n',
        "launcher/b.cpp": spdx + "std::ostringstream out;\n",
        "p2p/a.cpp": spdx + "namespace a {\nstruct B {\n" + "    int f() { return 1; }\n" * 90 + "};\n}\n",
    }
    record = "namespace tutti::coll::algorithms::c {\nconstinit const Algorithm<A> a_algorithm = {\n    \"%s\", \"description\", Family::xhc, \"%s\"};\n"
    head = spdx + "// Two steps; s bytes. A. Author, 2019, section 3.\n"
    algorithms = {head + record % ("a", "XHC"): True, head + record % ("b", "XHC"): False,
                  spdx + "// Two steps; s bytes.\n" + record % ("a", "XHC"): False,
                  spdx + "// Two steps; s bytes.\n" + record % ("a", "Tutti"): True,
                  spdx + "// A. Author, 2019. s bytes.\n" + record % ("a", "XHC"): False,
                  spdx + "// A. Author, 2019. Two steps.\n" + record % ("a", "XHC"): False}
    if any(good_one == bool(list(check_algorithms(t))) for t, good_one in algorithms.items()) or \
            len(list(check_list(["c/a", "c/b", "c/b"], ["c/a", "c/d"]))) != 3:
        sys.exit("tree_check.py judges its own examples of algorithms wrongly")
    row = "| 1 | `c/a`, `c/b:x=1` | [f](f) | %s | %s |\n"
    pages = {row % ("as published", ""): 0, row % ("differs", ""): 1, row % ("differs", "a \\| b"): 0,
             row % ("real", ""): 3, row.replace("[f](f)", "f") % ("as published", ""): 1,
             row.replace("c/b", "c/d") % ("as published", ""): 2, "": 2}
    records = {"c/a": "Family::xhc,", "c/b": "Family::xhc,", "c/c": "Family::tutti,"}
    if any(len(list(check_papers("## XHC\n" + page, records))) != found for page, found in pages.items()):
        sys.exit("tree_check.py judges its own examples of pages about papers wrongly")
    wrong = [p for p, t in bad.items() if not list(check_file(p, t))] + \
            [p for p, t in good.items() if list(check_file(p, t))]
    links = "[a](b.md) [c](../c/) [d](http://d) [e](e.md#f)\n```\n[g](g)\n```\n[h](h)"
    if list(check_links("x/y.md", links, {"x/b.md", "c", "x/e.md"}.__contains__)) != [(5, "a link to h, which does not exist")]:
        sys.exit("tree_check.py judges its own examples of links wrongly")
    if wrong:
        sys.exit("tree_check.py judges these of its own examples wrongly: " + ", ".join(wrong))


def main(root):
    self_test()
    offenders = 0
    with open(os.path.join(root, "coll/algorithms/algorithms.def"), encoding="utf-8") as file:
        listed = ["/".join(m) for m in re.findall(r"^ALGORITHM\((\w+), (\w+)\)", file.read(), re.M)]
    folder = os.path.join(root, "coll/algorithms")
    recorded = []
    for name in glob.glob(folder + "/**/*.cpp", recursive=True):
        with open(name, encoding="utf-8") as file:
            recorded += [(f"{collective}/{name}", rest) for collective, name, _, rest in records_of(file.read())]
    for what in check_list(listed, [name for name, _ in recorded]):
        offenders += 1
        print(f"coll/algorithms/algorithms.def: {what}")
    with open(os.path.join(root, "coll/PAPERS.md"), encoding="utf-8") as file:
        for line, what in check_papers(file.read(), dict(recorded)):
            offenders += 1
            print(f"coll/PAPERS.md:{line}: {what}")
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f == ".ci" or not f.startswith((".", "build")) and f != "__pycache__"]
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), root)
            if not path.endswith(SOURCES + (".md",)):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            there = check_links(path, text, lambda to: os.path.exists(os.path.join(root, to))) if path.endswith(".md") else ()
            for line, what in [*check_file(path, text), *there]:
                offenders += 1
                print(f"{path}:{line}: {what}")
    print(f"{offenders} offenders" if offenders else "The tree follows its rules.")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
