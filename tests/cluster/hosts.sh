# SPDX-License-Identifier: BSD-3-Clause
# Sourced: creates hosts h1, h2, ... on this machine, each with its own network, host name and mounts, connected by a
# switch, and removes them at the end in any case. They are namespaces held only by processes, without names in a file
# system or in the network of this machine, so several sets can exist at the same time and nothing is left behind.
#
#   hosts_up N [delay=MICROSECONDS] [rate=MBIT] [loss=PERCENT]
#                            sets $hosts (names), $agent (called like ssh: AGENT HOST COMMAND...), $scratch (a folder)
#   on_host HOST COMMAND...  runs a command on the host
#   cut_link HOST, mend_link HOST   cuts or restores the cable of the host; not with a delay or loss
#   processes_on HOST        prints the PIDs of its processes
#   end_processes_on HOST    kills them, as if its power had failed
#
# All hosts share PIDs, files and /dev/shm, so that a test sees everything that is left. Each has on eth0 the addresses
# 10.77.0.K and fd77::K, and on docker0 the same address: a connection to it reaches the host itself. If the machine
# allows no namespaces (or CLUSTER_NAMESPACES=no is set), hosts are 127.0.0.2, 127.0.0.3, ... of one network, and
# $pretended is not empty.
# shellcheck shell=bash

hosts=() agent= scratch= pretended= hosts_wire= hub=
declare -A host_holder=()
cluster_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

namespaces_work() {
    [ "${CLUSTER_NAMESPACES:-yes}" = yes ] && [ "$(id -u)" = 0 ] && command -v ip nsenter unshare setpriv >/dev/null &&
        unshare --net --uts --mount --ipc true 2>/dev/null
}

# Starts a process that holds a namespace and dies with this script. Sets $holder to its PID.
hold() {
    setpriv --pdeathsig KILL unshare --net --uts --mount --ipc -- sh -c "$1; echo >\"\$0\"; exec sleep infinity" \
        "$scratch/held" </dev/null &
    holder=$!
    disown "$holder"
    while [ ! -e "$scratch/held" ]; do
        kill -0 "$holder" 2>/dev/null || return 1
        sleep 0.01
    done
    rm "$scratch/held"
}

inside() { local pid=$1; shift; nsenter --target "$pid" --net --uts --mount --ipc -- "$@"; }
on_host() {
    local host=$1; shift
    if [ -n "$pretended" ]; then "$@"; else inside "${host_holder[$host]:?there is no host $host}" "$@"; fi
}

# The other end of the host's eth0 has the name of the host.
connect() {
    local host=$1 number=$2 pid=${host_holder[$1]}
    inside "$pid" ip link add docker0 type veth peer name inner0 || return
    inside "$pid" ip addr add 172.17.0.1/16 dev docker0
    inside "$pid" ip link set inner0 up && inside "$pid" ip link set docker0 up
    if [ -n "$hosts_wire" ]; then
        inside "$hub" ip link set "$host" name eth0 netns "$pid" || return
    else
        inside "$hub" ip link add "$host" type veth peer name eth0 netns "$pid" || return
        inside "$hub" ip link set "$host" master switch up
    fi
    inside "$pid" ip addr add "10.77.0.$number/24" dev eth0
    inside "$pid" ip addr add "fd77::$number/64" dev eth0 nodad
    inside "$pid" ip link set lo up && inside "$pid" ip link set eth0 up
}

make_hosts() {
    local number=$1 delay=$2 rate=$3 loss=$4 host k
    hold true || return
    hub=$holder
    for ((k = 1; k <= number; k++)); do hosts+=("h$k"); echo "10.77.0.$k h$k"; done >"$scratch/names"
    echo "127.0.0.1 localhost" >>"$scratch/names"
    if [ -n "$delay$loss" ]; then
        inside "$hub" setpriv --pdeathsig KILL "$build/tests/cluster_wire" "${delay:-0}" "${loss:-0}" "${hosts[@]}" \
            </dev/null >"$scratch/wire" &
        hosts_wire=$!
        disown "$hosts_wire"
        until [ -s "$scratch/wire" ]; do kill -0 "$hosts_wire" 2>/dev/null || return; sleep 0.01; done
    else
        inside "$hub" ip link add switch type bridge && inside "$hub" ip link set switch up || return
    fi
    for host in "${hosts[@]}"; do
        hold "hostname $host && mount --bind $scratch/names /etc/hosts" || return
        host_holder[$host]=$holder
        echo "$holder" >"$scratch/host.$host"
        connect "$host" "${host#h}" || return
        [ -z "$rate" ] || inside "$holder" tc qdisc add dev eth0 root tbf rate "${rate}mbit" burst 128kb latency 50ms || return
    done
    for host in "${hosts[@]}"; do
        until on_host "$host" ip -br link show eth0 | grep -qw -e LOWER_UP; do sleep 0.01; done
    done
}

# Like ssh, the agent joins its arguments and passes them to a shell, with a new environment.
make_agent() {
    agent=$scratch/agent
    local enter="" known="127.0.0.*) ;;"
    if [ -z "$pretended" ]; then
        enter="nsenter --target \"\$(cat $scratch/host.\$host)\" --net --uts --mount --ipc --"
        known="$(IFS='|'; echo "${hosts[*]}")) ;;"
    fi
    cat >"$agent" <<AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1; shift
case \$host in $known *) echo "agent: there is no host \$host" >&2; exit 255 ;; esac
exec $enter env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp TEST_RUN_MARK="\$TEST_RUN_MARK" sh -c "\$*"
AGENT
    chmod +x "$agent"
}

hosts_up() {
    local number=$1 delay= rate= loss= word k
    shift
    for word in "$@"; do local "${word?}"; done
    hosts=() hub='' hosts_wire='' host_holder=()
    scratch=$(mktemp -d)
    trap hosts_down EXIT
    trap 'exit 130' INT TERM HUP
    if ! namespaces_work; then
        pretended=yes
        for ((k = 1; k <= number; k++)); do hosts+=("127.0.0.$((k + 1))"); done
        echo "This machine allows no network namespaces: the hosts are ${hosts[*]}, without delay, loss or cables."
    elif ! make_hosts "$number" "$delay" "$rate" "$loss"; then
        echo "The hosts could not be created." >&2
        exit 1
    fi
    make_agent
}

cut_link() { inside "$hub" ip link set "$1" nomaster; }
mend_link() { inside "$hub" ip link set "$1" master switch; }

# Prints the processes of a host, except the one that holds its namespace.
processes_on() {
    local holder=${host_holder[$1]} link pid
    for link in /proc/[0-9]*/ns/net; do
        pid=${link#/proc/} pid=${pid%/ns/net}
        if [ "$link" -ef "/proc/$holder/ns/net" ] && [ "$pid" != "$holder" ]; then echo "$pid"; fi
    done
}
end_processes_on() {
    local pids
    while pids=$(processes_on "$1") && [ -n "$pids" ]; do
        kill -KILL $pids 2>/dev/null
        sleep 0.02
    done
}

hosts_down() {
    local code=$? host
    [ -z "$hosts_wire" ] || kill -KILL "$hosts_wire" 2>/dev/null
    for host in "${!host_holder[@]}"; do
        end_processes_on "$host"
        kill -KILL "${host_holder[$host]}" 2>/dev/null
    done
    [ -z "$hub" ] || kill -KILL "$hub" 2>/dev/null
    rm -rf "$scratch"
    return "$code"
}
