#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the four tools print about themselves: the short help is one screen, and every topic is printed. Errors of options
# name the option as the user gave it, and the nearest right one.
. "$(dirname "$0")/../common.sh" "$1"
PATH=$build/bin:$PATH
tools="mpiexec tutti-bench tutti-info tutti-tune"
unset COLUMNS

# The short help: one screen with the common options. The full help follows the width.
for tool in $tools; do
    COLUMNS=80 "$tool" -h > "$folder/short" || wrong "$tool -h ended with $?"
    [ "$(wc -l < "$folder/short")" -le 24 ] || wrong "$tool -h has $(wc -l < "$folder/short") lines: $(< "$folder/short")"
    [ "$(wc -L < "$folder/short")" -le 80 ] || wrong "$tool -h is $(wc -L < "$folder/short") columns wide"
    grep -q "^Usage: $tool " "$folder/short" && grep -q -- "--help TOPIC" "$folder/short" || wrong "$tool -h: $(< "$folder/short")"
    [ "$(grep -c '^  -' "$folder/short")" -ge 4 ] || wrong "$tool -h lists too few options: $(< "$folder/short")"
    for width in 60 80 110; do
        COLUMNS=$width "$tool" --help | grep -v '/' > "$folder/full" # a path may be longer than a line
        [ "$(wc -L < "$folder/full")" -le 110 ] && [ "$(grep -c . "$folder/full")" -gt 10 ] || wrong "$tool --help, $width columns"
    done
    COLUMNS=60 "$tool" -h | awk 'length > 66' | grep . && wrong "$tool -h: examples are wider than 60 columns"
    [ "$(COLUMNS=60 "$tool" --help | wc -l)" -gt "$(COLUMNS=110 "$tool" --help | wc -l)" ] || wrong "$tool --help ignores the width"
done

# Topics: all that the help names, every option, and an unknown one.
for tool in $tools; do
    topics=$("$tool" --help | tr '\n' ' ' | sed -n 's/.*--help TOPIC with \(.*\), or an option.*/\1/p' | tr -d ,)
    [ "$(wc -w <<< "$topics")" -ge 5 ] || wrong "$tool --help does not list its topics: $topics"
    names=$("$tool" --help=bash | grep -o "kind='words -[^']*'" | tr -d "'" | cut -d' ' -f2-)
    [ "$(wc -w <<< "$names")" -ge 8 ] || wrong "$tool lists too few options for completion: $names"
    for topic in $topics $names; do
        [ "$("$tool" --help "$topic" 2> "$folder/err" | wc -l)" -ge 1 ] || wrong "$tool --help $topic: $(< "$folder/err")"
    done
    err=$("$tool" --help exit-code 2>&1 > /dev/null); [ $? = 2 ] || wrong "$tool --help exit-code ended with another code"
    [[ "$err" == *"no such topic; did you mean exit-codes?"*"The topics are "*exit-codes* ]] || wrong "$tool --help exit-code: $err"
done

# A variable of a rank is described, too.
[[ "$(mpiexec --help TUTTI_WAIT)" == "  TUTTI_WAIT  How a rank waits: "*"Values: auto, dedicated or shared." ]] ||
    wrong "mpiexec --help TUTTI_WAIT: $(mpiexec --help TUTTI_WAIT 2>&1)"

# The help names only guides that exist: those of the sources here.
for guide in $(mpiexec --help --check | tr ' (' '\n\n' | grep -o '.*guides/[a-z-]*\.md'); do
    [ -f "$guide" ] || wrong "mpiexec --help names $guide, which does not exist"
    guides=1
done
[ "${guides:-0}" = 1 ] || wrong "mpiexec --help --check names no guide: $(mpiexec --help --check)"

# Errors name the option as the user gave it, and the nearest right one.
expect_error() { # TEXT COMMAND...
    local text=$1
    err=$("${@:2}" 2>&1 > /dev/null < /dev/null)
    [ $? = 2 ] && [[ "$err" == *"$text"* ]] || wrong "${*:2}: not '$text' but '$err'"
}
expect_error "-n2 is not an option; did you mean -n 2?" mpiexec -n2 true
expect_error "–n: this is a dash of typography; write -n" mpiexec –n 2 true
expect_error "—report: this is a dash of typography; write --report" mpiexec -n 2 —report x.html true
expect_error "-c must be a whole number" mpiexec -c x true
expect_error "--np must be a whole number" mpiexec --np 0 true
expect_error "MPIEXEC_TIMEOUT must be a number of seconds" env MPIEXEC_TIMEOUT=x mpiexec true
expect_error "-s 2: the ranks are 0 to 1" mpiexec -n 2 -s 2 true
expect_error "-binding: \"cor\" is unknown" mpiexec -binding cor true
expect_error "did you mean core?" mpiexec --bind-to cor true
expect_error "did you mean timestamp?" mpiexec --output timestmap true
expect_error "--report needs FILE after it, but the option -n follows; write --report=-n" mpiexec --report -n 2 true
expect_error "-n needs N after it" mpiexec -n
expect_error "--report needs FILE, not ''" mpiexec --report "" -n 2 true
expect_error "-stdin must be all, none or the number of a rank, not 'one'" mpiexec -stdin one true
expect_error "there is no program to start; mpiexec -h shows how to name one" mpiexec -n 2
expect_error "--fwd-environment takes its value after =; write --fwd-environment=false" mpiexec --fwd-environment false true
expect_error "--help allreduec: there is no such topic; did you mean allreduce?" tutti-bench --help allreduec
printf -- '-c x true\n' > "$folder/config"
expect_error "-c must be a whole number" mpiexec -configfile "$folder/config"
printf -- "-n 2 'true\n" > "$folder/config"
expect_error "$folder/config: a quote is not closed" mpiexec -configfile "$folder/config"
expect_error "--launcher-agent: a quote is not closed" mpiexec --launcher-agent "ssh 'x" -hosts a,b true
for tool in tutti-bench tutti-info tutti-tune; do
    expect_error "$tool: --hepl is not an option; did you mean --help? (--help lists them all)." "$tool" --hepl
    expect_error "—help: this is a dash of typography; write --help" "$tool" —help
done
expect_error "-n2 is not an option; did you mean -n 2?" tutti-bench -n2
expect_error "there is no operation bcats; did you mean bcast?" tutti-bench bcats
expect_error "bcats is not a collective; did you mean bcast?" tutti-info --algorithms bcats
expect_error "bcats is not a collective; did you mean bcast?" tutti-tune --collectives bcats
for tool in "tutti-info --algorithms" "tutti-tune --collectives"; do
    # shellcheck disable=SC2086
    expect_error "nonsense is not a collective; these are: barrier, bcast, " $tool nonsense
done
finish
