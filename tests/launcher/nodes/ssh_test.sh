#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over real ssh: the test starts a server with temporary keys, and names that refer to it.
. "$(dirname "$0")/nodes_common.sh" "$1"
PATH=$PATH:/usr/sbin
need_package openssh-server sshd
need_package openssh-client ssh ssh-keygen
sshd=$(command -v sshd)

for key in host user stranger; do ssh-keygen -q -t ed25519 -N '' -f "$folder/$key"; done
cp "$folder/user.pub" "$folder/authorized"
[ "$(id -u)" = 0 ] && mkdir -p /run/sshd
# A port that is probably free: the server reports if it is in use.
for port in $(shuf -i 20000-60000 -n 20); do
    "$sshd" -D -e -f /dev/null -p "$port" -h "$folder/host" -o ListenAddress=127.0.0.1 -o PidFile=none -o UsePAM=no \
        -o StrictModes=no -o PasswordAuthentication=no -o AuthorizedKeysFile="$folder/authorized" \
        -o PermitRootLogin=yes 2> "$folder/sshd" & server=$!
    wait_until grep -qE "listening|error|fatal" "$folder/sshd" > /dev/null
    grep -q "Server listening" "$folder/sshd" && break
done
trap 'kill $server; rm -rf "$folder"' EXIT
grep -q "Server listening" "$folder/sshd" || skip "sshd does not run here: $(head -1 "$folder/sshd")"
echo "[127.0.0.1]:$port $(cat "$folder/host.pub")" > "$folder/known"
cat > "$folder/config" <<END
Host one two n1 n2 refused
    HostName 127.0.0.1
    Port $port
    User $(id -un)
    UserKnownHostsFile $folder/known
    IdentitiesOnly yes
    BatchMode yes
    LogLevel ERROR
Host one two n1 n2
    IdentityFile $folder/user
Host refused
    IdentityFile $folder/stranger
END
ssh=$(command -v ssh)
ssh_run() { run --launcher-agent "$ssh -F $folder/config" "${patient[@]}" "$@"; }
# sshd starts sessions with a new environment. The daemons of this test are identified by their path, because other
# tests may have daemons at the same time.
own=$folder/tutti
mkdir -p "$own/bin"; cp "$build/bin/mpiexec" "$build/bin/tutti-daemon" "$own/bin"; ln -s "$build/lib" "$own/lib"
mpiexec=$own/bin/mpiexec
daemons() { pgrep -f "^$own/bin/tutti-daemon"; }
no_daemon() { [ -z "$(daemons)" ]; }
expect_no_daemon() {
    wait_until no_daemon || wrong "$what left behind: $(ps -o pid=,args= -p "$(daemons | paste -sd,)")"
    wait_until no_sleepers || wrong "$what left behind: $(sleepers)"
}
no_sleepers() { [ -z "$(sleepers)" ]; }

export NODES_TEST_A='a  b;$c"'"'"
ssh_run -hosts one:2,two:2 -n 4 -l sh -c 'echo $MPI_LOCALRANKID "$NODES_TEST_A"'; expect_code 0; expect_silence
[ "$(sort "$folder/out")" = "$(printf '[%s\n' "0] 0 $NODES_TEST_A" "1] 1 $NODES_TEST_A" "2] 0 $NODES_TEST_A" "3] 1 $NODES_TEST_A")" ] || wrong "over ssh: $out"
ssh_run -hosts localhost:1,two:1 -n 2 "$rank" init finalise; expect_code 0; expect_silence
head -c 1000000 /dev/urandom > "$folder/random"
input=$folder/random; ssh_run -hosts one:1,two:1 -n 2 -stdin 1 sh -c '[ $PMI_RANK = 0 ] || cat' > /dev/null
cmp -s "$folder/out" "$folder/random" || wrong "input and output over ssh"; input=
mkdir "$folder/a b"; cp "$build/bin/tutti-daemon" "$folder/a b"; ssh_run -hosts one --daemon "$folder/a b/tutti-daemon" echo x; expect_out x

# the commands and the host file of the page, with an ssh that knows its names
mkdir "$folder/page"
sed -n '/^## With ssh/,/^## Slurm/p' "$source/launcher/clusters.md" > "$folder/page/text"
grep '^n[12]' "$folder/page/text" > "$folder/page/hosts"
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$ssh" "$folder/config" > "$folder/page/ssh"
printf '#!/bin/sh\necho "$PMI_RANK $MPI_LOCALNRANKS $PWD"\n' > "$folder/page/app"
chmod +x "$folder/page/ssh" "$folder/page/app"
sed -n '/^```sh$/,/^```$/p' "$folder/page/text" | grep -v '^```' > "$folder/page/commands"
[ "$(grep -c '^mpiexec ' "$folder/page/commands")" = "$(wc -l < "$folder/page/commands")" ] && [ -s "$folder/page/commands" ] ||
    wrong "the commands of the page: $(< "$folder/page/commands")"
while read -r what; do
    (cd "$folder/page" && PATH=$folder/page:$own/bin:$PATH TUTTI_SILENCE=600 timeout "$limit_s" bash -c "$what") \
        > "$folder/out" 2> "$folder/err" < /dev/null
    code=$? err=$(< "$folder/err"); expect_code 0; expect_silence
    [ "$(sort "$folder/out")" = "$(seq -f "%g 4 $folder/page" 0 7)" ] || wrong "$what printed $(< "$folder/out")"
done < "$folder/page/commands"

# unreachable hosts, with the message of ssh
ssh_run -hosts one,no-such-host.invalid true; expect_code 1; expect_err "node no-such-host.invalid could not be reached: $ssh ended with exit code 255 and printed:"; expect_err "no-such-host.invalid"
ssh_run -hosts refused,one true; expect_code 1; expect_err "node refused could not be reached"; expect_err "Permission denied"
ssh_run -hosts one --daemon /nowhere/tutti-daemon true; expect_code 1; expect_err "/nowhere/tutti-daemon"
expect_no_daemon

# start: starts four ranks that sleep, two of them over ssh. Sets $pid.
start() {
    : > "$folder/out"
    "$mpiexec" --launcher-agent "$ssh -F $folder/config" -hosts localhost:2,two:2 "${patient[@]}" -n 4 sh -c "echo here; exec sleep $nap" \
        > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    wait_until all_here
}
all_here() { [ "$(grep -c here "$folder/out")" = 4 ]; }
stopped() { ended "$pid" "$@"; expect_no_daemon; }
oldest_daemon() { pgrep -of "^$own/bin/tutti-daemon"; }
start; kill -KILL "$(oldest_daemon)"; stopped "kill -9 of a daemon" 1; expect_err "node two"
start; kill -KILL "$(pgrep -P $pid -x ssh)"; stopped "kill -9 of ssh" 1; expect_err "node two"; expect_err "killed by signal 9"
start; kill -KILL $pid; stopped "kill -9 of mpiexec" 137
# the connection stalls: the daemon at its end also ends its ranks
patient=(--silence 5); start; sessions=$(pgrep -P "$server"); kill -STOP $sessions; stopped "a line that stands still" 1; expect_err "node two is lost"; kill -CONT $sessions
finish
