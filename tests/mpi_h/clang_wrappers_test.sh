#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang -Werror rejects linker options in a command that does not link, so the wrapper must add them only when linking.
. "$(dirname "$0")/lib.sh" "$1"
need_package clang clang
cp "$here/hello.c" "$work/hello.c"
cd "$work" || exit 1
mpicc() { "$build/bin/mpicc" -cc=clang -Werror "$@" >"$work/log" 2>&1 || wrong "mpicc -cc=clang -Werror $*: $(cat "$work/log")"; }
printf -- '-c\nhello.c\n' >compile
for command in "-c hello.c" "--compile hello.c" "--assemble hello.c" "--preprocess hello.c" "--analyze hello.c" \
    "-fsyntax-only hello.c" "-emit-ast hello.c" "-x c-header hello.c" "-r hello.o -o part.o" @compile \
    "hello.o -o hello" "part.o -o hello" "hello.c -o hello"; do
    mpicc $command
done
equal "built by clang" "hello from 0 of 1" "$(./hello)"
finish
