# SPDX-License-Identifier: BSD-3-Clause
# Sourced with the build folder. Builds a program, $folder/place, that prints whether its large blocks are shared with
# other ranks.
. "$(dirname "${BASH_SOURCE[0]}")/../../common.sh" "$1"
is_sanitized && skip "a sanitizer's allocator takes precedence over all others"
# expect WHAT COMMAND...: two ranks print "shared" or "private" each; both must print WHAT.
expect() {
    local what=$1 out
    shift
    out=$(timeout "$limit_s" "$@" 2>&1)
    [ "$(sort -u <<<"$out")" = "$what" ] || wrong "$* printed instead of $what: $out"
}

cat >"$folder/place.c" <<'END'
#include "tests/ranks/memory/arena_check.h"
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (argc > 2) {   // the new program must not find the blocks of this one
        memset(malloc(1 << 20), 7, 1 << 20);
        execv(argv[0], (char *[]){argv[0], argv[1], NULL});
    }
    MPI_Init(&argc, &argv);
    void *(*allocate)(size_t) = malloc;
    if (argc > 1 && argv[1][0] == '/') *(void **)&allocate = dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "allocate");
    char *block = allocate(1 << 20), *zero = calloc(1, 4 << 20);
    for (size_t i = 0; i < 4 << 20; i++) CHECK(zero[i] == 0, "byte %zu", i);
    puts(is_shared_block(block) ? "shared" : "private");
    free(block);
    MPI_Finalize();
    return 0;
}
END
"$build/bin/mpicc" -I"$source" "$folder/place.c" -o "$folder/place" || exit 1
