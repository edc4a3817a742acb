#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion scripts that the tools print for zsh. A zsh with a terminal of its own completes what is typed: Tab
# inserts the only completion.
. "$(dirname "$0")/../common.sh" "$1"
need_package zsh zsh
PATH=$build/bin:$PATH
mkdir "$folder/work"; cd "$folder/work" || exit 1
: > report.html; printf '#!/bin/sh\n' > solver; chmod +x solver

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
