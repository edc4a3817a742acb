#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tree is the architecture: includes go one way, every source names its licence, files and functions stay short,
# folders explain themselves in at most 60 lines, C++ is laid out as .clang-format says. Prints each offender.
cd "$(dirname "$0")/.." || exit 1
status=0
python3 tests/tree_check.py . || status=1
# Another version of the program would lay out other lines in its own way.
if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
    find coll launcher mpi_h p2p runtime tests topo \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
        xargs -0 clang-format --dry-run --Werror 2>&1 | grep 'error:' && status=1
else
    echo "clang-format 14 is not there: the layout was not looked at"
fi
exit $status
