#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs programs of the corpus with their ranks on several hosts: the reports must be the same as on one host.
# Usage: hosts.sh BUILD HOSTS AREA... [OPTIONS OF run_corpus.py]
. "$(dirname "$0")/../cluster/common.sh" "$1"
hosts_up "$2"
before="" names=$(IFS=,; echo "${hosts[*]}")
[ -n "$pretended" ] || before="nsenter --target ${host_holder[${hosts[0]}]} --net --uts --mount --ipc --"
python3 "$(dirname "$0")/run_corpus.py" "$build" "${@:3}" --hosts "$names" --before "$before" \
    --options "--launcher-agent $agent" || wrong "${@:3}"
expect_nothing_left
finish
