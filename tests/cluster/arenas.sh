# SPDX-License-Identifier: BSD-3-Clause
# Sourced with $build and $scratch set: the expected output of arenas.c under any launcher.
# shellcheck shell=bash
# shellcheck disable=SC2034   # used by the sourcing scripts
arenas=$build/tests/cluster_arenas
# A sanitizer has its own allocator; then only MPI_Alloc_mem allocates from the arena.
grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt" && arenas_checked=no || arenas_checked=yes
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -1)

# arena_lines WORD...: prints the expected line of each rank: "direct" for a rank that loads and stores in the memory of
# its peers, "none" for a rank without an arena.
arena_lines() {
    local word r=0
    for word in "$@"; do
        case $word in
        direct) echo "rank $r of $#: arena; early direct, late direct, asked direct" ;;
        none) echo "rank $r of $#: none; early other, late other, asked other" ;;
        esac
        r=$((r + 1))
    done
}

# Like an interpreter, opens MPI late. Prints whether a large block is in shared memory, by one write, as ranks may mix.
cat >"$scratch/late.py" <<END
import ctypes, sys
mpi = ctypes.CDLL("$build/lib/libmpi.so.12")
mpi.MPI_Init(None, None)
block = ctypes.create_string_buffer(1 << 20)
address = ctypes.addressof(block)
for line in open("/proc/self/maps"):
    first, last = (int(word, 16) for word in line.split()[0].split("-"))
    if first <= address < last:
        sys.stdout.write("shared\\n" if "memfd:tutti" in line else "private\\n")
mpi.MPI_Finalize()
END
