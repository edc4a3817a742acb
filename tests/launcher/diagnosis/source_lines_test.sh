#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Source lines of sleeping C and C++ programs compiled by GCC with different options, and stripped.
. "$(dirname "$0")/source_lines.sh" "$1"

try "$outer" gcc -g ring.c
try "$outer" gcc -g -O2 -no-pie -fno-pie ring.c
try "$outer" gcc -g -static ring.c
try "$outer" gcc -g -gdwarf-4 -gz -O1 ring.c
try "$outer" gcc -g -O2 -flto ring.c
try "$inner" gcc -g -O2 -DINLINED ring.c
try "$outer" gcc -g -gsplit-dwarf ring.c
try "$inner" gcc -g -gsplit-dwarf -gdwarf-5 -O2 -DINLINED ring.c
try "in pass() of a" gcc -O1 ring.c
try "in pass() of a" gcc -O1 -no-pie ring.c
try "in a (+0x*)" gcc -s ring.c
try "solver.cpp:$(line_of solver.cpp HERE) in Solver::step<int>()" g++ -g solver.cpp
try "solver.cpp:$(line_of solver.cpp HERE) in step<int>()" g++ -g -O2 solver.cpp
try "in Solver::step<int>() of a" g++ solver.cpp
try "solver.cpp:$(line_of solver.cpp HERE_TOO) in a lambda in main()" g++ -g -DLAMBDA solver.cpp

# debug information in a separate file, of another build, and unreadable
gcc -g ring.c -o whole && objcopy --only-keep-debug whole a.debug
what="stripped"
objcopy --strip-all --add-gnu-debuglink=a.debug whole a && expect "$outer" ./a
mkdir .debug && mv a.debug .debug && what="stripped, with .debug/" && expect "$outer" ./a
gcc -g -O2 ring.c -o other && objcopy --only-keep-debug other .debug/a.debug
what="with another build's debug file"; expect "in a (+0x*)" ./a
gcc -g -Wl,--build-id=none ring.c -o whole && objcopy --only-keep-debug whole a.debug
objcopy --strip-all --add-gnu-debuglink=a.debug whole a
what="stripped, without build ID"; expect "$outer" ./a
gcc -g -gsplit-dwarf ring.c -o a && rm -f ./*.dwo
what="without its .dwo"; expect "$outer" ./a
gcc -g ring.c -o a && objcopy --dump-section .debug_info=info a
head -c "$(stat -c %s info)" /dev/urandom > noise && objcopy --update-section .debug_info=noise a
what="with noise for debug information"; expect "*" ./a

# without libdw
mkdir none && : > none/libdw.so.1
gcc -g ring.c -o a && what="without libdw" && LD_LIBRARY_PATH=$folder/none expect "in a (+0x*)" ./a

# libraries, and deleted files
gcc -g -shared -fPIC -DINLINED -O2 ring.c -Dmain=run -o libring.so && echo 'int run(void); int main() { return run(); }' > main.c
gcc main.c -L. -lring "-Wl,-rpath,$folder" -o a && what="in a library" && expect "$inner" ./a
meanwhile='rm libring.so'; what="in a deleted library"; expect "in libring.so (+0x*)" ./a
gcc -g ring.c -o a && meanwhile='rm a; cp /bin/true a'; what="a replaced program"; expect "$outer" ./a
gcc -g ring.c -o a && meanwhile='kill -STOP $pid'; what="a stopped program"; expect "$outer" ./a
meanwhile='cp a copy; : > a.part; mv a.part a'; what="a truncated file"; expect "*" ./a
meanwhile=

[ ! -e "$folder/cache" ] || wrong "a server for debug information was contacted"
finish
