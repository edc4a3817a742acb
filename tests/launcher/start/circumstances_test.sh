#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives and messages with each copy method forced, and under restrictions of containers and batch systems.
. "$(dirname "$0")/circumstances.sh" "$1"

# each copy method, in order of preference
programs=("${all[@]}")
try 2 "without arenas" env TUTTI_ARENA=no
try 3 "without CMA" env TUTTI_CMA=no
try 3 "with neither" env TUTTI_ARENA=no TUTTI_CMA=no
programs=("${pairs[@]}")
try 2 "without arenas" env TUTTI_ARENA=no
try 2 "without CMA" env TUTTI_CMA=no
try 2 "with neither" env TUTTI_ARENA=no TUTTI_CMA=no
try 2 "where CMA is forbidden, without arenas" env TUTTI_ARENA=no "$forbid" cma --
programs=("${quick[@]}")
try 3 "without arenas" env TUTTI_ARENA=no
for bytes in 1 4096 64M; do try 2 "with blocks in the arena from $bytes on" env TUTTI_ARENA_THRESHOLD=$bytes; done
# XPMEM is installed but attaching fails: the next method is used without a message
[ -e "$build/tests/fake_xpmem/libxpmem.so.0" ] || wrong "the stand-in for XPMEM is not built"
programs=("${all[@]}")
try 3 "with XPMEM that fails" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem" TUTTI_ARENA=no
programs=("${pairs[@]}")
try 2 "with XPMEM that fails" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem" TUTTI_ARENA=no
programs=("${quick[@]}")
try 2 "with XPMEM that fails, and arenas" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem"
try 2 "with XPMEM that fails, and no CMA" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem" TUTTI_CMA=no
try 2 "with XPMEM that fails, and no registration cache" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem" TUTTI_ARENA=no \
    TUTTI_REGISTRATION_CACHE=no
try 2 "with XPMEM forbidden" env "LD_LIBRARY_PATH=$build/tests/fake_xpmem" TUTTI_XPMEM=no

# system calls that containers forbid
try 3 "where CMA is forbidden" "$forbid" cma --
try 3 "where CMA is forbidden, without arenas" env TUTTI_ARENA=no "$forbid" cma --
try 2 "where sockets are forbidden" "$forbid" sockets --
try 3 "where mbind is forbidden" "$forbid" mbind --
try 3 "where memory policies are forbidden" "$forbid" policies --

# limits of batch systems: address space, locked memory, file sizes
limited() { (ulimit "$1" "$2" && shift 2 && exec "$@"); }
if ! is_sanitized; then   # sanitizers need the whole address space
    try 2 "with 4 GB of addresses" limited -v 4000000
    try 2 "with 1 GB of addresses" limited -v 1000000
fi
try 2 "with no file above 1 GB" limited -f 1000000
try 2 "with no locked memory" limited -l 0
finish
