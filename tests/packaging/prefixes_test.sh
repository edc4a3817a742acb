#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An installation works after it is copied, moved and archived. Two versions do not disturb each other, and a program
# that was linked before an upgrade uses the library of the new version. tests/mpi_h and tests/guides test wrappers,
# pkg-config, CMake and documents of a moved installation in detail, tests/apps the sources of tutti-bench.
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
install_to "$folder/first"

# works PREFIX VERSION: each kind of file in a prefix finds the others.
works() {
    local prefix=$1 program
    program=$(mktemp "$folder/programXXXX")
    "$prefix/bin/mpicc" "$sums" -o "$program" || wrong "mpicc in $prefix"
    prints "mpicc in $prefix" "$(sums_of 2 "$2")" "$prefix/bin/mpiexec" -n 2 "$program"
    prints "a program alone" "$(sums_of 1 "$2")" "$program"
    prints "mpirun" "$(sums_of 2 "$2")" "$prefix/bin/mpirun" -n 2 "$program"
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    prints "pkg-config" "$2" pkg-config --modversion mpich
    eval "gcc '$sums' $(pkg-config --cflags --libs tutti) -o '$program'" || wrong "pkg-config in $prefix"
    prints "pkg-config" "$(sums_of 1 "$2")" "$program"
    for tool in mpiexec tutti-daemon tutti-info tutti-tune tutti-bench; do
        prints "$tool" "$tool of Tutti $2" "$prefix/bin/$tool" --version
    done
    grep -q " \"Tutti $2\"" "$prefix/share/man/man1/mpiexec.1" && [ -s "$prefix/share/man/man3/MPI_Send.3" ] || wrong "man pages"
    "$prefix/bin/tutti-bench" -n 2 --rounds 1 --seconds 0.01 --sizes 8:8 allreduce >"$folder/out" 2>&1 || wrong "tutti-bench: $(cat "$folder/out")"
    # The help may break lines at blanks of the path.
    "$prefix/bin/mpiexec" --help | tr -d ' \n' | grep -qF "${prefix// /}/share/doc/tutti/guides/" || wrong "mpiexec --help names no guide of $prefix"
}

# It is loaded into every program that mpiexec starts.
readelf -d "$folder/first/lib/libtutti_malloc.so" | grep -E 'NEEDED.*(stdc|gcc)' && wrong "libtutti_malloc.so needs the C++ library"

# The same paths with one more folder, in an archive, and behind a link.
mkdir "$folder/deep"
cp -a "$folder/first" "$folder/deep/copied one"
works "$folder/deep/copied one" "$version"
tar -C "$folder/first" -c . | (mkdir "$folder/unpacked" && tar -C "$folder/unpacked" -x)
works "$folder/unpacked" "$version"
ln -s unpacked "$folder/link"
prints "mpicc behind a link" "$(realpath "$folder/unpacked")/lib" "$folder/link/bin/mpicc" -showme:libdirs

# Another version: the same files, in which each text of the version has another number.
other=${version%.*}.9
[ ${#other} = ${#version} ] && [ "$other" != "$version" ] || other=${version/[0-9]/9}
mv "$folder/first" "$folder/old"
cp -a "$folder/old" "$folder/new"
find "$folder/new" -type f -exec sed -i "s/${version//./[.]}/$other/g" {} +
works "$folder/new" "$other"
works "$folder/old" "$version"

# The wrapper chooses the library, whatever mpiexec and PATH say.
for made in old new; do
    "$folder/$made/bin/mpicc" "$sums" -o "$folder/made-by-$made" || wrong "mpicc of $made"
done
for started in old new; do
    PATH=$folder/$started/bin:$PATH prints "old, by $started" "$(sums_of 2 "$version")" mpiexec -n 2 "$folder/made-by-old"
    PATH=$folder/$started/bin:$PATH prints "new, by $started" "$(sums_of 2 "$other")" mpiexec -n 2 "$folder/made-by-new"
done

# CMake and pkg-config take the first version of the list that fits.
mkdir "$folder/project"
echo 'cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES C)
find_package(Tutti ${WANTED} EXACT REQUIRED)
message(STATUS "found ${TUTTI_MPIEXEC}")' >"$folder/project/CMakeLists.txt"
for wanted in "$version old" "$other new"; do
    cmake -G Ninja -S "$folder/project" -B "$folder/project/${wanted#* }" "-DCMAKE_PREFIX_PATH=$folder/old;$folder/new" \
        -DWANTED="${wanted% *}" >"$folder/log" 2>&1
    grep -q "found $(realpath "$folder/${wanted#* }")/bin/mpiexec" "$folder/log" || wrong "find_package(Tutti $wanted): $(cat "$folder/log")"
done
PKG_CONFIG_PATH=$folder/new/lib/pkgconfig:$folder/old/lib/pkgconfig prints "two in PKG_CONFIG_PATH" "$other" pkg-config --modversion mpi

# An upgrade replaces the files of a prefix. The program is not linked again.
rm -r "$folder/old"
prints "a program whose library is gone" "" sh -c "! '$folder/made-by-old' 2>/dev/null"
mv "$folder/new" "$folder/old"
prints "after the upgrade" "$(sums_of 2 "$other")" "$folder/old/bin/mpiexec" -n 2 "$folder/made-by-old"
prints "after the upgrade, alone" "$(sums_of 1 "$other")" "$folder/made-by-old"
finish
