#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of the corpus with their ranks on two hosts: the same mistakes are told, with the same
# lines, and about right programs nothing is said. `hosts_test.sh BUILD [OPTIONS OF run_corpus.py]`
. "$(dirname "$0")/../cluster/common.sh" "$1"
hosts_up 2
before="" names=$(IFS=,; echo "${hosts[*]}")
[ -n "$pretended" ] || before="nsenter --target ${host_holder[${hosts[0]}]} --net --uts --mount --ipc --"
shift
both=messages/,ends/,types/,leftovers/,collectives/,communicators/
corpus() {
    python3 "$(dirname "$0")/run_corpus.py" "$build" "$1" --hosts "$names" --before "$before" \
        --options "--launcher-agent $agent" --limit 40 --only "$2" "${@:3}"
}
corpus wrong "$both,circles/,requests/,input/,checked" --tries 3 "$@" || wrong "wrong programs"
corpus right "$both,late/,progress/,windows/,epochs/,races/" "$@" || wrong "right programs"
expect_nothing_left
finish
