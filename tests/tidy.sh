#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks sources with clang-tidy and the checks of .clang-tidy.
set -u
case " $* " in
*" --help "* | *" -h "*)
    cat <<'END'
Usage: tests/tidy.sh [--eighth N] [FILE]...
Checks all sources, or those that the compiler reads together with the FILEs, or the N-th eighth of all sources. Prints
what clang-tidy reports, and exits with 1 if it reports anything. Uses clang-tidy 16: older ones do not understand all of
C++20, and newer ones have other checks.
Many files are compiled as one (a unity build), because clang-tidy takes most of its time for headers.
END
    exit 0
    ;;
esac
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"
eighth=
if [ "${1:-}" = --eighth ]; then eighth=$2; shift 2; fi
command -v clang-tidy-16 >/dev/null || { echo "skipped: package clang-tidy-16 is not installed"; exit 77; }
mkdir -p "$results"
configure build || exit 1

# Prints the sources of the library and the programs that the build compiles, except generated ones.
python3 - "$root/build" "$eighth" "$@" >build/tidy-sources <<'END' || exit 1
import json, os, re, sys
build, eighth, *files = sys.argv[1:]
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
    sources = [entry["file"] for entry in json.load(file) if " -o tests/" not in entry["command"]]
sources = [s for s in sources if re.search(r"\.(cpp|cxx)$", s) and (not s.startswith(build) or "/Unity/" in s)]
if files:
    def reads(source, name):
        with open(source, encoding="utf-8") as file:
            return source == os.path.abspath(name) or f'"{os.path.abspath(name)}"' in file.read()
    sources = [s for s in sources if any(reads(s, name) for name in files)]
    if not sources:
        sys.exit("tests/tidy.sh: the build compiles none of these files as part of the library or a program")
print("\n".join(s for i, s in enumerate(sources) if not eighth or i % 8 == int(eighth) % 8))
END
# Pragmas of GCC are unknown to clang.
xargs -d '\n' -P "$(default_jobs)" -n 1 clang-tidy-16 -p build --quiet --extra-arg=-Wno-unknown-pragmas <build/tidy-sources >build/tidy.log 2>&1
code=$?
grep -vE '^[0-9]+ warnings? (generated|treated)' build/tidy.log
exit $((code != 0))
