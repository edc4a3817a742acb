#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# CMake's find_package(Tutti) works in the build tree and in a moved installation whose path has a blank: a project in C
# and C++ is built with Tutti::MPI, installed and run with TUTTI_MPIEXEC, and versions are compared.
. "$(dirname "$0")/lib.sh" "$1"
install_and_move "moved place"
export CMAKE_GENERATOR=Ninja

mkdir "$work/project"
cp "$here/hello.c" "$work/project/hello.c"
cp "$here/hello.c" "$work/project/hello.cpp"
cat >"$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES C CXX)
find_package(Tutti ${WANTED} REQUIRED)
find_package(Tutti REQUIRED)   # a second time, as in a project of several folders
add_executable(hello_c hello.c)
add_executable(hello_cxx hello.cpp)
target_link_libraries(hello_c PRIVATE Tutti::MPI)
target_link_libraries(hello_cxx PRIVATE Tutti::MPI)
install(TARGETS hello_c hello_cxx)
file(WRITE ${CMAKE_BINARY_DIR}/mpiexec "${TUTTI_MPIEXEC}")
EOF

# configure FOLDER PREFIX VERSION: configures the project, without any other place where a package could be.
configure() {
    PATH=/usr/bin:/bin cmake -S "$work/project" -B "$1" -DCMAKE_PREFIX_PATH="$2" -DWANTED="$3" >"$work/log" 2>&1
}
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
for place in "$build" "$moved"; do
    echo "in $place"
    tree=$(mktemp -d "$work/cmakeXXXX")
    configure "$tree" "$place" "${version%.*}" && cmake --build "$tree" >"$work/log" 2>&1 || wrong "$(cat "$work/log")"
    equal "TUTTI_MPIEXEC" "$(realpath "$place")/bin/mpiexec" "$(cat "$tree/mpiexec")"
    cmake --install "$tree" --prefix "$tree/installed" >"$work/log" 2>&1 || wrong "$(cat "$work/log")"
    for program in {,installed/bin/}hello_{c,cxx}; do
        equal "$program" "hello from 0 of 2;hello from 1 of 2;" \
            "$("$(cat "$tree/mpiexec")" -n 2 "$tree/$program" | sort | tr '\n' ';')"
        has "the library of $program" "$(realpath "$place")" "$(ldd "$tree/$program" | grep libmpi.so.12)"
    done
done
for wanted in 99.0 "$version.1"; do
    configure "$work/refused" "$moved" "$wanted" && wrong "version $wanted was found"
    has "the reason for version $wanted" "version: $version" "$(cat "$work/log")"
    rm -rf "$work/refused"
done
finish
