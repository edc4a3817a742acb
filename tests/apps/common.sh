# SPDX-License-Identifier: BSD-3-Clause
# Shared by the shell tests of the applications. Sourced with the build folder as its argument.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
set -u
export XDG_CACHE_HOME=$folder/cache   # tutti-bench keeps there what other MPIs have built
# columns NAME...: prints these columns of CSV with a header.
columns() { python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(",".join(row[name] for name in sys.argv[1:]))' "$@"; }
bench() { "$mpiexec" -n "$1" "$build/bin/tutti-bench" "${@:2}"; }
