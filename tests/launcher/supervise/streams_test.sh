#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Standard input and output of ranks.
. "$(dirname "$0")/../common.sh" "$1"

# whole lines with prefixes, not mixed; the last line may have no newline
run -n 4 sh -c 'for i in $(seq 2000); do echo "rank $PMI_RANK says line $i and a little more"; done'; expect_code 0
mixed=$(grep -vc '^rank [0-3] says line [0-9]* and a little more$' "$folder/out"); [ "$mixed" = 0 ] || wrong "$mixed mixed lines"
[ "$(wc -l < "$folder/out")" = 8000 ] || wrong "$(wc -l < "$folder/out") lines instead of 8000"
run -n 1 -l sh -c 'printf a; sleep 0.2; printf "b\n\nc"'; expect_out $'[0] ab\n[0] \n[0] c'
run -n 1 printf 'no newline'; expect_out "no newline"
run -n 2 --tag-output sh -c 'echo e$PMI_RANK >&2'; expect_err "[1] e1"
run -n 2 -prepend-pattern '<%r %%> ' sh -c 'echo e$PMI_RANK >&2'; expect_err "<1 %> e1"
run -n 1 --timestamp-output -l echo x; grep -qE '^[0-9]{4}(-[0-9]{2}){2} ([0-9]{2}:){2}[0-9]{2}\.[0-9]{3} \[0\] x$' <<< "$out" || wrong "--timestamp-output: $out"
# lines longer than any buffer, from several ranks at the same time, are not split
run -n 3 sh -c "head -c 300000 /dev/zero | tr '\\0' \$PMI_RANK; echo"
lengths=$(awk '{print length($0)}' "$folder/out" | sort -u); [ "$lengths" = 300000 ] || wrong "long lines were cut: $lengths"
mixed=$(grep -Evc '^(0*|1*|2*)$' "$folder/out"); [ "$mixed" = 0 ] || wrong "$mixed mixed long lines"

# binary output is not changed
head -c 3000000 /dev/urandom > "$folder/random"
"$mpiexec" -n 1 cat "$folder/random" | cmp - "$folder/random" || wrong "binary output was changed"
"$mpiexec" -n 2 -stdin 1 sh -c '[ $PMI_RANK = 0 ] || cat' < "$folder/random" | cmp - "$folder/random" || wrong "binary input was changed"

# a slow reader blocks the writers; mpiexec does not buffer without limit
"$mpiexec" -n 2 sh -c 'yes abcdefgh | head -c 100000000' > >(until [ -e "$folder/read" ]; do sleep 0.02; done; cat > /dev/null) & pid=$!
last='' same=0
stands_still() {   # mpiexec has stopped reading: checked ten times
    local now; now=$(awk '/^rchar/ {print $2}' "/proc/$pid/io")
    [ "$now" = "$last" ] && same=$((same + 1)) || same=0
    last=$now; [ "$same" = 10 ] && [ "$now" -gt 100000 ]
}
wait_until stands_still; memory=$(awk '/VmRSS/ {print $2}' "/proc/$pid/status"); touch "$folder/read"; wait $pid
[ "${memory:-50000}" -lt 50000 ] || wrong "mpiexec grew to $memory KiB with a slow reader"

# when the reader has closed the pipe, the job ends
timeout "$limit_s" "$mpiexec" -n 2 yes 2> "$folder/err" | head -1 > /dev/null; code=${PIPESTATUS[0]}
[ "$code" = 141 ] || wrong "mpiexec | head ended with $code instead of 141"; [ -s "$folder/err" ] && wrong "mpiexec | head printed $(cat "$folder/err")"

# standard input: rank 0, another, all, none
echo hello > "$folder/in"; input=$folder/in
run -n 3 -l cat; expect_out "[0] hello"
run -n 3 -l -stdin 2 cat; expect_out "[2] hello"
run -n 3 -l -s none cat; expect_out ""
run -n 3 -l -stdin all cat; [ "$(sort "$folder/out" | tr '\n' ' ')" = "[0] hello [1] hello [2] hello " ] || wrong "-stdin all: $out"
input="$folder/random"; run -n 3 -stdin all sh -c 'cksum'; [ "$(sort -u "$folder/out")" = "$(cksum < "$folder/random")" ] || wrong "-stdin all changed the input"
input=
# input that the program does not read is left for the next command; endless input does not delay the end
left=$(printf 'one\ntwo\n' | { "$mpiexec" -n 2 true; cat; }); [ "$left" = $'one\ntwo' ] || wrong "mpiexec consumed the input: '$left'"
mkfifo "$folder/endless"
endless() {
    sleep "$nap" > "$folder/endless" &
    "$@" < "$folder/endless"; code=$?
    kill $!
}
endless timeout "$limit_s" "$mpiexec" -n 2 -stdin all true; [ "$code" = 0 ] || wrong "open input delayed the end: code $code"
run -n 2 true <&-; expect_code 0
"$mpiexec" -n 2 true >&- 2>&- <&-; [ $? = 0 ] || wrong "closed standard descriptors"

# files
cd "$folder" || exit 1
run -n 3 -outfile-pattern 'o/%r.%%.out' -errfile-pattern 'o/err' sh -c 'echo out $PMI_RANK; echo err >&2'; expect_out ""; expect_silence
[ "$(cat "o/2.%.out")" = "out 2" ] || wrong "-outfile-pattern"; [ "$(cat o/err)" = $'err\nerr\nerr' ] || wrong "-errfile-pattern"
run -n 2 --output-filename f sh -c 'echo out; echo err >&2'; [ "$(cat f/rank.1/stdout f/rank.0/stderr)" = $'out\nerr' ] || wrong "--output-filename"
# files are checked before any rank starts; an existing file is replaced, as in MPICH
run -n 2 -outfile-pattern o/err echo new; expect_code 0; [ "$(cat o/err)" = $'new\nnew' ] || wrong "$what did not replace a file"
for file in /dev/null/x /dev/null/x/y /sys/no/x; do
    run -n 1 -outfile-pattern "$file" touch ran; expect_code 2; expect_err "the output file $file cannot be written"
done
run -n 1 -outfile-pattern /dev/null/x/y touch ran; expect_err "cannot be written, because its folder cannot be created: Not a directory."
run -n 2 -errfile-pattern "$folder/%r" sh -c 'touch ran'; expect_code 0; rm ran
mkdir 5; run -n 8 -outfile-pattern %r touch ran; expect_code 2; expect_err "rank 5: the output file 5 cannot be written: Is a directory."
[ ! -e ran ] || wrong "a rank ran whose output cannot be written"
run -n 1 --merge-stderr-to-stdout sh -c 'echo err >&2'; expect_out err; expect_silence

# a write error is reported once, the ranks continue, and the job fails
full() { "$mpiexec" "$@" > /dev/full 2> "$folder/err"; code=$?; err=$(cat "$folder/err"); what="mpiexec $* > /dev/full"; }
lost="standard output cannot be written: No space left on device; output that ranks write to it is lost"
full -n 2 sh -c 'yes | head -c 1000000; echo $PMI_RANK went on >&2'; expect_code 1; expect_err "mpiexec: $lost."
for rank in 0 1; do expect_err "$rank went on"; done
[ "$(grep -c lost "$folder/err")" = 1 ] || wrong "$what printed it $(grep -c lost "$folder/err") times"
full -n 2 sh -c 'echo x; exit 3'; expect_code 3
full -n 2 true; expect_code 0; expect_silence
"$mpiexec" -n 2 echo x >&- 2> "$folder/err"; code=$?; err=$(< "$folder/err") what="mpiexec >&-"; expect_code 1
expect_err "mpiexec: standard output cannot be written: Bad file descriptor; output that ranks write to it is lost."
full --help; expect_code 1; expect_err "mpiexec: standard output cannot be written: No space left on device."
"$build/bin/tutti-info" > /dev/full 2> "$folder/err"; [ $? = 1 ] || wrong "tutti-info > /dev/full ends well"
grep -q '^tutti-info: standard output cannot be written' "$folder/err" || wrong "tutti-info > /dev/full: $(cat "$folder/err")"
run -n 2 -outfile-pattern /dev/full echo x; expect_code 1; expect_err "the output file /dev/full cannot be written: No space left"
run -n 2 bash -c 'echo x; exit 0' 2> /dev/full; expect_code 0; expect_out $'x\nx'

# a password prompt: only mpiexec has the terminal; a rank that opens it uses standard input and is not stopped
: > "$folder/screen"
{ wait_until grep -q 'word? ' "$folder/screen" >&2; echo Ann; } |
    timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" -n 2 python3 -W ignore -c \
        'import getpass, os; os.environ["PMI_RANK"] != "0" or print("got " + getpass.getpass("word? "))' > "$folder/screen"
[[ "$(cat "$folder/screen")" == *"word? "*"got Ann"* ]] || wrong "a password on a terminal: '$(cat "$folder/screen")'"
endless timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" -n 2 sh -c 'stty -echo < /dev/tty' > "$folder/screen"
[[ "$code" != 124 && "$(cat "$folder/screen")" == *"/dev/tty"* ]] || wrong "a rank that opens the terminal: code $code, '$(cat "$folder/screen")'"

# a terminal: typed input is delivered, a prompt without newline is shown, no process waits for input at the end
ask_on_terminal -n 2
endless timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" -n 2 true; [ "$code" = 0 ] || wrong "on a terminal without input: code $code"
finish
