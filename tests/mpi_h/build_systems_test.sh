#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build systems of other projects find Tutti in the build tree and in a moved installation: CMake's find_package(MPI)
# through the wrappers and through MPI_HOME, and pkg-config under each name that it uses for MPI.
. "$(dirname "$0")/lib.sh" "$1"
install_and_move moved   # no spaces, at which FindMPI splits the wrappers' output
export CMAKE_GENERATOR=Ninja

mkdir "$work/project"
cp "$here/hello.c" "$work/project/hello.c"
cp "$here/hello.c" "$work/project/hello.cpp"
cat >"$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES C CXX)
find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)
add_executable(hello_c hello.c)
target_link_libraries(hello_c MPI::MPI_C)
add_executable(hello_cxx hello.cpp)
target_link_libraries(hello_cxx MPI::MPI_CXX)
message(STATUS "library: ${MPI_C_LIBRARIES}")
message(STATUS "header: ${MPI_C_INCLUDE_DIRS}")
message(STATUS "versions: ${MPI_C_VERSION} ${MPI_CXX_VERSION}")
message(STATUS "bindings: ${MPI_MPICXX_FOUND}")
message(STATUS "launcher: ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG}")
EOF

# with_cmake PLACE HOW: configures with find_package(MPI); HOW is the way in which it finds the installation.
with_cmake() {
    local place=$1 folder
    folder=$(mktemp -d "$work/cmakeXXXX")
    case $2 in
    path) PATH="$place/bin:$PATH" cmake -S "$work/project" -B "$folder" >"$folder/log" 2>&1 ;;
    home) cmake -S "$work/project" -B "$folder" -DMPI_HOME="$place" >"$folder/log" 2>&1 ;;
    compiler) CC="$place/bin/mpicc" CXX="$place/bin/mpicxx" cmake -S "$work/project" -B "$folder" -DMPI_HOME="$place" >"$folder/log" 2>&1 ;;
    esac || { wrong "cmake ($2) in $place"; cat "$folder/log"; return; }
    if [ "$2" != compiler ]; then
        grep -q "library: $place/.*libmpi\.so" "$folder/log" || wrong "cmake ($2) found another library: $(grep library: "$folder/log")"
        grep -q "header: $place/include" "$folder/log" || wrong "cmake ($2) found another header: $(grep header: "$folder/log")"
    fi
    grep -q "versions: 3.1 3.1" "$folder/log" || wrong "cmake ($2) found other versions: $(grep versions: "$folder/log")"
    grep -q "launcher: $place/bin/mpiexec -n" "$folder/log" || wrong "cmake ($2) found another launcher: $(grep launcher: "$folder/log")"
    cmake --build "$folder" >"$folder/build.log" 2>&1 || { wrong "building with cmake ($2)"; cat "$folder/build.log"; return; }
    for program in hello_c hello_cxx; do
        equal "$program ($2)" "hello from 0 of 1" "$("$folder/$program")"
        equal "$program ($2) on 2 ranks" "hello from 0 of 2;hello from 1 of 2;" \
            "$("$place/bin/mpiexec" -n 2 "$folder/$program" | sort | tr '\n' ';')"
    done
}

# For a project in C, find_package needs MPI_C_COMPILER alone; the launcher is given separately.
with_the_compiler_named() {
    local place=$1 folder
    mkdir -p "$work/project_c" && cp "$here/hello.c" "$work/project_c/"
    cat >"$work/project_c/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES C)
find_package(MPI 3.1 REQUIRED)
add_executable(hello_c hello.c)
target_link_libraries(hello_c MPI::MPI_C)
message(STATUS "library: ${MPI_C_LIBRARIES}")
message(STATUS "launcher: ${MPIEXEC_EXECUTABLE}")
EOF
    folder=$(mktemp -d "$work/cmakeXXXX")
    cmake -S "$work/project_c" -B "$folder" -DMPI_C_COMPILER="$place/bin/mpicc" -DMPIEXEC_EXECUTABLE="$place/bin/mpiexec" \
        >"$folder/log" 2>&1 && cmake --build "$folder" >>"$folder/log" 2>&1 || wrong "cmake with MPI_C_COMPILER: $(cat "$folder/log")"
    grep -q "library: $place/.*libmpi\.so" "$folder/log" || wrong "MPI_C_COMPILER: $(grep library: "$folder/log")"
    grep -q "launcher: $place/bin/mpiexec" "$folder/log" || wrong "MPI_C_COMPILER: $(grep launcher: "$folder/log")"
    equal "MPI_C_COMPILER" "hello from 0 of 1" "$("$folder/hello_c")"
}

# As mpi_h/build-systems.md describes, find_package reports C++ bindings unless MPI_CXX_SKIP_MPICXX is set; a program
# that uses them does not compile.
without_cxx_bindings() {
    local place=$1 folder
    folder=$(mktemp -d "$work/cmakeXXXX")
    cmake -S "$work/project" -B "$folder" -DMPI_HOME="$place" -DMPI_CXX_SKIP_MPICXX=ON >"$folder/log" 2>&1
    grep -q "bindings: FALSE" "$folder/log" || wrong "cmake claims C++ bindings: $(grep bindings: "$folder/log")"
    printf '#include <mpi.h>\nint main() { MPI::Init(); MPI::Finalize(); }\n' >"$work/bindings.cpp"
    "$place/bin/mpicxx" -c "$work/bindings.cpp" -o "$work/bindings.o" 2>"$work/bindings.log" && wrong "mpi.h has MPI::"
    grep -q "MPI.*has not been declared" "$work/bindings.log" || wrong "mpi.h and MPI::: $(cat "$work/bindings.log")"
}

# A program keeps the library folder with which it was linked; with --drop-in, mpiexec of the new place puts its own
# first.
after_a_move() {
    local both="hello from 0 of 2;hello from 1 of 2;" library
    cp -a "$moved" "$work/old" && "$work/old/bin/mpicc" "$here/hello.c" -o "$work/hello_moved" || wrong "linking in a copy"
    mv "$work/old" "$work/new"
    ldd "$work/hello_moved" | grep -q "$work" && wrong "the moved library is found, unlike build-systems.md describes"
    equal "after a move, with --drop-in" "$both" \
        "$("$work/new/bin/mpiexec" --drop-in -n 2 "$work/hello_moved" | sort | tr '\n' ';')"
    library=$(dirname "$(find "$work/new" -name libmpi.so.12)")
    equal "after a move, with LD_LIBRARY_PATH" "$both" \
        "$(LD_LIBRARY_PATH=$library "$work/new/bin/mpiexec" -n 2 "$work/hello_moved" | sort | tr '\n' ';')"
}

with_pkg_config() {
    local place=$1 folder name
    folder=$(dirname "$(find "$place" -name tutti.pc -not -path '*/install/*' -print -quit)")
    for name in mpich mpi mpi-c mpi-cxx tutti ompi ompi-c ompi-cxx; do
        export PKG_CONFIG_PATH=$folder
        pkg-config --exists "$name" || { wrong "pkg-config does not know $name"; continue; }
        # pkg-config escapes spaces in paths for a shell.
        eval "gcc '$here/hello.c' -o '$work/hello_$name' $(pkg-config --cflags --libs "$name")" || wrong "building with $name.pc"
        equal "$name.pc" "hello from 0 of 1" "$("$work/hello_$name")"
    done
}

for place in "$build" "$moved"; do
    echo "in $place"
    with_pkg_config "$place"
done
# FindMPI uses the same wrappers in both places, so each method is tested once. Paths with spaces are left out.
[[ "$build" == *" "* ]] && with_cmake "$moved" path || with_cmake "$build" path
with_cmake "$moved" home
with_cmake "$moved" compiler
with_the_compiler_named "$moved"
without_cxx_bindings "$moved"
after_a_move
finish
