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
MAX_FILE, MAX_FUNCTION, MAX_README, MAX_LINE, MAX_ENTRIES, MAX_HEAD = 400, 80, 60, 120, 32, 5
MAX_LESSON = 100  # a page to be read in class, reports included
MAY_INCLUDE = {  # a folder and the folders whose headers it may include
    "topo": {"topo"},
    "runtime": {"runtime", "topo"},
    "p2p": {"p2p", "runtime", "topo"},
    "coll": {"coll", "p2p", "runtime", "topo"},
    "rma": {"rma", "coll", "p2p", "runtime", "topo"},
    "mpi_h": {"mpi_h", "rma", "coll", "p2p", "runtime", "topo"},
    "launcher": {"launcher", "runtime", "topo"},
    "launcher/info": {"launcher", "coll", "p2p", "runtime", "topo"},  # a program of its own that lists all layers
    "launcher/tune": {"launcher", "coll", "p2p", "runtime", "topo"},  # likewise
}
ROOMS = {  # the folders of a folder, each of which may include itself and those before it; "" are the files at its top
    "topo": ["base", "machine", "hierarchy", "binding", ""],
    "runtime": ["base", "kernels", "counters", "settings", "memory", "wait", "topologies", "objects", "datatype", "job", "", "diagnosis"],
    "p2p": ["matching", "self", "shm", "tcp", "check", ""],
    "coll": ["env", "match", "blocks", "algorithms", "choice", "call", "comm"],
    "rma": ["node", "window", "messages", "operations", "synchronization", "making"],
    "mpi_h": ["include", "abi", "check", "entry", "p2p", "communicators", "topologies", "collectives", "datatypes", "windows",
              "fortran", "environment", "tools"],
    "launcher": ["base", "source", "diagnosis", "streams", "statistics", "start", "allocation", "supervise", "options", "nodes", ""],
}
# Folders beside each other that know neither each other nor what is above them but for one header, and that nobody
# knows but one file.
APART = {"p2p": ({"self", "shm", "tcp"}, "p2p/transport.hpp", "p2p/transports.cpp")}
LIBRARY = ("topo/", "runtime/", "p2p/", "coll/", "rma/", "mpi_h/")   # what is linked into programs, whose locale may be any
STREAMS = "topo/base/text_streams.hpp"
WRAPPERS = {"p2p/check"}  # know that header as well, for they stand between it and who uses it


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


def room_of(path):
    """A file's folder in its layer; "" at its top."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def check_rooms(path, included):
    """Why the file may not include this one of its own layer, or None."""
    rooms = ROOMS.get(path.split("/")[0], [])
    own, other = room_of(path), room_of(included)
    apart, interface, all_of_them = APART.get(path.split("/")[0], (set(), "", ""))
    if included == interface and (own in apart or os.path.dirname(path) in WRAPPERS):
        return None
    if other in apart and own != other and path != all_of_them:
        return f"only {all_of_them} may include {other}/"
    if own in rooms and other in rooms and rooms.index(other) > rooms.index(own):
        return f"{own or 'the top'}/ may not include {other}/"
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
            yield number, "only mpi_h/ knows mpi.h"
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
    """What depends on a locale: in the library, as the program sets it; elsewhere, what sets one."""
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
                yield number, f"a number with a decimal point, which depends on the locale that a program sets ({STREAMS})"


# Calls that throw unless they get an error code. Entries of a folder are read with increment(), as ++ throws as well.
FILE_SYSTEM = re.compile(r"filesystem::(exists|status|symlink_status|is_\w+|(?:weakly_)?canonical|absolute|current_path|"
                         r"read_symlink|create_\w+|remove|remove_all|rename|copy|copy_file|copy_symlink|file_size|"
                         r"temp_directory_path|last_write_time|permissions|resize_file|space|equivalent|relative|"
                         r"proximate|hard_link_count|(?:recursive_)?directory_iterator(?: \w+)?)\(")


def arguments_from(code, at):
    """The text up to the parenthesis that closes the one before `at`."""
    depth, end = 1, at
    while end < len(code) and depth:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return code[at:end - 1]


def check_exceptions(path, code):
    """Of the programs and libraries: a system may refuse anything, which is a sentence and no end by an exception."""
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
        yield code.count("\n", 0, main.start()) + 1, "main lets exceptions out: nothing catches std::exception"


def check_links(path, text, exists):
    """Of a page: links into the tree."""
    prose = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), text, flags=re.S)
    for at, line in enumerate(prose.split("\n"), 1):
        for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", line):
            if not exists(os.path.normpath(os.path.join(os.path.dirname(path), link))):
                yield at, f"a link to {link}, which is not there"


def check_file(path, text):
    lines = text.count("\n")
    if path.endswith("README.md"):
        most = MAX_LESSON if re.match(r"apps/lessons/\d", path) else MAX_README
        if "/" in path and lines > most:
            yield 1, f"a README of {lines} lines (at most {most})"
        return
    if not path.endswith(SOURCES):
        return
    if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(text.split("\n")[:3]):
        yield 1, "no SPDX line"
    if lines > MAX_FILE and not path.endswith((".def", "/mpi.h")):
        yield 1, f"a file of {lines} lines (at most {MAX_FILE})"
    if path.endswith(CODE):
        yield from check_code(path, text)
    head = re.match(r"// SPDX[^\n]*\n((?:// [^\n]*\n)*)", text)   # an empty comment ends it: behind it stands the argument
    if head and path.startswith(("coll/", "mpi_h/", "p2p/")) and head.group(1).count("\n") > MAX_HEAD:
        yield 2, f"a head of {head.group(1).count(chr(10))} lines (at most {MAX_HEAD}, but for an argument behind it)"
    if re.fullmatch(r"coll/algorithms/\w+/(\w+/)?\w+\.cpp", path):
        yield from check_algorithm(path, text)


def check_algorithm(path, text):
    """An algorithm's file: its record has its name, its head says what it costs and where it comes from."""
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
    """`listed`: the lines of algorithms.def as "collective/name"; `files`: the same from coll/algorithms/."""
    yield from (f"{name} is listed twice" for name in sorted({n for n in listed if listed.count(n) > 1}))
    yield from (f"{name} has no file under coll/algorithms/" for name in sorted(set(listed) - set(files)))
    yield from (f"the file of {name} has no line ALGORITHM(...)" for name in sorted(set(files) - set(listed)))


def check_folder(path, entries):
    """`entries`: names of its folders and files."""
    if len(entries) > MAX_ENTRIES and "corpus" not in path:
        yield f"{path}: {len(entries)} entries (at most {MAX_ENTRIES})"
    if path.split("/")[0] in ROOMS and path.count("/") == 1 and "README.md" not in entries and path != "mpi_h/include":
        yield f"{path}: no README.md"


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
        "p2p/f.hpp": spdx + "// purpose\n" * (MAX_HEAD + 1),
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
            {"p2p/engine.cpp": "shm/ring", "p2p/tcp/a.cpp": "shm/ring", "p2p/shm/a.cpp": "engine",
             "p2p/matching/a.cpp": "transport"}.items()}
    good = {
        "launcher/fs.cpp": spdx + "std::error_code e;\nbool b = std::filesystem::exists(f(a), e);\n"
                                  "std::filesystem::directory_iterator i(p, e);\nif (i != std::filesystem::directory_iterator()) f();\n",
        "launcher/main.cpp": spdx + "int main() try { f(); } catch (std::exception const& e) { g(e); }\n",
        "p2p/transports.cpp": spdx + '#include "p2p/shm/ring.hpp"\n',
        "p2p/shm/b.cpp": spdx + '#include "p2p/transport.hpp"\n#include "p2p/matching/queues.hpp"\n',
        "coll/call/a.cpp": spdx + '#include "coll/env/b.hpp"\n#include "coll/call/c.hpp"\n',
        "p2p/f.hpp": spdx + "// purpose\n" * MAX_HEAD + "//\n" + "// argument\n" * 9,
        "mpi_h/a.cpp": spdx + '#include "runtime/b.hpp"\n#include "mpi.h"\n// goto is forbidden\n',
        STREAMS: spdx + "using TextWriter = Classic<std::ostringstream>;\n",
        "runtime/base/b.hpp": spdx + 'TextWriter out; out << "std::ostringstream"; std::snprintf(text, 9, "%s.%d", f, d);\n',
        "launcher/b.cpp": spdx + "std::ostringstream out;\n",
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
    if list(check_folder("coll/env", ["README.md"])) or not list(check_folder("coll/env", [])) or \
            not list(check_folder("tests", ["x"] * (MAX_ENTRIES + 1))):
        sys.exit("tree_check.py judges its own examples of folders wrongly")
    links = "[a](b.md) [c](../c/) [d](http://d) [e](e.md#f)\n```\n[g](g)\n```\n[h](h)"
    if list(check_links("x/y.md", links, {"x/b.md", "c", "x/e.md"}.__contains__)) != [(5, "a link to h, which is not there")]:
        sys.exit("tree_check.py judges its own examples of links wrongly")
    if wrong:
        sys.exit("tree_check.py judges these of its own examples wrongly: " + ", ".join(wrong))


def main(root):
    self_test()
    offenders = 0
    with open(os.path.join(root, "coll/algorithms/algorithms.def"), encoding="utf-8") as file:
        listed = ["/".join(m) for m in re.findall(r"^ALGORITHM\((\w+), (\w+)\)", file.read(), re.M)]
    folder = os.path.join(root, "coll/algorithms")
    found = [os.path.relpath(f, folder).split("/") for f in glob.glob(folder + "/*/**/*.cpp", recursive=True)]
    files = [parts[0] + "/" + parts[-1][:-len(".cpp")] for parts in found]
    for what in check_list(listed, files):
        offenders += 1
        print(f"coll/algorithms/algorithms.def: {what}")
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"]
        for what in check_folder(os.path.relpath(folder, root), folders + files):
            offenders += 1
            print(what)
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
    print(f"{offenders} offenders" if offenders else "The tree keeps its rules.")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
