#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks in different PID namespaces, as in containers, in which a PID of another namespace is a different process. Data
# outside of arenas is then copied through the segment; ranks that share a namespace use CMA.
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "under a sanitizer large blocks do not lie in arenas"
unshare --fork --pid true 2> /dev/null || unshare --user --map-root-user --fork --pid true 2> /dev/null ||
    skip "this system allows no PID namespaces"

for kind in pie no-pie; do
    "$build/bin/mpicc" -O1 "-f$kind" "-$kind" "$here/static_arrays.c" -o "$folder/$kind" || wrong "mpicc -$kind"
done
# way NAME: the bytes that all ranks copied by that method, from the first table of --stats
way() {
    local column=$1
    awk -v c="$column" '$1 == "all" { i = 2; for (k = 1; k < c; ++k) i += $(i + 1) ~ /B$/ ? 2 : 1; print $i; exit }' <<< "$err"
}
by_cma() { way 3; }
can_cma=yes; [[ $("$build/bin/tutti-info") == *"no   CMA"* ]] && can_cma=

# Commands that start the program in a separate namespace per rank, as root and as a user in a user namespace.
own=()
unshare --fork --pid true 2> /dev/null && own+=("unshare --fork --pid" "unshare --fork --pid --mount-proc")
for users in "--user" "--user --map-root-user"; do
    # shellcheck disable=SC2086
    unshare $users --fork --pid true 2> /dev/null && own+=("unshare $users --fork --pid")
done
for in_front in "${own[@]}"; do
    for kind in pie no-pie; do
        for ranks in 2 3; do
            # shellcheck disable=SC2086
            run -n "$ranks" --stats $in_front "$folder/$kind"; expect_code 0
            [ "$(by_cma)" = 0 ] || wrong "$what used CMA: $err"
        done
        # shellcheck disable=SC2086
        run -n 2 --stats -genv TUTTI_CMA no $in_front "$folder/$kind"; expect_code 0
    done
    # Arenas do not need PIDs.
    # shellcheck disable=SC2086
    run -n 2 --stats $in_front "$build/tests/ranks_launcher_mover"; expect_code 0
    [ "$(way 1)" != 0 ] || wrong "$what used no arena: $err"
done

# One rank in a separate namespace, or two in the launcher's and two in another one, nested or not.
numbers=${own[0]}
if [ -n "$can_cma" ]; then
    for kind in pie no-pie; do
        run -n 3 --stats "$folder/$kind"; expect_code 0
        [ "$(by_cma)" != 0 ] || wrong "$what did not use CMA: $err"
        # shellcheck disable=SC2086
        run --stats -n 2 "$folder/$kind" : -n 1 $numbers "$folder/$kind" : -n 1 $numbers $numbers "$folder/$kind"
        expect_code 0
        [ "$(by_cma)" != 0 ] || wrong "$what did not use CMA between the first two: $err"
    done
    # mpiexec itself inside, with and without a /proc of that namespace
    for proc in "" --mount-proc; do
        what="mpiexec within $numbers $proc"
        # shellcheck disable=SC2086
        timeout "$limit_s" $numbers $proc "$mpiexec" -n 2 --stats "$folder/no-pie" > "$folder/out" 2> "$folder/err"
        code=$? err=$(cat "$folder/err"); expect_code 0
        [ "$(by_cma)" != 0 ] || wrong "$what did not use CMA: $err"
    done
fi

# The report of a waiting rank has lines of its program, not of the command that started it.
cat > "$folder/waits.c" << 'PROGRAM'
#include <mpi.h>
int main(void) {
    MPI_Init(0, 0);
    int n, me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Recv(&n, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 6 */
    MPI_Finalize();
}
PROGRAM
"$build/bin/mpicc" -g "$folder/waits.c" -o "$folder/waits" || wrong "mpicc waits.c"
# shellcheck disable=SC2086
run -n 2 $numbers "$folder/waits"; expect_code 125; expect_err "waits.c:6"
expect_nothing_left
finish
