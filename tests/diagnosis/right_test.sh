#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The right programs that look dangerous: not a word about any of them.
exec python3 "$(dirname "$0")/run_corpus.py" "$1" right
