#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The scheduling matrix: run.sh [OPTIONS OF matrix.py], or run.sh --short [OPTIONS OF short.py]. --help prints them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
script=matrix.py
[ "${1:-}" != --short ] || { script=short.py; shift; }
[[ " $* " == *" --build"* ]] || set -- --build "$here/../../build" "$@"
exec python3 "$here/$script" "$@"
