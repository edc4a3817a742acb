#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the compiler wrappers in the build tree and in a moved installation whose path has a space: their output, the
# compilers that they call, and the programs that they build.
. "$(dirname "$0")/lib.sh" "$1"
install_and_move "moved place"

queries() {
    local bin=$1/bin lib=$2 inc=$1/include out
    equal "-showme:command" gcc "$("$bin/mpicc" -showme:command)"
    equal "-showme:incdirs" "$inc" "$("$bin/mpicc" -showme:incdirs)"
    equal "-showme:libdirs" "$lib" "$("$bin/mpicc" -showme:libdirs)"
    equal "-showme:libs" mpi "$("$bin/mpicc" -showme:libs)"
    out=$("$bin/mpicc" -showme:compile)
    has "-showme:compile" "-I$inc" "${out//\'/}"
    lacks "-showme:compile" -lmpi "$out"
    out=$("$bin/mpicc" -showme:link)
    has "-showme:link" "-L$lib" "${out//\'/}"
    has "-showme:link" -lmpi "$out"
    lacks "-showme:link" gcc "$out"
    out=$("$bin/mpicc" -compile-info)
    has "-compile-info" "gcc " "$out"
    lacks "-compile-info" -lmpi "$out"
    out=$("$bin/mpicc" -link-info)
    has "-link-info" -lmpi "$out"
    out=$("$bin/mpicxx" -show a.cpp -o a)
    has "-show" "g++ " "$out"
    has "-show" "a.cpp -o a" "$out"
    has "-show links" "-Wl,-rpath,$lib" "${out//\'/}"
    for stop in -c -S -E -M -MM -fsyntax-only; do
        lacks "$stop does not link" -lmpi "$("$bin/mpicc" -show $stop a.c)"
    done
    for stop in --compile --assemble --preprocess --dependencies --user-dependencies --analyze --precompile -emit-ast \
        -r -Wl,-r "-x c-header"; do
        lacks "$stop does not link" -lmpi "$("$bin/mpicc" -show $stop a.c)"
    done
    lacks "a header is not linked" -lmpi "$("$bin/mpicc" -show a.h -o a.gch)"
    printf -- '-O2 "-c"\n' >"$work/stop"
    printf -- '-O2 -D c b.o\n@%s\n' "$work/link_more" >"$work/link_it"
    printf -- '-L x\n@%s\n' "$work/link_it" >"$work/link_more"   # the two name each other
    lacks "@FILE with -c does not link" -lmpi "$("$bin/mpicc" -show "@$work/stop" a.c)"
    has "@FILE with an object links" -lmpi "$("$bin/mpicc" -show "@$work/link_it")"
    has "-MMD links" -lmpi "$("$bin/mpicc" -show -MMD a.c)"
    equal "-show-compile-info" "$("$bin/mpicc" -showme:compile)" "$("$bin/mpicc" -show-compile-info)"
    equal "-show-link-info" "$("$bin/mpicc" -showme:link)" "$("$bin/mpicc" -show-link-info)"
    has "-profile" "-lmyprof -lmpi" "$("$bin/mpicc" -show -profile=myprof a.c)"
    has "-echo" "-show-this a.c" "$("$bin/mpicc" -echo -show-this a.c 2>/dev/null)"
    lacks "no files, no libraries" -lmpi "$("$bin/mpicc" -v 2>&1)"
    equal "the first line of -v" "mpicc: Tutti" "$("$bin/mpicc" -v 2>&1 | sed -n '1s/ [0-9].*//p')"
    has "-v for the compiler" "gcc version" "$("$bin/mpicc" -v 2>&1)"
    has "--help" -showme "$("$bin/mpicc" --help)"
    has "-showme:help" -showme "$("$bin/mpicc" -showme:help)"
    for name in mpicc mpicxx mpic++ mpiCC; do
        "$bin/$name" --cray-print-opts=cflags >/dev/null 2>&1 && wrong "$name accepts --cray-print-opts"
        "$bin/$name" -showme:nonsense >/dev/null 2>&1 && wrong "$name accepts -showme:nonsense"
    done
    :
}

compilers() {
    local bin=$1/bin
    equal "-cc=" clang "$("$bin/mpicc" -cc=clang -showme:command)"
    equal "MPICH_CC" my-cc "$(MPICH_CC=my-cc "$bin/mpicc" -showme:command)"
    equal "OMPI_CC" my-cc "$(OMPI_CC=my-cc "$bin/mpicc" -showme:command)"
    equal "MPICH_CXX" my-cxx "$(MPICH_CXX=my-cxx "$bin/mpic++" -showme:command)"
    equal "OMPI_FC" my-fc "$(OMPI_FC=my-fc "$bin/mpifort" -showme:command)"
    has "OMPI_CFLAGS" "-DA=1 -DB -c a.c" "$(OMPI_CPPFLAGS=-DA=1 OMPI_CFLAGS=-DB "$bin/mpicc" -show -c a.c)"
    has "OMPI_CXXFLAGS" "-DB -c a.cpp" "$(OMPI_CFLAGS=-DA OMPI_CXXFLAGS=-DB "$bin/mpicxx" -show -c a.cpp)"
    lacks "OMPI_CFLAGS is for C" -DA "$(OMPI_CFLAGS=-DA "$bin/mpicxx" -show a.cpp)"
    has "OMPI_LDFLAGS" "-L/before a.o" "$(OMPI_LDFLAGS=-L/before "$bin/mpicc" -show a.o)"
    has "OMPI_LIBS" "-lmpi -lmore" "$(OMPI_LIBS=-lmore "$bin/mpicc" -show a.o)"
    has "OMPI_LIBS, asked" "-lmpi -lmore" "$(OMPI_LIBS=-lmore "$bin/mpicc" -showme:link)"
    lacks "OMPI_LIBS without linking" -lmore "$(OMPI_LIBS=-lmore "$bin/mpicc" -show -c a.c)"
    has "two words" "ccache gcc " "$(MPICH_CC='ccache gcc' "$bin/mpicc" -show a.c)"
    has "a missing compiler" "'no-such-cc' is not installed" "$("$bin/mpicc" -cc=no-such-cc a.c 2>&1)"
}

builds() {
    local bin=$1/bin out
    mkdir -p "$work/a b"
    cp "$here/hello.c" "$work/a b/hello c.c"
    echo '#include <mpi.h>
#include <cstdio>
int main() { std::puts(TEXT); return MPI_Wtime() < 0; }' >"$work/a b/text.cpp"
    (cd "$work/a b" && "$bin/mpicc" -Wall -Werror "hello c.c" -o hello) || wrong "mpicc"
    equal "a program of one" "hello from 0 of 1" "$("$work/a b/hello")"
    "$bin/mpicc" -c "$work/a b/hello c.c" -o "$work/hello.o" && "$bin/mpicc" "$work/hello.o" -o "$work/hello2" || wrong "mpicc -c"
    equal "linked apart" "hello from 0 of 1" "$("$work/hello2")"
    "$bin/mpicc" -r "$work/hello.o" -o "$work/part.o" && "$bin/mpicc" "$work/part.o" -o "$work/hello3" || wrong "mpicc -r"
    equal "linked from a relocatable object" "hello from 0 of 1" "$("$work/hello3")"
    "$bin/mpicxx" '-DTEXT="a  b"' "$work/a b/text.cpp" -o "$work/text" || wrong "mpicxx"
    equal "an argument with quotes and spaces" "a  b" "$("$work/text")"
    out=$("$bin/mpicxx" -show '-DTEXT="a  b"' "$work/a b/text.cpp" -o "$work/text3")
    eval "$out" || wrong "-show prints what a shell can run: $out"
    equal "run what -show printed" "a  b" "$("$work/text3")"
    (cd "$1" && PATH="$bin:$PATH" && mpicc "$work/hello.o" -o "$work/hello4") || wrong "mpicc found in PATH"
    ln -sf "$bin/mpicc" "$work/link" && "$work/link" "$work/hello.o" -o "$work/hello5" || wrong "mpicc behind a link"
    mkdir -p "$work/other" && gcc -shared -Wl,-soname,libmpi.so.40 -xc /dev/null -o "$work/other/libmpi.so"
    "$bin/mpicc" "-L$work/other" "$work/hello.o" -o "$work/hello6" && equal "beside another MPI" "hello from 0 of 1" \
        "$("$work/hello6")"
    readelf -d "$work/text" | grep -q 'libmpi\.so\.12' || wrong "the program does not ask for libmpi.so.12"
}

for place in "$build" "$moved"; do
    echo "in $place"
    lib=$(cd "$(dirname "$(find "$place" -name libmpi.so.12 -print -quit)")" && pwd)
    queries "$place" "$lib"
    compilers "$place"
    builds "$place"
done
for name in mpicc mpicxx mpic++ mpiCC mpifort mpif90 mpif77 mpichversion mpiexec mpirun mpiexec.hydra; do
    [ -x "$moved/bin/$name" ] || wrong "$name is not installed"
done

# Man pages and completion scripts of the tools are installed, and those of further names.
for tool in mpiexec mpirun mpiexec.hydra tutti-bench tutti-info tutti-tune; do
    for file in "man/man1/$tool.1" "bash-completion/completions/$tool"; do
        [ -s "$moved/share/$file" ] || wrong "$file is not installed"
    done
done
for tool in mpiexec tutti-bench tutti-info tutti-tune; do
    equal "the man page of $tool" "$("$moved/bin/$tool" --help=man)" "$(cat "$moved/share/man/man1/$tool.1")"
    equal "completion in zsh" "$("$moved/bin/$tool" --help=zsh)" "$(cat "$moved/share/zsh/site-functions/_$tool")"
done
finish
