#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that ctags and similar tools find the functions: mpi_h/ defines each function that mpi.h declares exactly once,
# in a line that begins with its type and name and follows a line "TUTTI_FUNCTION(Name);".
. "$(dirname "$0")/../common.sh" "$1"
set -eu
sed -nE 's/^[A-Za-z_]+ MPI_((T_|[A-Z])[a-z]\w*)\(.*/\1/p' "$source/mpi_h/include/mpi.h" | sort >"$folder/declared"
find "$source/mpi_h" -name '*.cpp' -exec cat {} + | awk '
    match($0, /^TUTTI_FUNCTION\([A-Za-z_0-9]+\);$/) { announced = substr($0, 16, length($0) - 17); next }
    announced != "" && $0 ~ "^[A-Za-z_]+ PMPI_" announced "\\(" { print announced }
    { announced = "" }' | sort >"$folder/defined"
[ "$(wc -l <"$folder/declared")" -gt 300 ]
diff "$folder/declared" "$folder/defined" || { echo "< declared in mpi.h, > defined in this form"; exit 1; }
