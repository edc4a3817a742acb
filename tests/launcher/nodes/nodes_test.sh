#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several nodes: placement of ranks, their environment, input and output. Loopback addresses represent nodes.
. "$(dirname "$0")/nodes_common.sh" "$1"
sorted() { out=$(sort "$folder/out"); }
where='echo $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_NODE_RANK'

# the same error of ranks on both nodes
misbehave=$build/tests/ranks_launcher_misbehave
if [ -x "$misbehave" ]; then on "$two" -n 8 "$misbehave" 0 alike; expect_reported_once; fi

# by slot, by node, more ranks than slots, -ppn, this node among others, several names of one node
on "$two" -n 4 sh -c "$where"; sorted; expect_code 0; expect_silence
expect_out $'0/4 0/2 0 0\n1/4 1/2 1 1\n2/4 0/2 0 0\n3/4 1/2 1 1'
on "$two" -n 4 --map-by node -l sh -c 'echo $MPI_LOCALRANKID'; sorted; expect_out $'[0] 0\n[1] 0\n[2] 1\n[3] 1'
on 127.0.0.2,127.0.0.3 -n 3 -l sh -c 'echo $MPI_LOCALRANKID'; sorted; expect_out $'[0] 0\n[1] 0\n[2] 1'
on 127.0.0.2,127.0.0.3 -ppn 2 -l sh -c 'echo $MPI_LOCALRANKID'; sorted; expect_out $'[0] 0\n[1] 1\n[2] 0\n[3] 1'
on "localhost:1,127.0.0.3:2,$(hostname):1" -n 4 -l sh -c 'echo $MPI_LOCALRANKID'; sorted; expect_out $'[0] 0\n[1] 1\n[2] 0\n[3] 1'
[ "$(cut -d' ' -f2 "$AGENT_LOG")" = 127.0.0.3 ] || wrong "an agent was called for $(cat "$AGENT_LOG")"
printf '127.0.0.2 slots=1\n127.0.0.3:1 # the other\n' > "$folder/hosts"
run --launcher-agent "$agent" -f "$folder/hosts" sh -c "$where"; sorted; expect_out $'0/2 0/1 0 0\n1/2 0/1 0 0'
SLURM_JOB_NODELIST='127.0.0.[2-3]' SLURM_TASKS_PER_NODE='1(x2)' run --launcher-agent "$agent" sh -c "$where"; sorted
expect_out $'0/2 0/1 0 0\n1/2 0/1 0 0'
on 127.0.0.2 -n 1 -l sh -c 'echo $PMI_SIZE' : -n 2 -host 127.0.0.3 -env X y sh -c 'echo $X $PMI_APPNUM $MPI_LOCALRANKID'
sorted; expect_out $'[0] 3\n[1] y 1 0\n[2] y 1 1'
printf -- '-n 1 echo a\n-n 2 echo b\n' > "$folder/config"; on "$two" -configfile "$folder/config"; sorted; expect_out $'a\nb\nb'
on 127.0.0.2:1,127.0.0.3:2 -n 2 --nooversubscribe true; expect_code 0
on 127.0.0.2,127.0.0.3 -n 3 --nooversubscribe true; expect_code 2; expect_err slots

# options of other launchers that place, number and print ranks
on "$two" -n 4 --rank-by node -l sh -c 'echo $MPI_LOCALRANKID'; sorted; expect_out $'[0] 0\n[1] 0\n[2] 1\n[3] 1'
on 127.0.0.2:1,127.0.0.3:2 -order-nodes DESCENDING --display-map -n 3 true; expect_code 0; expect_err "127.0.0.3 gets ranks 0-1"
on localhost:2,127.0.0.3:2 --nolocal -n 2 --display-map true; expect_code 0; expect_err "127.0.0.3 gets ranks 0-1"
on "$two" -localonly -n 2 true; expect_code 0; [ -s "$AGENT_LOG" ] && wrong "-localonly started a daemon"
printf 'rank 0=127.0.0.3\nrank 1=+n0 slot=0\n' > "$folder/ranks"
on "$two" --rankfile "$folder/ranks" --report-bindings -v true; expect_code 0; expect_err "rank 0 on 127.0.0.3 is process"; expect_err "rank 1 on 127.0.0.2 is bound to processing unit"
on "$two" -n 4 -iface eth999 true; expect_code 2; expect_err "-iface: no interface or network of this host is eth999"
on "$two" -n 4 -print-all-exitcodes true; [ "$(grep -c 'ended with exit code 0' <<< "$err")" = 4 ] || wrong "$what printed $err"
on "$two" -n 4 -disable-auto-cleanup sh -c "[ \$PMI_RANK = 3 ] && { $leave; exit 9; }; $await_leaver; echo lives"; expect_code 9; expect_out $'lives\nlives\nlives'
# each node is drawn, with and without a program
for program in "" "echo x"; do
    on "$two" -n 4 --show-hierarchy $program; expect_code 0; expect_silence
    [ "$(grep -c '^Node 127.0.0.[23], ' "$folder/out")" = 2 ] || wrong "$what drew $out"
    [[ "$out" == *"*2 3"* ]] || wrong "$what does not name ranks 2 and 3: $out"
done
[ "$(grep -cx x "$folder/out")" = 4 ] || wrong "the drawing kept the program from running: $out"
expect_nothing_left

# jobs on one node start no daemon
on 127.0.0.1:2,127.0.0.2:2 -n 2 "$rank" init finalise; expect_code 0; [ -s "$AGENT_LOG" ] && wrong "an unneeded daemon was started"

# environment and working directory are those of this node, with any characters
export NODES_TEST_A='a  b;$c"'"'"
on "$two" -n 4 sh -c 'echo "$NODES_TEST_A"'; [ "$(sort -u "$folder/out")" = "$NODES_TEST_A" ] || wrong "environment: $out"
on "$two" -n 4 -genvlist PATH -env B 'x y' sh -c 'echo "$NODES_TEST_A$B"'; [ "$(sort -u "$folder/out")" = "x y" ] || wrong "-genvlist: $out"
on "$two" -n 4 -genvnone -x NODES_TEST_A sh -c 'echo "$NODES_TEST_A"'; [ "$(sort -u "$folder/out")" = "$NODES_TEST_A" ] || wrong "-x: $out"
on "$two" -n 4 -wdir / pwd; expect_out $'/\n/\n/\n/'
(cd "$folder" && "$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 pwd | sort -u) > "$folder/where"
[ "$(cat "$folder/where")" = "$(cd "$folder" && pwd)" ] || wrong "the folder: $(cat "$folder/where")"

# the segment: only ranks of this node; a separate processing unit for each
on "$two" -n 4 "$rank" init finalise; expect_code 0; expect_silence
on "$two" -n 4 --report-bindings --bind-to none true; expect_err "rank 3 on 127.0.0.3 is not bound"
on "$two" -n 4 -v true; expect_err "rank 3 on 127.0.0.3 is process"; expect_err "rank 0, process"; expect_err "started by: $agent HOST"

# output: whole lines, large amounts, files, a closed pipe
on "$two" -n 4 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do printf abc; printf "def %d\n" $i; done'
[ "$(grep -cx 'abcdef [1-9]' "$folder/out")" = 36 ] || wrong "lines were mixed: $out"
on "$two" -n 4 -l seq 20000; for r in 0 1 2 3; do
    [ "$(sed -n "s/^\[$r\] //p" "$folder/out" | cksum)" = "$(seq 20000 | cksum)" ] || wrong "output of rank $r"; done
on "$two" -n 4 -outfile-pattern "$folder/o/%h.%r" sh -c 'echo $PMI_RANK'; expect_out ""
[ "$(cat "$folder/o/127.0.0.2.1" "$folder/o/127.0.0.3.2")" = $'1\n2' ] || wrong "-outfile-pattern: $(ls "$folder/o")"
on "$two" -n 4 sh -c 'echo err >&2'; expect_out ""; [ "$err" = $'err\nerr\nerr\nerr' ] || wrong "standard error: $err"
on "$two" -n 2 printf 'no end'; expect_out "no endno end"
timeout "$limit_s" "$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 yes 2> "$folder/err" | head -1 > /dev/null
[ "${PIPESTATUS[0]}" = 141 ] || wrong "mpiexec | head ended badly"; [ -s "$folder/err" ] && wrong "mpiexec | head printed $(cat "$folder/err")"
# a reader that sleeps for longer than the limit for silent nodes (1.5 s) blocks ranks, but no node counts as lost
{ timeout "$limit_s" "$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 seq 200000; echo "code $?"; } 2> "$folder/err" | { sleep 2; wc -l; } > "$folder/count"
[ "$(cat "$folder/count")" = 800001 ] || wrong "a slow reader got $(cat "$folder/count") lines: $(cat "$folder/err")"

# input: to a rank of another node, to all ranks, more than the buffers hold, to a rank that does not read it
head -c 3000000 /dev/urandom > "$folder/random"; input=$folder/random
on "$two" -n 4 -stdin 2 cksum
[ "$(sort "$folder/out")" = "$(printf '%s\n4294967295 0\n4294967295 0\n4294967295 0\n' "$(cksum < "$folder/random")" | sort)" ] || wrong "-stdin 2: $out"
on localhost:2,127.0.0.3:2 -n 4 -stdin all cksum; [ "$(sort -u "$folder/out")" = "$(cksum < "$folder/random")" ] || wrong "-stdin all: $out"
on "$two" -n 4 true; expect_code 0
input=

# a terminal: a prompt of a rank on another node is shown, and the answer is delivered
ask_on_terminal --launcher-agent "$agent" -hosts "$two" "${patient[@]}" -n 4
# --stats lists all ranks
on "$two" -n 3 --stats "$rank" init finalise; for r in 0 1 2 all; do [ "$(grep -cE "^ +$r " <<< "$err")" = 3 ] || wrong "--stats and rank $r: $err"; done

# output of a login shell, an agent that does not end, a daemon in another folder
agent_words=--noise; on "$two" -n 4 echo x; expect_out $'x\nx\nx\nx'; expect_silence
agent_words=--child; on "$two" -n 4 echo x; expect_out $'x\nx\nx\nx'; expect_silence; agent_words=
mkdir "$folder/a b"; cp "$build/bin/tutti-daemon" "$folder/a b"
on "$two" -n 4 --daemon "$folder/a b/tutti-daemon" echo x; expect_out $'x\nx\nx\nx'
on "$two" --daemon /nowhere/tutti-daemon true; expect_code 1; expect_err "could not be reached"; expect_err "/nowhere/tutti-daemon"
"$build/bin/tutti-daemon" --version | grep -q "tutti-daemon of Tutti" || wrong "tutti-daemon --version"

# two jobs at the same time on the same nodes
"$mpiexec" --launcher-agent "$agent" -hosts "$two" "${patient[@]}" -n 4 bash -c \
    "echo here; until [ -e '$folder/second' ]; do sleep 0.02; done; exec '$rank' init finalise" > "$folder/first" 2>&1 & other=$!
all_here() { [ "$(grep -c here "$folder/first")" = 4 ]; }
wait_until all_here
on "$two" -n 4 "$rank" init finalise; expect_code 0; touch "$folder/second"; wait $other || wrong "the first of two jobs"

# a tree: daemons that represent others
many=$(seq -s, -f '127.0.1.%g' 20)
on "$many" -n 40 -l sh -c 'echo $MPI_LOCALRANKID'; expect_code 0; expect_silence
[ "$(sort -t']' -k2 "$folder/out" | cut -d' ' -f2 | uniq -c | tr -s ' \n' ' ')" = " 20 0 20 1 " ] || wrong "a tree of 20 nodes: $out"
on "$many" -n 20 sh -c 'echo $PPID $PMI_RANK' && [ "$(wc -l < "$AGENT_LOG")" = 20 ] || wrong "agents: $(wc -l < "$AGENT_LOG")"
# a daemon repeats its attempts to reach a host that may be starting, too, and the user learns why
tr , '\n' <<< "$many" > "$folder/many"
cat > "$folder/late" <<END
#!/bin/sh
[ "\$1" != 127.0.1.20 ] || [ -e "$folder/refused" ] || { touch "$folder/refused"; echo refused >&2; exit 255; }
exec "$agent" "\$@"
END
chmod +x "$folder/late"
HYDRA_HOST_FILE=$folder/many HYDRA_LAUNCHER_EXEC=$folder/late run "${patient[@]}" -n 20 true; expect_code 0
expect_err "on node 127.0.1.19: node 127.0.1.20 could not be reached: "; expect_err "printed: refused; trying again until"
input=$folder/random; on "$many" -n 20 -stdin 1 sh -c '[ $PMI_RANK != 1 ] || cksum'; expect_out "$(cksum < "$folder/random")"; input=
expect_nothing_left
# a rank listens only at the addresses that it publishes: each line is address:port of one of its listening sockets
listening='for fd in ${TUTTI_LISTEN_FD//,/ }; do inode=$(readlink /proc/self/fd/$fd | tr -dc 0-9)
    awk -v inode="$inode" "\$10 == inode {print \$2}" /proc/net/tcp /proc/net/tcp6; done'
on $two -n 4 -genv TUTTI_NETWORK 127.0.0.0/8 bash -c "$listening"; expect_code 0
[ "$(grep -c '^0100007F:' "$folder/out")" = 4 ] && [ "$(wc -l < "$folder/out")" = 4 ] || wrong "$what listens on $out"
on $two -n 4 bash -c "$listening"; expect_code 0
[ "$(wc -l < "$folder/out")" -ge 4 ] && ! grep -qE '^0+:' "$folder/out" || wrong "$what listens on $out"

finish
