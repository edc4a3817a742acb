#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Large blocks are allocated in shared memory, also in programs whose lookup of malloc finds the C library first.
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "a sanitizer's allocator comes before every other"
build_c() { "$build/bin/mpicc" -O1 "$@" || wrong "mpicc $*"; }
build_c -shared -fPIC -DBETWEEN "$here/between.c" -o "$folder/libbetween.so"
gcc -O1 "$here/between.c" -o "$folder/program" -L"$folder" -Wl,-rpath,"$folder" -lbetween \
    -Wl,--no-as-needed,-rpath-link,"$build/lib" || wrong "gcc"

both=$'early 1 late 1\nearly 1 late 1' none=$'early 0 late 0\nearly 0 late 0'
run -n 2 "$folder/program"; expect_code 0; expect_out "$both"; expect_silence
# not position-independent: the address of malloc is that of the program's PLT entry
gcc -O1 -fno-pie -no-pie "$here/between.c" -o "$folder/fixed" -L"$folder" \
    -Wl,-rpath,"$folder" -lbetween -Wl,-rpath-link,"$build/lib" || wrong "gcc -no-pie"
run -n 2 "$folder/fixed"; expect_code 0; expect_out "$both"; expect_silence
run -n 2 --preload-arena=no "$folder/program"; expect_code 0; expect_out "$none"
run -n 2 --preload-arena no "$folder/program"; expect_out "$none"
run -n 2 --preload-arena=maybe "$folder/program"; expect_code 2; expect_err "yes, no or auto"
run -n 2 -genv TUTTI_ARENA no "$folder/program"; expect_code 0; expect_out "$none"
run -n 2 -genv TUTTI_ARENA no sh -c 'echo "preload:$LD_PRELOAD"'; expect_out $'preload:\npreload:'
# programs that a script starts, and commands before the program
printf '#!/bin/sh\nexec "$@"\n' > "$folder/script"; chmod +x "$folder/script"
run -n 2 "$folder/script" "$folder/program"; expect_code 0; expect_out "$both"; expect_silence
run -n 2 sh -c "true; '$folder/program'"; expect_code 0; expect_out "$both"; expect_silence
run -n 2 env "$folder/program"; expect_code 0; expect_out "$both"; expect_silence
# programs that disable the preload, or do not need it
run -n 1 --preload-arena auto "$build/tests/ranks_environment_life"; expect_code 0; expect_silence
if gcc -static -x c - -o "$folder/static" 2> /dev/null <<< 'int main(void) { return 0; }'; then
    run -n 2 "$folder/static"; expect_code 0; expect_silence
fi
if gcc -fsanitize=address -x c - -o "$folder/asan" 2> /dev/null <<< 'int main(void) { return 0; }'; then
    run -n 2 "$folder/asan"; expect_code 0; expect_silence
fi
# a preloaded allocator of the user: it is the program's malloc, and ours is not used
printf '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stddef.h>\nvoid* malloc(size_t n) { static void* (*next)(size_t); if (!next) *(void**)&next = dlsym(RTLD_NEXT, "malloc"); return next(n); }\n' > "$folder/own.c"
gcc -shared -fPIC -O1 "$folder/own.c" -o "$folder/own.so" || wrong "gcc own.c"
run -n 2 -genv LD_PRELOAD "$folder/own.so" "$folder/program"; expect_code 0; expect_out "$none"; expect_silence

# an interpreter: no arena before MPI_Init, because it may not use MPI; MPI_Init in a library opened by dlopen
cat > "$folder/open.py" << 'END'
import ctypes, sys
mpi = ctypes.CDLL("libmpi.so.12")
WORLD, BYTE, n = 0x44000000, 0x4c00010d, 1 << 20

def in_arena(buffer):
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    for line in open("/proc/self/maps"):
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        if first <= address < last:
            return "/memfd:tutti" in line

early = bytearray(n)
assert mpi.MPI_Init(None, None) == 0
rank = ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
late = bytearray([rank.value + 1]) * n
pointer = (ctypes.c_char * n).from_buffer(late)
assert mpi.MPI_Bcast(pointer, n, BYTE, 1, WORLD) == 0
assert late == b"\2" * n, late[:4]
print("early", in_arena(early), "late", in_arena(late))
sys.stdout.flush()
mpi.MPI_Finalize()
END
python=$(command -v /usr/bin/python3 || command -v python3)
if [ -n "$python" ]; then
    lines=$'early False late True\nearly False late True'
    run -n 2 --drop-in "$python" "$folder/open.py"; expect_code 0; expect_out "$lines"; expect_silence
    sed -i "1i #!$python" "$folder/open.py"; chmod +x "$folder/open.py"
    run -n 2 --drop-in "$folder/open.py"; expect_code 0; expect_out "$lines"; expect_silence
    run -n 2 --drop-in --preload-arena no "$folder/open.py"; expect_code 0; expect_out "${lines//True/False}"
    run -n 2 --drop-in --preload-arena yes -genv TUTTI_ARENA no "$folder/open.py"; expect_code 0; expect_out "${lines//True/False}"
fi
finish
