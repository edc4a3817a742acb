#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives and messages with each step of the ladder forced, and in what containers and batch systems make of a
# machine. The programs check their results themselves.
. "$(dirname "$0")/../common.sh" "$1"
tests=$build/tests
sanitized=; grep -q '^TUTTI_SANITIZE:STRING=.' "$build/CMakeCache.txt" && sanitized=yes
all=(ranks_coll_movements ranks_coll_reductions ranks_p2p_large ranks_p2p_modes)
pairs=(ranks_p2p_layouts)   # programs for two ranks
quick=(ranks_launcher_mover "ranks_launcher_mover static" ranks_p2p_modes)
for program in "${all[@]}" "${pairs[@]}" ranks_launcher_mover; do
    [ -x "$tests/$program" ] || { echo "skipped: the MPI programs are not built"; exit 77; }
done

# try RANKS CIRCUMSTANCE COMMAND...: the programs in $programs, each behind mpiexec behind COMMAND
try() {
    local ranks=$1 where=$2 program words said; shift 2
    for program in "${programs[@]}"; do
        read -ra words <<< "$program"
        said=$("$@" "$mpiexec" -n "$ranks" -timeout 60 "$tests/${words[0]}" "${words[@]:1}" 2>&1 < /dev/null) &&
            [ -z "$said" ] || wrong "$program on $ranks ranks $where: ended with $?: ${said:0:500}"
    done
}
unavailable() { echo "left out: $*"; }

# the steps of the ladder
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
# XPMEM whose library is there and whose attaching fails: the next step, and nobody hears of it
[ -e "$tests/fake_xpmem/libxpmem.so.0" ] || wrong "the stand-in for XPMEM is not built"
programs=("${all[@]}")
try 3 "with XPMEM that fails" env "LD_LIBRARY_PATH=$tests/fake_xpmem" TUTTI_ARENA=no
programs=("${pairs[@]}")
try 2 "with XPMEM that fails" env "LD_LIBRARY_PATH=$tests/fake_xpmem" TUTTI_ARENA=no
programs=("${quick[@]}")
try 2 "with XPMEM that fails, and arenas" env "LD_LIBRARY_PATH=$tests/fake_xpmem"
try 2 "with XPMEM that fails, and no CMA" env "LD_LIBRARY_PATH=$tests/fake_xpmem" TUTTI_CMA=no
try 2 "with XPMEM forbidden" env "LD_LIBRARY_PATH=$tests/fake_xpmem" TUTTI_XPMEM=no

# what a container's rules forbid
try 3 "where CMA is forbidden" "$forbid" cma --
try 3 "where CMA is forbidden, without arenas" env TUTTI_ARENA=no "$forbid" cma --
try 2 "where sockets are forbidden" "$forbid" sockets --
try 3 "where mbind is forbidden" "$forbid" mbind --
try 3 "where memory policies are forbidden" "$forbid" policies --

# /dev/shm too small for anything, and none
in_namespace() { unshare -m sh -c "$1 && shift && exec \"\$@\"" sh "$@"; }
if in_namespace "mount -t tmpfs -o size=64k none /dev/shm" true 2> /dev/null; then
    try 2 "with a small /dev/shm" in_namespace "mount -t tmpfs -o size=64k none /dev/shm"
    no_shm="mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9"
    if in_namespace "$no_shm" true 2> /dev/null; then try 2 "without /dev/shm" in_namespace "$no_shm"
    else unavailable "no /dev/shm at all (device files cannot be made here)"; fi
else
    unavailable "/dev/shm small or absent (no mount namespace can be made here)"
fi

# a user without any privilege
nobody() { (cd / && exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"); }
if nobody test -x "$tests/ranks_launcher_mover" 2> /dev/null; then
    try 2 "as an unprivileged user" nobody
    try 2 "as an unprivileged user without arenas" nobody env TUTTI_ARENA=no
else
    unavailable "an unprivileged user (setpriv does not work here, or the user cannot read the build folder)"
fi

# limits of a batch system: addresses, locked memory, file sizes
limited() { (ulimit "$1" "$2" && shift 2 && exec "$@"); }
if [ -z "$sanitized" ]; then
    try 2 "with 4 GB of addresses" limited -v 4000000
    try 2 "with 1 GB of addresses" limited -v 1000000
else
    unavailable "limits on addresses (sanitizers need them all)"
fi
try 2 "with no file above 1 GB" limited -f 1000000
try 2 "with no locked memory" limited -l 0
finish
