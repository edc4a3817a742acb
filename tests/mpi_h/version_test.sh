#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All programs and files of the build report the version that mpi.h defines, and CHANGELOG.md begins with it.
. "$(dirname "$0")/lib.sh" "$1"
version=$(sed -n 's/^#define TUTTI_VERSION *"\(.*\)"/\1/p' "$source/mpi_h/include/mpi.h")
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "mpi.h has no version: '$version'"

has "the first heading of CHANGELOG.md" "## $version " "$(grep -m 1 '^## ' "$source/CHANGELOG.md") "
equal CMakeCache.txt "$version" "$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")"
for tool in mpiexec tutti-bench tutti-daemon tutti-info tutti-tune; do
    equal "$tool" "$tool of Tutti $version" "$("$build/bin/$tool" --version)"
done
equal "tutti-bench under mpiexec" "tutti-bench of Tutti $version" "$("$mpiexec" -n 2 "$build/bin/tutti-bench" --version)"
has "the file of tutti-tune" ", Tutti $version, measured by tutti-tune " \
    "$("$build/bin/tutti-tune" -n 2 --collectives barrier --time 0.001s --output - 2>/dev/null)"
for wrapper in mpicc mpicxx mpifort; do
    has "$wrapper -showme:version" "Tutti $version" "$("$build/bin/$wrapper" -showme:version)"
done
equal mpichversion "Tutti Version: $version" "$("$build/bin/mpichversion" | head -n 1)"
for package in "$build"/lib/pkgconfig/*.pc; do
    equal "${package##*/}" "Version: $version" "$(grep '^Version' "$package")"
done
equal TuttiConfigVersion.cmake "set(PACKAGE_VERSION \"$version\")" \
    "$(grep '^set(PACKAGE_VERSION ' "$build/lib/cmake/Tutti/TuttiConfigVersion.cmake")"

"$build/bin/mpicc" -x c - -o "$work/versions" <<'EOF' || wrong mpicc
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    printf("%.*s\n", (int)(__builtin_strchr(text, '\n') - text), text);
    printf("%d.%d.%d\n", TUTTI_NUMVERSION / 10000, TUTTI_NUMVERSION / 100 % 100, TUTTI_NUMVERSION % 100);
    return 0;
}
EOF
equal "the library and the numbers in mpi.h" "Tutti Version: $version;$version;" "$("$work/versions" | tr '\n' ';')"
finish
