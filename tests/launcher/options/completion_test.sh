#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion scripts that the tools print for bash.
. "$(dirname "$0")/../common.sh" "$1"
PATH=$build/bin:$PATH
mkdir "$folder/work"; cd "$folder/work" || exit 1
mkdir results; : > report.html; printf '#!/bin/sh\n' > solver; chmod +x solver

for tool in mpiexec tutti-bench tutti-info tutti-tune; do
    "$tool" --help=bash > "$folder/$tool.bash" && bash -n "$folder/$tool.bash" || wrong "$tool --help=bash"
done

# completions LINE: the words that bash offers at the end of LINE, divided as readline divides it.
completions() {
    bash -c '
        . "$1/${2%% *}.bash"
        COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=() rest=$2
        while [[ -n $rest ]]; do
            rest=${rest#"${rest%%[![:blank:]]*}"}
            word=${rest%%[[:blank:]=:]*}
            [[ -n $word || -z $rest ]] || word=${rest:0:1}
            [[ -z $rest ]] || COMP_WORDS+=("$word")
            rest=${rest#"$word"}
        done
        [[ $2 != *[[:blank:]] ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        function=$(complete -p "${2%% *}" | sed "s/.*-F \([^ ]*\) .*/\1/")
        "$function" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}" | sort | xargs' - "$folder" "$1" 2> "$folder/err"
    [ ! -s "$folder/err" ] || wrong "completion of '$1' printed: $(< "$folder/err")"
}
expect() { # LINE WORDS
    local got
    got=$(completions "$1")
    [ "$got" = "$2" ] || wrong "'$1' is completed by '$got' instead of '$2'"
}
expect_among() { # LINE WORD
    local got
    got=" $(completions "$1") "
    [[ "$got" == *" $2 "* ]] || wrong "'$1' is not completed by '$2': $got"
}

expect "mpiexec --bind-t" "--bind-to --bind-to-core --bind-to-socket"
expect "mpiexec --bind-to n" "node none numa"
expect "mpiexec -n 4 --bind-to=n" "node none numa"
expect "mpiexec --on-deadlock " "end wait"
expect "mpiexec --output tag,tim" "tag,timestamp"
expect "mpiexec --fwd-environment -l --report " "report.html results solver"
expect "mpiexec -wdir " "results"
expect "mpiexec -hosts " ""
expect "mpiexec --coll bcast=sl" "slots"
expect "mpiexec --coll bcast=slots,barrier=exch" "exchange"
expect_among "mpiexec -n 4 " "solver"
expect_among "mpiexec -env A b -n 4 sol" "solver"
expect "mpiexec -n 4 ./solver rep" "report.html"
expect "mpiexec -n 1 ./solver --bind-to : --bind-to n" "node none numa"
expect "mpiexec --help plac" "placement"
expect_among "mpiexec --help " "exit-codes"
expect "tutti-bench -n 4 bca" "bcast bcast_init"
expect "tutti-bench --window " "allocate create dynamic shared"
expect "tutti-bench --algorithms bcast:slo" "slots"
expect "tutti-bench bcast --json rep" "report.html"
expect "tutti-info --alg" "--algorithms"
expect "tutti-info --algorithms bcast,allr" "bcast,allreduce"
expect "tutti-tune --collectives barr" "barrier"
complete=$(bash -c '. "$1"; complete -p mpirun' - "$folder/mpiexec.bash") && [[ "$complete" == *" -F _mpiexec mpirun" ]] || wrong "mpirun: $complete"
finish
