# SPDX-License-Identifier: BSD-3-Clause
# Sourced with the build folder by tests with several nodes: an agent that starts all daemons on this machine, whatever
# the host.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"

# The agent's first arguments that begin with -- select a malfunction.
agent=$folder/agent
cat > "$agent" <<'END'
#!/bin/sh
while true; do
    case $1 in
    --noise) echo "Welcome to this node!"; shift ;;
    --hang) [ "$2" = "$3" ] && exec sleep $NAP; shift 2 ;;
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
export AGENT_LOG=$folder/agents NAP=$nap
two=127.0.0.2:2,127.0.0.3:2

# The default limit for silent nodes is high, because other tests may keep this machine busy.
patient=(--silence 20 --start-timeout 60)

# on HOSTS ARGUMENTS: like run, on these hosts
on() {
    local hosts=$1; shift
    : > "$AGENT_LOG"
    run --launcher-agent "$agent ${agent_words:-}" -hosts "$hosts" "${patient[@]}" "$@"
}
