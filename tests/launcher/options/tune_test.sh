#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tuning files are found, applied, and reported if they are invalid; tutti-tune writes one.
. "$(dirname "$0")/../common.sh" "$1"
info=$build/bin/tutti-info tune=$build/bin/tutti-tune tuned=$build/tests/ranks_coll_tuned
export XDG_CONFIG_HOME=$folder/config TUTTI_TOPOLOGY="socket:2 core:2"
unset TUTTI_TUNING TUTTI_COLL
user=$XDG_CONFIG_HOME/tutti/tuning
mkdir -p "${user%/*}"
sum_is() { run -n 4 "$tuned" "$1"; expect_code 0; }   # 1: the default table's choice; 0: that of the files below

sum_is 1; expect_silence
printf '# tutti tuning 1\nallreduce ranks<=4 bytes<=8 hierarchical\nallreduce bytes<=8 nix\n' > "$user"
sum_is 0; expect_err "tutti: $user:3: allreduce has no algorithm nix; it has"
[ "$(wc -l <<< "$err")" = 1 ] || wrong "a wrong line must be reported once: $err"
TUTTI_QUIET=1 sum_is 0; expect_silence
run --stats -n 4 "$tuned" 0; [[ "$err" =~ allreduce\ +hierarchical\ +4 ]] || wrong "--stats does not show the choice: $err"
TUTTI_TUNING=none sum_is 1; expect_silence
TUTTI_DETERMINISTIC=1 TUTTI_COLL= sum_is 1; expect_silence
TUTTI_COLL=allreduce=exchange run -n 4 "$tuned" 1; expect_code 0
[[ $("$info" --table) == *"tuning file $user:"$'\n'"  allreduce                       ranks<=4                bytes<=8      hierarchical"* ]] ||
    wrong "tutti-info --table: $("$info" --table)"
"$info" --table --json | python3 -c 'import json, sys
table = json.load(sys.stdin)["table"]
assert len(table["measured"]) == len(table["diagnostics"]) == 1 and table["default"], table' || wrong "--table --json"

# the example of the pages: the line works below the head, and without the head the message states what is missing
line='allreduce one_node ranks<=8 bytes<=64K direct'
printf '# tutti tuning 1\n%s\n' "$line" > "$user"
run --stats -n 4 "$tuned" 1; expect_code 0
[[ "$err" =~ allreduce\ +direct\ +4 ]] || wrong "--stats does not show the choice of the example: $err"
printf '%s\n' "$line" > "$user"
sum_is 1; expect_err "$user:1: this is not a tuning file: its first line must be '# tutti tuning 1'."

# a file of another machine is used only if it is named; one of another version, or an unreadable one, never
printf '# tutti tuning 1\n# machine: abacus; 1 socket\nallreduce hierarchical\n' > "$user"
sum_is 1; expect_err "was measured on another machine (abacus) and is not used on this one (socket:2 core:2)"
run -q -n 4 "$tuned" 1; expect_silence
TUTTI_TUNING=$user sum_is 0; expect_silence
run -genv TUTTI_TUNING "$user" -n 4 "$tuned" 0; expect_code 0
printf '# tutti tuning 0\nallreduce hierarchical\n' > "$user"
sum_is 1; expect_err "$user:1: version 0 of the format is not supported, only version 1"
TUTTI_TUNING=$folder/nowhere sum_is 1; expect_err "$folder/nowhere cannot be read"
[[ $("$info" --table) == "! $user:1: version 0"*"There is no tuning file"* ]] || wrong "tutti-info does not tell an old file"

# the tool
unset TUTTI_TOPOLOGY
rm "$user"
out=$("$tune" --dry-run -n 2 --collectives bcast,barrier) || wrong "--dry-run ended with $?"
[[ "$out" == *"bcast among 2 ranks, 8 to 4M bytes: slots,"*"barrier among 2 ranks: exchange"*"write $user"* ]] ||
    wrong "--dry-run: $out"
[ ! -e "$user" ] || wrong "--dry-run wrote a file"
printf '# tutti tuning 1\nscan bytes<=64 chain\nbcast slots\n' > "$user"
err=$("$tune" -n 2 --collectives bcast,barrier --sizes 64:16K --time 2s 2>&1 >"$folder/out") || wrong "tutti-tune ended with $?: $err"
[[ $(< "$user") == "# tutti tuning 1"$'\n'"# machine: "*$'\n'"# date: $(date +%Y)-"* ]] || wrong "the file's head: $(< "$user")"
grep -q '^scan .* bytes<=64 .* chain$' "$user" || wrong "a line for what was not measured is gone: $(< "$user")"
"$info" --table --json | python3 -c 'import json, sys
table = json.load(sys.stdin)["table"]
assert table["tuning"].endswith("/tutti/tuning") and not table["diagnostics"], table
assert "bcast" + 65 * " " + "slots" not in table["measured"], table
assert all(line.split()[1] == "one_node" for line in table["measured"] if not line.startswith("scan")), table' ||
    wrong "what tutti-tune wrote: $(< "$user")"
run -n 2 "$build/bin/tutti-bench" --sizes 8:64K --iterations 3 bcast; expect_code 0; expect_silence
err=$("$tune" --tme 5m 2>&1); [ $? = 2 ] && [[ "$err" == *"did you mean --time?"* ]] || wrong "a wrong option: $err"
for arguments in "-n 1" "-n 2,x" "--sizes 8:1000" "--sizes 4:8" "--time soon" "--time" "--dry-run=yes" "--collectives bcats"; do
    "$tune" $arguments > /dev/null 2>&1; [ $? = 2 ] || wrong "tutti-tune $arguments was accepted"
done
# a symbolic link is replaced, not followed
printf '# tutti tuning 1\n# mine\n' > "$folder/victim"
ln -s "$folder/victim" "$folder/link"
"$tune" -n 2 --collectives barrier --sizes 8:8 --time 0.001s --output "$folder/link" > /dev/null 2>&1 || wrong "beside a link"
grep -q '^# mine$' "$folder/victim" && [ -s "$folder/link" ] && [ ! -L "$folder/link" ] || wrong "a link was followed"

# an unwritable output is reported before any measurement; otherwise the list of measurements would be printed
for output in /proc/nowhere/tuning "$folder" /dev/full /dev/null/x; do
    err=$("$tune" -n 2 --time 1000h --output "$output" 2>&1 > /dev/null); [ $? = 2 ] || wrong "--output $output: $err"
    [[ "$err" == "tutti-tune: $output "*"." ]] || wrong "the message about --output $output: $err"
done
compgen -G "$folder*.new" > /dev/null && wrong "a trial file is left"
# what is no tuning file is not overwritten; one of an older format, or an empty file, is replaced
echo '#!/bin/sh' > "$folder/script"
err=$("$tune" -n 2 --time 1000h --output "$folder/script" 2>&1 > /dev/null); [ $? = 2 ] || wrong "a script as output: $err"
[ "$err" = "tutti-tune: $folder/script exists and was not written by tutti-tune; remove it or choose another name." ] &&
    [ "$(cat "$folder/script")" = '#!/bin/sh' ] || wrong "a script as output: $err"
printf '# tutti tuning 0\n' > "$folder/old"; : > "$folder/empty"
for output in old empty; do
    "$tune" -n 2 --collectives barrier --sizes 8:8 --time 0.001s --output "$folder/$output" > /dev/null 2>&1 &&
        grep -q '^# tutti tuning 1$' "$folder/$output" || wrong "an output that is $output is not replaced"
done
err=$("$tune" -n 2 --collectives barrier --sizes 8:8 --time 1s --output - 2>&1 > /dev/full)
[ $? = 2 ] && [[ "$err" == *"standard output cannot be written"* ]] || wrong "a full standard output: $err"

# cases that did not fit into the time are listed on standard error and in the file; without --time all are measured
err=$("$tune" -n 2 --collectives barrier,scan,exscan --sizes 8:8 --time 0.001s --output "$folder/part" 2>&1 > /dev/null) ||
    wrong "a short time ended with $?: $err"
[[ "$err" == *"not measured: scan among 2 ranks, exscan among 2 ranks; --time "*"m would be enough." ]] || wrong "left out: $err"
many=$("$tune" -n 2,4 --collectives barrier,scan,exscan --sizes 8:8 --time 0.001s --output "$folder/many" 2>&1 > /dev/null) ||
    wrong "a short time ended with $?: $many"
[[ "$many" == *"not measured: 5 of 6 cases, which a comment in the output lists; --time "* ]] || wrong "many left out: $many"
grep -q '^# not measured for lack of time: .*exscan among 2 ranks, .*exscan among 4 ranks$' "$folder/many" || wrong "$(< "$folder/many")"
grep -qx '# not measured for lack of time: scan among 2 ranks, exscan among 2 ranks' "$folder/part" || wrong "$(< "$folder/part")"
err=$("$tune" -n 2 --collectives barrier,exscan --sizes 8:8 --quiet --output "$folder/all" 2>&1 > /dev/null) || wrong "without --time: $err"
[ -z "$err" ] && ! grep -q 'not measured' "$folder/all" || wrong "without --time: $err $(< "$folder/all")"

# endless and too large files are not read as tuning files
truncate -s 2M "$folder/large"; mkfifo "$folder/pipe"
for file in /dev/zero "$folder/pipe" "$folder/large" "$folder"; do
    err=$(TUTTI_TUNING=$file timeout 60 "$build/bin/mpiexec" -n 1 true 2>&1); [ $? = 0 ] || wrong "TUTTI_TUNING=$file ended the job: $err"
    [[ "$err" == "mpiexec: $file cannot be read as a tuning file: "*"." ]] || wrong "TUTTI_TUNING=$file: $err"
done
finish
