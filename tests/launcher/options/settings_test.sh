#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Values out of range and misspelt settings are reported once, by mpiexec before the start or else by rank 0, and the
# job uses the default.
. "$(dirname "$0")/../common.sh" "$1"
export TUTTI_TUNING=none
moved=$build/tests/ranks_coll_movements reduced=$build/tests/ranks_coll_reductions
# expect_report LINES: standard error is exactly these lines
expect_report() { [ "$err" = "$1" ] || wrong "$what printed '$err' instead of '$1'"; }

wait="TUTTI_WAIT=dedicatd: it must be auto, dedicated or shared; did you mean dedicated? auto is used"
TUTTI_WAIT=dedicatd run -n 4 "$moved"; expect_code 0; expect_report "mpiexec: $wait."
TUTTI_WAIT=dedicatd run -n 2 true; expect_code 0; expect_report "mpiexec: $wait."
TUTTI_WAIT=dedicatd TUTTI_QUIET=1 run -n 2 "$moved"; expect_code 0; expect_silence
TUTTI_WAIT=dedicatd run -q -n 2 "$moved"; expect_code 0; expect_report "tutti: $wait"   # -q suppresses only the messages of mpiexec
run -genv TUTTI_COPY bogus -n 1 "$moved" : -n 1 -env TUTTI_FRAGMENTS 99 "$moved"; expect_code 0
expect_report "mpiexec: TUTTI_COPY=bogus: it must be auto, temporal or nontemporal; auto is used.
mpiexec: TUTTI_FRAGMENTS=99: it must be 1 to 4; 2 is used."
TUTTI_POLLING_LIMIT=0 run -n 2 "$moved"; expect_code 0
expect_report "mpiexec: TUTTI_POLLING_LIMIT=0: it must be 1 to 86400; 30 is used."
TUTTI_EAGR=1 run -n 2 "$moved"; expect_code 0
expect_report "mpiexec: TUTTI_EAGR is not a variable of Tutti; did you mean TUTTI_EAGER?"

# settings that mpiexec cannot see, and those of a program without a launcher, are reported by rank 0
run -n 2 sh -c "TUTTI_WAIT=dedicatd exec $moved"; expect_code 0; expect_report "tutti: $wait"
err=$(TUTTI_WAIT=dedicatd "$moved" 2>&1 > /dev/null) || wrong "alone: $err"
[ "$err" = "tutti: $wait" ] || wrong "alone printed '$err'"

# a setting for XPMEM, where it is not used
none="TUTTI_REGISTRATION_CACHE=no has no effect: this system has no XPMEM, or the settings do not permit it"
TUTTI_XPMEM=no TUTTI_REGISTRATION_CACHE=no run -n 2 "$moved"; expect_code 0; expect_report "tutti: $none"
TUTTI_STRICT=yes TUTTI_XPMEM=no TUTTI_REGISTRATION_CACHE=no run -n 2 "$moved"; expect_err "$none"
[ "$code" != 0 ] || wrong "$what succeeded"
TUTTI_REGISTRATION_CACHE=no LD_LIBRARY_PATH=$build/tests/fake_xpmem run -n 2 "$moved"; expect_code 0; expect_silence

# sizes that once caused divisions by zero, and the bounds of the range
for size in 0 1 8 63 4095; do
    TUTTI_STAGING=$size TUTTI_ARENA=no TUTTI_CMA=no run -n 3 "$moved"; expect_code 0
    expect_report "mpiexec: TUTTI_STAGING=$size: it must be 4K to 4M bytes; 65536 is used."
done
for size in 4K 4M; do
    for program in "$moved" "$reduced"; do
        TUTTI_STAGING=$size TUTTI_ARENA=no TUTTI_CMA=no run -n 4 "$program"; expect_code 0; expect_silence
    done
done
TUTTI_FRAGMENT=4K TUTTI_FRAGMENTS=4 run -n 4 "$reduced"; expect_code 0; expect_silence
TUTTI_ARENA_THRESHOLD=1 TUTTI_ARENA_KEEP=0 run -n 2 "$moved"; expect_code 0; expect_silence
TUTTI_ARENA_THRESHOLD=0 TUTTI_PORT_RANGE=x run -n 2 "$moved"; expect_code 0
expect_report "mpiexec: TUTTI_ARENA_THRESHOLD=0: it must be 1 to 1T bytes; 8192 is used.
mpiexec: TUTTI_PORT_RANGE=x: it must be a port, or two with a hyphen such as 40000-40100; multi-node jobs cannot start."

# tutti-info shows the ranges
"$build/bin/tutti-info" --variables --json | python3 -c 'import json, sys
ranges = {v["name"]: v["range"] for v in json.load(sys.stdin)["variables"]}
assert all(ranges.values()), ranges
assert ranges["TUTTI_FRAGMENTS"] == "1 to 4" and ranges["TUTTI_STAGING"] == "4K to 4M bytes", ranges
assert ranges["TUTTI_WAIT"] == "auto, dedicated or shared" and ranges["TUTTI_FRAGMENT"] == "0 or 4K to 1T bytes", ranges' ||
    wrong "the ranges that tutti-info prints"
[[ $("$build/bin/tutti-info" --variables | tr -s ' \n' ' ') == *"sets it for a communicator. Values: auto, dedicated or shared. "* ]] ||
    wrong "tutti-info as text"
# --strict: no job starts with an invalid setting
for strict in --strict "-genv TUTTI_STRICT yes"; do
    TUTTI_WAIT=bogus run -n 2 $strict touch "$folder/ran"; expect_code 2; expect_err "TUTTI_WAIT=bogus"; expect_err "job not started because TUTTI_STRICT is set"
    TUTTI_WIAT=shared run -n 2 $strict touch "$folder/ran"; expect_code 2; expect_err "did you mean TUTTI_WAIT?"
    TUTTI_WAIT=bogus run -q -n 2 $strict touch "$folder/ran"; expect_code 2
    TUTTI_TUNING=/nowhere/tuning run -n 2 $strict touch "$folder/ran"; expect_code 2; expect_err "/nowhere/tuning cannot be read as a tuning file"
done
[ ! -e "$folder/ran" ] || wrong "a job ran in spite of --strict"
run -n 2 --strict --coll bcast=nix "$build/bin/tutti-bench" --sizes 8:8 --iterations 3 bcast
[ "$code" != 0 ] || wrong "$what ended with 0"; expect_err "--coll: bcast has no algorithm nix"; expect_out ""
# reported by mpiexec: a rank that reports it itself can be ended before it has done so
run -n 2 --messages json --strict --coll bcast=nix "$moved"
[[ $err == '{"code":"MPI_ERR_OTHER"'*"--coll: bcast has no algorithm nix"* ]] || wrong "$what printed '$err'"
printf '# tutti tuning 1\nbcats 2 0 slots\n' > "$folder/bad-tuning"
TUTTI_TUNING=$folder/bad-tuning run -n 2 --strict "$build/bin/tutti-bench" --sizes 8:8 --iterations 3 bcast
[ "$code" != 0 ] || wrong "$what ended with 0"; expect_err "$folder/bad-tuning:2"; expect_out ""
run -n 2 --strict "$rank" init finalise; expect_code 0; expect_silence
finish
