#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The wrong programs: each is told with its code, its ranks and its lines.
exec python3 "$(dirname "$0")/run_corpus.py" "$1" wrong
