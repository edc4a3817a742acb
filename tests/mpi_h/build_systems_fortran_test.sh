#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# CMake's find_package(MPI) finds Tutti for Fortran in a moved installation.
. "$(dirname "$0")/lib.sh" "$1"
need_package gfortran gfortran
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
install_and_move moved
export CMAKE_GENERATOR=Ninja

mkdir "$work/fortran_project"
cp "$here/fortran/with_use_mpi.f90" "$work/fortran_project"
cat >"$work/fortran_project/version.f90" <<'EOF'
program version
    use mpi
    integer :: major, minor, error
    call MPI_Get_version(major, minor, error)
    print '(i0, a, i0)', major, '.', minor
end program
EOF
cat >"$work/fortran_project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
add_executable(guest with_use_mpi.f90)
target_link_libraries(guest MPI::MPI_Fortran)
add_executable(version version.f90)
target_link_libraries(version MPI::MPI_Fortran)
EOF
PATH="$moved/bin:$PATH" cmake -S "$work/fortran_project" -B "$work/built" >"$work/log" 2>&1 &&
    cmake --build "$work/built" >>"$work/log" 2>&1 || wrong "cmake with Fortran: $(cat "$work/log")"
equal "MPI_Get_version in Fortran" 3.1 "$("$work/built/version")"
equal "a Fortran program built by cmake" "right on 2" "$("$moved/bin/mpiexec" -n 2 "$work/built/guest")"
finish
