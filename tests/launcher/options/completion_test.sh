#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion scripts that the tools print, in bash and in zsh.
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

# zsh, with a terminal of its own: the line is typed, and Tab inserts the only completion.
need_package zsh zsh
mkdir "$folder/functions"
for tool in mpiexec tutti-bench tutti-info tutti-tune; do
    "$tool" --help=zsh > "$folder/functions/_$tool" && zsh -n "$folder/functions/_$tool" || wrong "$tool --help=zsh"
done
cat > "$folder/type.zsh" << 'END'
zmodload zsh/zpty
setopt extended_glob
zpty shell zsh -f -i
shown() { # waits for a line <TEXT>
    local text
    zpty -r -m shell text $'*\n<[^>]#>*'
    print -r -- ${${text##*$'\n'<}%%>*}
}
zpty -w shell "PROMPT=; unsetopt prompt_cr beep; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'show() { print -r -- $'"'\\n'"'"<$BUFFER>"; zle kill-buffer }; zle -N show; bindkey "^X" show; bindkey "^I" complete-word'
zpty -w shell 'print "\n<rea""dy>"'
shown > /dev/null
shift
for line; do
    zpty -w -n shell "$line"$'\t\030'
    shown
done
END
lines=("mpiexec --on-dead" "mpiexec --bind-to soc" "mpiexec --bind-to=soc" "mpiexec -n 2 --report rep" "mpiexec --coll bcast=slo"
    "mpiexec -n 2 ./solv" "mpiexec -n 2 ./solver rep" "tutti-bench bcast_i" "tutti-bench --window sha" "tutti-info --algorithms allr"
    "tutti-tune --collectives barr" "mpirun --help plac")
got=$(timeout "$limit_s" zsh -f "$folder/type.zsh" "$folder/functions" "${lines[@]}" | tr -d '\r' | sed 's/ *$//')
wanted="mpiexec --on-deadlock=
mpiexec --bind-to socket
mpiexec --bind-to=socket
mpiexec -n 2 --report report.html
mpiexec --coll bcast=slots,
mpiexec -n 2 ./solver
mpiexec -n 2 ./solver report.html
tutti-bench bcast_init
tutti-bench --window shared
tutti-info --algorithms allreduce,
tutti-tune --collectives barrier,
mpirun --help placement"
[ "$got" = "$wanted" ] || wrong "zsh completed: $(diff <(echo "$wanted") <(echo "$got"))"
finish
