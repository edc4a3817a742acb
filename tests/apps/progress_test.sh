#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Long work of tutti-bench and tutti-tune shows its progress on standard error: a line for each tenth, or a bar on a
# terminal, which is removed at the end. What is long depends on the expected time, not on the actual one.
. "$(dirname "$0")/common.sh" "$1"
export XDG_CONFIG_HOME=$folder/config TUTTI_TUNING=none
bench=("$build/bin/tutti-bench" -n 2 --iterations 2 --warmup 0 --sizes 8:64 --rounds 3 --with TUTTI_EAGER=4K)
tune=("$build/bin/tutti-tune" -n 2 --collectives barrier --sizes 8:8 --output "$folder/tuning")

# Six runs, expected to take at most 4.3 s each.
"${bench[@]}" --seconds 1 bcast >"$folder/out" 2>"$folder/err" || wrong "tutti-bench ended with $?"
python3 - "$folder" <<'EOF' || wrong "progress: $(cat "$folder/err")"
import re, sys
lines = open(sys.argv[1] + "/err").read().splitlines()
found = [re.fullmatch(r"tutti-bench: (\d+) % done, about [\d:]+ (?:s|min|h) left \(round ([123]) of 3, "
                      r"(?:default|TUTTI_EAGER=4K)\)", line) for line in lines]
assert all(found), lines
percents = [int(one.group(1)) for one in found]
assert percents == sorted(set(percents)) and percents[-1] >= 80 and len(percents) >= 3, percents
assert [one.group(2) for one in found] == sorted(one.group(2) for one in found), lines
out = open(sys.argv[1] + "/out").read()
assert re.match(r"Measures bcast with 2 ranks on \d+ cores?, 8 B to 64 B\.\n"
                r"Measured in turn, in 3 rounds: default, TUTTI_EAGER=4K\.\nThis takes at most about 26 s\.\n", out), out
EOF
"${bench[@]}" --seconds 1 --csv bcast >"$folder/csv" 2>"$folder/err" || wrong "--csv ended with $?"
[ "$(columns operation series <"$folder/csv" | sort | uniq -c | xargs)" = "4 bcast,TUTTI_EAGER=4K 4 bcast,default" ] &&
    [ "$(wc -l <"$folder/csv")" = 9 ] && grep -q "% done" "$folder/err" && grep -q "^Measures bcast" "$folder/err" ||
    wrong "--csv: $(cat "$folder/csv" "$folder/err")"
out=$("${bench[@]}" --seconds 1 --quiet bcast 2>&1) && [[ "$out" != *"% done"* && "$out" != *Measures* && "$out" == *"bcast, 2 ranks"* ]] ||
    wrong "--quiet: $out"
out=$("${bench[@]}" --seconds 0.1 bcast 2>&1) && [[ "$out" != *"% done"* && "$out" == *Measures* ]] || wrong "short work: $out"

# Of the two measurements of each collective the second one is twice as long.
out=$("${tune[@]}" --time 12s --quiet 2>&1) && [ "$(wc -l <<<"$out")" = 1 ] || wrong "tutti-tune --quiet: $out"
"${tune[@]}" --time 12s >"$folder/out" 2>"$folder/err" || wrong "tutti-tune ended with $?"
grep -qE '^tutti-tune: [1-9]0 % done, about [0-9:]+ (s|min|h) left \(barrier among 2 ranks, 0 bytes\)$' "$folder/err" ||
    wrong "progress of tutti-tune: $(cat "$folder/err")"
[[ "$(cat "$folder/out")" == "Measures 1 collective of Tutti "*" among 2 ranks, 8 to 8 bytes, for about 12 s."*"Output: $folder/tuning"* ]] ||
    wrong "the introduction of tutti-tune: $(cat "$folder/out")"

cat >"$folder/on_terminal.py" <<'EOF'
import os, pty, re, sys
terminal, ours = pty.openpty()
import fcntl, struct, termios
fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(ours, 2)
    os.execv(sys.argv[1], sys.argv[1:])
os.close(ours)
seen = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:   # the last process has closed the terminal
        break
    if not part:
        break
    seen += part
assert os.waitpid(child, 0)[1] == 0, seen
text = seen.decode()
bars = re.findall(r"\r\x1b\[K(\[#*-*\] +\d+ %, [\d:]+ (?:s|min|h) left, [^\r\n]*)", text)
assert bars and all(len(bar) < 60 for bar in bars), text
assert "% done" not in text and "\n" not in text and text.endswith("\r\x1b[K"), text
EOF
python3 "$folder/on_terminal.py" "${bench[@]}" --seconds 0.1 bcast || wrong "the bar of tutti-bench"
python3 "$folder/on_terminal.py" "${tune[@]}" --time 1s || wrong "the bar of tutti-tune"
finish
