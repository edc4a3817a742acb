#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Meson's dependency('mpi') finds Tutti in every language, as mpi_h/build-systems.md describes, with Open MPI installed,
# too.
. "$(dirname "$0")/lib.sh" "$1"
need_package meson meson
need_package libopenmpi-dev mpicc.openmpi "/usr/lib/*/pkgconfig/ompi-c.pc"
need_package libmpich-dev mpicc.mpich "/usr/lib/*/libmpichfort.so"
need_package gfortran gfortran
install_and_move moved

mkdir "$work/project"
cp "$here/hello.c" "$work/project/hello.c"
cp "$here/hello.c" "$work/project/hello.cpp"
cat >"$work/project/hello.f90" <<'EOF'
program hello
  use mpi
  integer :: rank, ranks, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  print '(a,i0,a,i0)', 'hello from ', rank, ' of ', ranks
  call MPI_Finalize(error)
end program
EOF
cat >"$work/project/meson.build" <<'EOF'
project('guest', 'c', 'cpp', 'fortran')
foreach language, file : {'c': 'hello.c', 'cpp': 'hello.cpp', 'fortran': 'hello.f90'}
  executable('hello_' + language, file, dependencies: dependency('mpi', language: language, method: get_option('how')))
endforeach
EOF
echo "option('how', type: 'string', value: 'auto')" >"$work/project/meson_options.txt"

# with_meson NAME ASSIGNMENTS...: builds with these environment variables and runs the programs on two ranks.
with_meson() {
    local folder=$work/$1 language how=auto
    [ "$1" = tool ] && how=config-tool
    env "${@:2}" meson setup -Dhow=$how "$folder" "$work/project" >"$folder.log" 2>&1 && ninja -C "$folder" >>"$folder.log" 2>&1 ||
        { wrong "meson with $*: $(cat "$folder.log")"; return; }
    for language in c cpp fortran; do
        readelf -d "$folder/hello_$language" | grep -q 'libmpi[.]so[.]12' || wrong "$1: hello_$language is not linked with ours"
        readelf -d "$folder/hello_$language" | grep -q 'libmpi[_a-z]*[.]so[.]40' && wrong "$1: hello_$language is linked with Open MPI"
        equal "$1: $language" "hello from 0 of 2;hello from 1 of 2;" \
            "$("$moved/bin/mpiexec" -n 2 "$folder/hello_$language" | sort | tr '\n' ';')"
    done
}
with_meson packages PKG_CONFIG_PATH="$(dirname "$(find "$moved" -name tutti.pc)")"
with_meson tool PATH="$moved/bin:$PATH"

# The page asks for PKG_CONFIG_PATH because PATH alone does not take precedence over Open MPI's ompi-c.pc.
PATH=$moved/bin:$PATH meson setup "$work/path" "$work/project" >"$work/path.log" 2>&1
grep -q "dependency MPI for c found: YES $(pkg-config --modversion ompi-c)" "$work/path.log" ||
    wrong "PATH alone should find Open MPI, as build-systems.md describes: $(grep MPI "$work/path.log")"
finish
