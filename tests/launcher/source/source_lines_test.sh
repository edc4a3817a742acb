#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154  # of common.sh, and of coproc
# Source lines of sleeping programs as compilers, options and strip make them. Each program prints the return address of
# a call, which is marked HERE in its source, and sleeps.
. "$(dirname "$0")/../common.sh" "$1"
lines=$build/tests/launcher_source_lines
cd "$folder" || exit 1
export DEBUGINFOD_URLS=http://127.0.0.1:9/ DEBUGINFOD_CACHE_PATH=$folder/cache   # never to be asked
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid"; rm -rf "$folder"' EXIT

cat > show.h <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int show(void) {
    printf("%p\n", __builtin_return_address(0));
    fflush(stdout);
    while (1) pause();
}
END
cat > ring.c <<'END'
#include "show.h"
static inline __attribute__((always_inline)) int hand_on(int x) {
    return show() + x;   // HERE
}
__attribute__((noinline)) int pass(int x) {
#ifdef INLINED
    return hand_on(x) + 1;
#else
    (void)hand_on;
    return show() + x;   // HERE_TOO
#endif
}
int main(int argc, char** argv) { return pass(argc) + 1; }
END
cat > solver.cpp <<'END'
#include "show.h"
namespace {
struct Solver {
    template <class T>
    int step(T by) { return show() + by; }   // HERE
};
}
int main() {
#ifdef LAMBDA
    auto lambda = [](auto x) { return show() + x; };   // HERE_TOO
    return lambda(1);
#else
    return Solver{}.step(3) + 1;
#endif
}
END
cat > show.c <<'END'
#include "show.h"
int show_(void) { printf("%p\n", __builtin_return_address(0)); fflush(stdout); while (1) pause(); }
END
cat > mesh.f90 <<'END'
module mesh
contains
  subroutine step(n)
    integer, intent(inout) :: n
    call show()   ! HERE
    n = n + 1
  end subroutine
end module
program waves
  use mesh
  integer :: n
  n = 1
#ifdef DIRECTLY
  call show()   ! HERE_TOO
#else
  call step(n)
#endif
  print *, n
end program
END

# expect WORDS COMMAND...: starts a program and looks its address up
expect() {
    local expected=$1 address said; shift
    coproc program { exec "$@"; }
    pid=$program_PID
    read -r -u "${program[0]}" address
    [ "${meanwhile:-}" ] && eval "$meanwhile"
    said=$("$lines" "$pid" "$address" 2>&1) || said="failed: $said"
    [[ "$said" == $expected ]] || wrong "${what:-$*}: '$said' instead of '$expected'"
    kill -KILL "$pid"; wait "$pid" 2> "$folder/null"; pid=
}
# try WORDS COMPILER OPTIONS...: makes ./a and expects the words of it
try() {
    local expected=$1; shift
    what="$*"
    rm -rf a a.dwo
    "$@" -o a 2> compiler || { wrong "$what: $(cat compiler)"; return; }
    expect "$expected" ./a
}
line_of() { grep -nm1 "$2\$" "$1" | cut -d: -f1; }
inner="ring.c:$(line_of ring.c HERE) in hand_on()"
outer="ring.c:$(line_of ring.c HERE_TOO) in pass()"

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
if command -v clang > /dev/null; then
    try "$outer" clang -g ring.c
    try "$inner" clang -g -O2 -DINLINED ring.c
fi
if command -v gfortran > /dev/null; then
    gcc -c show.c
    try "mesh.f90:$(line_of mesh.f90 HERE) in step() of module mesh" gfortran -cpp -g mesh.f90 show.o
    try "in step() of module mesh of a" gfortran -cpp mesh.f90 show.o
    try "mesh.f90:$(line_of mesh.f90 HERE_TOO) in main program" gfortran -cpp -g -DDIRECTLY mesh.f90 show.o
    try "in main program of a" gfortran -cpp -DDIRECTLY mesh.f90 show.o
fi

# debug information in a file of its own, that of another build, and none that can be read
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

# libraries, and files that are no longer there
gcc -g -shared -fPIC -DINLINED -O2 ring.c -Dmain=run -o libring.so && echo 'int run(void); int main() { return run(); }' > main.c
gcc main.c -L. -lring "-Wl,-rpath,$folder" -o a && what="in a library" && expect "$inner" ./a
meanwhile='rm libring.so'; what="in a deleted library"; expect "in libring.so (+0x*)" ./a
gcc -g ring.c -o a && meanwhile='rm a; cp /bin/true a'; what="a replaced program"; expect "$outer" ./a
gcc -g ring.c -o a && meanwhile='kill -STOP $pid'; what="a stopped program"; expect "$outer" ./a
meanwhile='cp a copy; : > a.part; mv a.part a'; what="a truncated file"; expect "*" ./a
meanwhile=

[ ! -e "$folder/cache" ] || wrong "a server for debug information was asked"
finish
