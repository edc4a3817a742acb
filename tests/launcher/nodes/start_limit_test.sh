#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents and daemons that fail while a job starts: mpiexec ends within its time limit with a message that names the
# node, and leaves no process.
. "$(dirname "$0")/nodes_common.sh" "$1"

# The agent for 127.0.0.3 runs $folder/misbehaves, the other one works normally.
limited=$folder/limited
cat > "$limited" <<END
#!/bin/sh
host=\$1; shift
[ "\$host" = 127.0.0.3 ] && . '$folder/misbehaves'
exec sh -c "exec \$*"
END
chmod +x "$limited"

# starts WHAT SCRIPT [OPTIONS]: checks that the job does not start, with a short limit.
starts() {
    printf '%s\n' "$2" > "$folder/misbehaves"
    run --launcher-agent "$limited" -hosts "$two" -n 4 --silence 3 --start-timeout 2 sleep "$nap"
    what="an agent that $1"
    expect_code 1; expect_err "node 127.0.0.3"; expect_nothing_left
}
not_answered="node 127.0.0.3 has not answered within 2 s (TUTTI_START_TIMEOUT)"

starts "never answers" "exec sleep $nap"; expect_err "$not_answered"
[[ "$err" != *"waiting for"* ]] || wrong "a notice in a file: $err"
timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" --launcher-agent "$limited" -hosts "$two" -n 4 \
    --silence 3 --start-timeout 2 sleep "$nap" > "$folder/screen" < /dev/null
grep -q "mpiexec: waiting for node 127.0.0.3; see --start-timeout." "$folder/screen" || wrong "$(< "$folder/screen")"
expect_nothing_left
starts "is stopped" 'kill -STOP $$'; expect_err "$not_answered"
starts "sends half a greeting" "printf '\\026\\026tutti-daemon '; exec sleep $nap"; expect_err "$not_answered"
starts "sends half a greeting and ends" "printf '\\026\\026tutti-daemon '; exit 3"; expect_err "ended with exit code 3"
starts "never ends its greeting" "printf '\\026\\026tutti-daemon '; exec tr '\\0' y < /dev/zero"; expect_err "received bytes that are not the handshake of tutti-daemon"
starts "never stops to speak" "exec yes"; expect_err "$not_answered"
starts "never stops to complain" "yes >&2 & yes >&2 & exec sleep $nap"; expect_err "$not_answered"; expect_err " and printed: y; y"
starts "closes its output" "exec sleep $nap >&-"; expect_err "127.0.0.3 could not be reached"
starts "reads nothing" "exec sleep $nap <&-"; expect_err "$not_answered"
starts "reads nothing, nor goes when it is asked to" "trap '' TERM HUP INT; while true; do sleep 1; done"; expect_err "$not_answered"

# a daemon that is stopped at some moment of its start: before all daemons have answered, or when its ranks run
for moment in 00 02 05 10 20 40; do
    starts "starts a daemon that is stopped 0.$moment s later" "(sleep 0.$moment; kill -STOP \$\$) > /dev/null 2>&1 &"
done
finish
