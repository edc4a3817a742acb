# SPDX-License-Identifier: BSD-3-Clause
# For the tests with several nodes: an agent that starts daemons on this machine, whatever host it is told, and what a
# job has left behind. Sourced with the build folder. shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
export NODES_TEST_MARK=$$   # in the environment of everything that a job of this test starts

# The agent's first arguments that begin with -- say how it misbehaves.
agent=$folder/agent
cat > "$agent" <<'END'
#!/bin/sh
while true; do
    case $1 in
    --noise) echo "Welcome to this node!"; shift ;;
    --hang) [ "$2" = "$3" ] && exec sleep 7700; shift 2 ;;
    --child) keep=yes; shift ;;
    *) break ;;
    esac
done
host=$1; shift
case $host in nobody*) echo "agent: $host: no such host" >&2; exit 255 ;; esac
echo "$$ $host" >> "$AGENT_LOG"
[ -n "$keep" ] || exec sh -c "exec $*"
sh -c "$*"
exit $?
END
chmod +x "$agent"
export AGENT_LOG=$folder/agents
two=127.0.0.2:2,127.0.0.3:2

# on HOSTS ARGUMENTS: as run
on() { local hosts=$1; shift; : > "$AGENT_LOG"; run --launcher-agent "$agent ${agent_words:-}" -hosts "$hosts" "$@"; }

marked() {
    local process
    for process in /proc/[0-9]*; do
        grep -qzx "NODES_TEST_MARK=$$" "$process/environ" 2> /dev/null || continue
        [ "$(sed 's/.*) //' "$process/stat" 2> /dev/null | cut -c1)" = Z ] || echo "${process#/proc/}"
    done
}
# Within two seconds nothing may be left.
expect_nothing_left() {
    local left
    for _ in $(seq 40); do left=$(marked); [ -z "$left" ] && return; sleep 0.05; done
    wrong "$what left behind: $(ps -o pid=,args= -p "$(echo $left | tr ' ' ,)")"
}
