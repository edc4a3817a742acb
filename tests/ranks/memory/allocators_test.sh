#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Allocators beside ours and allocations from other languages: jemalloc in front, Fortran's allocate, a library opened
# with dlopen, a program that replaces itself.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
if grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    echo "a sanitizer's allocator is in front of all others"
    exit 77
fi
# expect WHAT COMMAND...: two ranks print "shared" or "private" each; all must print WHAT.
expect() {
    local what=$1 out
    shift
    out=$(timeout 60 "$@" 2>&1)
    [ "$(sort -u <<<"$out")" = "$what" ] && return
    echo "WRONG: $* printed instead of $what:"
    echo "$out"
    wrong=1
}
mpiexec=$build/bin/mpiexec

cat >"$work/place.c" <<'END'
#include "tests/ranks/memory/arena_check.h"
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (argc > 2) {   // what the first program has left must not be found by the second
        memset(malloc(1 << 20), 7, 1 << 20);
        execv(argv[0], (char *[]){argv[0], argv[1], NULL});
    }
    MPI_Init(&argc, &argv);
    void *(*allocate)(size_t) = malloc;
    if (argc > 1 && argv[1][0] == '/') *(void **)&allocate = dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "allocate");
    char *block = allocate(1 << 20), *zero = calloc(1, 4 << 20);
    for (size_t i = 0; i < 4 << 20; i++) CHECK(zero[i] == 0, "byte %zu", i);
    puts(shared(block) ? "shared" : "private");
    free(block);
    MPI_Finalize();
    return 0;
}
END
cat >"$work/library.c" <<'END'
#include <stdlib.h>
void *allocate(size_t n) { return malloc(n); }
END
"$build/bin/mpicc" -I"$here/../../.." "$work/place.c" -o "$work/place" || exit 1
cc -shared -fPIC "$work/library.c" -o "$work/library.so" || exit 1
expect shared "$mpiexec" -n 2 "$work/place"
expect shared "$mpiexec" -n 2 "$work/place" "$work/library.so"
expect shared "$mpiexec" -n 2 "$work/place" once again
expect private "$mpiexec" -n 2 -env TUTTI_ARENA no "$work/place"
expect private "$mpiexec" -n 2 -env TUTTI_ARENA_THRESHOLD 2M "$work/place"
expect shared "$work/place"   # alone, too
expect private env TUTTI_ARENA=no "$work/place"

jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -1)
if [ -n "$jemalloc" ]; then
    expect private "$mpiexec" -n 2 -env LD_PRELOAD "$jemalloc" "$work/place"
else
    echo "WRONG: there is no libjemalloc.so.2; tests/install.sh brings it"
    wrong=1
fi

cat >"$work/place.f90" <<'END'
program place
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  interface
    function is_shared(p) bind(c)
      import
      type(c_ptr), value :: p
      integer(c_int) :: is_shared
    end function
  end interface
  double precision, allocatable, target :: a(:)
  integer :: error
  call MPI_Init(error)
  allocate (a(100000))
  a = 1
  if (is_shared(c_loc(a)) /= 0) then
    print '(a)', 'shared'
  else
    print '(a)', 'private'
  end if
  deallocate (a)
  call MPI_Finalize(error)
end program
END
printf '#include "tests/ranks/memory/arena_check.h"\nint is_shared(void *p) { return shared(p); }\n' >"$work/shared.c"
"$build/bin/mpicc" -I"$here/../../.." -c "$work/shared.c" -o "$work/shared.o" || exit 1
if "$build/bin/mpifort" "$work/place.f90" "$work/shared.o" -o "$work/place_f" 2>"$work/log"; then
    expect shared "$mpiexec" -n 2 "$work/place_f"
else
    cat "$work/log"
    wrong=1
fi
if command -v valgrind >/dev/null; then   # its allocator takes ours's place, whatever the library
    expect private "$mpiexec" -n 2 valgrind -q "$work/place"
else
    echo "WRONG: there is no valgrind; tests/install.sh brings it"
    wrong=1
fi
exit $wrong
