# SPDX-License-Identifier: BSD-3-Clause
# Sourced with the build folder: programs that print the return address of a call (marked HERE in their source) and
# sleep, and a function that checks the source line found for this address.
# shellcheck shell=bash disable=SC2034,SC2154  # of common.sh, and of coproc
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
lines=$build/tests/launcher_source_lines
cd "$folder" || exit 1
export DEBUGINFOD_URLS=http://127.0.0.1:9/ DEBUGINFOD_CACHE_PATH=$folder/cache   # must not be used
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
# expect WORDS COMMAND...: starts a program and checks the description of its address
expect() {
    local expected=$1 address description; shift
    coproc program { exec "$@"; }
    pid=$program_PID
    read -r -u "${program[0]}" address
    [ "${meanwhile:-}" ] && eval "$meanwhile"
    description=$("$lines" "$pid" "$address" 2>&1) || description="failed: $description"
    [[ "$description" == $expected ]] || wrong "${what:-$*}: '$description' instead of '$expected'"
    kill -KILL "$pid"; wait "$pid" 2> "$folder/null"; pid=
}
# try WORDS COMPILER OPTIONS...: compiles ./a and expects WORDS for its address
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
