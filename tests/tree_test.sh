#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tree is the architecture: includes go one way, every source names its licence, files and functions stay short,
# folders explain themselves in at most 60 lines. Prints each offender.
# cores: 1
exec python3 "$(dirname "$0")/tree_check.py" "$(dirname "$0")/.."
