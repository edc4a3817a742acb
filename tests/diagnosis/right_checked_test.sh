#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The right programs under mpiexec --check: not a word about any of them either.
exec python3 "$(dirname "$0")/run_corpus.py" "$1" right --check
