#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The basis of the other tests in this folder: hosts, agent, cables, delay and loss.
. "$(dirname "$0")/common.sh" "$1"
before=$(ip -br link 2>/dev/null)

serve() {
    local host
    for host in "${hosts[@]}"; do
        on_host "$host" python3 "$cluster_folder/answer.py" serve >"$scratch/serves.$host" &
        disown $!
        until [ -s "$scratch/serves.$host" ]; do sleep 0.01; done
    done
}
# meets FROM ADDRESS HOST: checks that HOST answers at ADDRESS; "no": that nothing answers within a second
meets() {
    local limit=120
    [ "$3" = no ] && limit=1
    read -r answer ms < <(on_host "$1" python3 "$cluster_folder/answer.py" ask "$2" $limit)
    [ "$answer" = "$3" ] || wrong "from $1 to $2: '$answer $ms' instead of '$3'"
}

hosts_up 3
skip_if_pretended
serve
for k in 1 2 3; do
    expect_same "$("$agent" -x "h$k" 'echo $(hostname)' '"a  b"')" "h$k a  b"
    meets h2 "10.77.0.$k" "h$k"
    meets h1 "fd77::$k" "h$k"
    meets "h$k" 172.17.0.1 "h$k"
done
meets h1 h3 h3
cut_link h2
meets h1 10.77.0.2 no
meets h1 10.77.0.3 h3
mend_link h2
meets h1 10.77.0.2 h2
expect_same "$("$agent" h4 true 2>&1; echo $?)" "agent: there is no host h4"$'\n'255
expect_same "$("$agent" h3 exit 7; echo $?)" 7
[ -n "$(processes_on h3)" ] || wrong "nothing runs on h3"
end_processes_on h3
meets h1 10.77.0.3 no
hosts_down

hosts_up 2 delay=2000 rate=1000
serve
meets h1 10.77.0.2 h2
# A round trip opens the connection, and the answer takes one more delay.
[ "${ms%.*}" -ge 6 ] || wrong "an answer over a cable of 2000 microseconds took $ms ms"
hosts_down
hosts_up 2 loss=100
serve
meets h1 10.77.0.2 no
meets h1 10.77.0.1 h1
folder=$scratch
hosts_down
CLUSTER_NAMESPACES=no
answer=$(mktemp)   # a file, because hosts_up sets variables of this shell
hosts_up 2 >"$answer"
expect_same "$(cat "$answer")" \
    "This machine allows no network namespaces: the hosts are 127.0.0.2 127.0.0.3, without delay, loss or cables."
expect_same "$("$agent" 127.0.0.3 'echo $(hostname)' '"a  b"')" "$(hostname) a  b"
hosts_down
[ ! -e "$folder" ] || wrong "$folder is left"
expect_same "$(ip -br link)" "$before"
rm "$answer"
finish
