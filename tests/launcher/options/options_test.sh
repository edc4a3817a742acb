#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Options whose effect is visible only in a running job.
. "$(dirname "$0")/../common.sh" "$1"

run -n 2 --bind-too core true; expect_code 2; expect_err "did you mean --bind-to?"
run; expect_code 2; expect_err "no program"
run --help; expect_code 0; [[ "$out" == *"-configfile FILE"* ]] || wrong "--help does not name -configfile"
run --version; expect_code 0; [[ "$out" == *Tutti* ]] || wrong "--version: $out"
[ "$("$build/bin/mpirun" -n 2 echo x)" = $'x\nx' ] || wrong "mpirun"

run -n 1 sh -c 'echo $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE'; expect_out "0/1 0/1 0/1"
run -n 1 sh -c 'echo a $PMI_RANK' : -n 2 -env X y sh -c 'echo $X $PMI_SIZE'; expect_lines $'a 0\ny 3\ny 3'
printf '# two programs\n-n 1 echo "one  two"\n-n 1 -env X y sh -c '"'"'echo $X'"'"'\n' > "$folder/config"
run -configfile "$folder/config"; expect_lines $'one  two\ny'
export TUTTI_TEST_A=1 TUTTI_TEST_B=2
run -n 1 -genvnone -env C 3 /usr/bin/env; [[ "$out" == *C=3* && "$out" != *TEST_A* && "$out" == *PMI_RANK=0* ]] || wrong "-genvnone: $out"
run -n 1 -genvlist TUTTI_TEST_A /usr/bin/env; [[ "$out" == *TEST_A=1* && "$out" != *TEST_B* ]] || wrong "-genvlist: $out"
run -n 1 -genvnone -x TUTTI_TEST_B -x D=4 /usr/bin/env; [[ "$out" == *TEST_B=2* && "$out" == *D=4* ]] || wrong "-x: $out"
unset TUTTI_TEST_A TUTTI_TEST_B
run -n 1 -wdir / pwd; expect_out /
run -n 2 -hosts "localhost,$(hostname)" true; expect_code 0
run -n 2 -H elsewhere.example --launcher-agent false true; expect_code 1; expect_err "elsewhere.example"
printf 'localhost slots=3\n' > "$folder/hosts"; run -hostfile "$folder/hosts" echo x; expect_out $'x\nx\nx'

run -n 1 --coll bcast=slots --coll barrier=exchange sh -c 'echo $TUTTI_COLL'; expect_out bcast=slots,barrier=exchange
run -n 2 --coll bcast=nix --coll bcats=slots "$build/bin/tutti-bench" --sizes 8:8 --iterations 3 bcast; expect_code 0
[ "$(grep -c -e "--coll: bcast has no algorithm nix; it has slots," <<< "$err")" = 1 ] || wrong "$what: a wrong algorithm must be reported once: $err"
expect_err "--coll: bcats is not a collective; did you mean bcast?"
TUTTI_COLL=bcats=slots run -n 2 --coll bcast=slots "$build/bin/tutti-bench" --sizes 8:8 --iterations 3 bcast; expect_code 0
expect_err "TUTTI_COLL: bcats is not a collective; did you mean bcast?"; [[ "$err" != *--coll:* ]] || wrong "$what: $err"

# binding: to the last usable processing unit
last=$(taskset -pc $$ | grep -o '[0-9]*$')
run -n 2 -bind-to "user:$last" sh -c 'taskset -pc $$ | grep -o "[0-9,-]*$"'; expect_out "$last"$'\n'"$last"
run -n 2 -bind-to "user:$last" --report-bindings true; expect_err "rank 1 is bound to processing unit $last"
run -n 1 -bind-to none sh -c 'taskset -pc $$ | grep -o "[0-9,-]*$"'; expect_out "$(taskset -pc $$ | grep -o '[0-9,-]*$')"
# by default only in a batch job, and if a second job could not bind to the same cores
cores=$(nproc)
run -n "$cores" "$rank" place; [ "$(sort -u "$folder/out")" = -1 ] || wrong "ranks were bound outside of a batch job"
SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=$cores run -n "$cores" "$rank" place; [ "$(sort -u "$folder/out" | wc -l)" = "$cores" ] || wrong "in a batch job: $out"
SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=1 run -n "$cores" "$rank" place; [ "$cores" = 1 ] || [ "$(sort -u "$folder/out")" = -1 ] || wrong "a part of the node: $out"
SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=$cores run -n $((cores * 2)) "$rank" place; [ "$(sort -u "$folder/out")" = -1 ] || wrong "too many ranks were bound: $out"
run -n 1 -bind-to core "$rank" place; [ "$out" -ge 0 ] || wrong "a bound rank has place $out"
run -n 1 -bind-to none "$rank" place; expect_out -1
TUTTI_TOPOLOGY="socket:2 numa:2 core:2" run -n 8 --show-hierarchy; expect_code 0; [[ "$out" == *socket* && "$out" == *numa* ]] || wrong "--show-hierarchy: $out"
run -n 8 -genv TUTTI_TOPOLOGY "socket:2 core:4" --show-hierarchy; [[ "$out" == *"2 sockets"* ]] || wrong "-genv TUTTI_TOPOLOGY: $out"
TUTTI_TOPOLOGY="cheese:2" run -n 8 --show-hierarchy; expect_code 2; expect_err cheese

# processing units and locations named by options of other launchers
run -n 2 --cpu-set "$last" sh -c 'taskset -pc $$ | grep -o "[0-9,-]*$"'; expect_code 0; expect_out "$last"$'\n'"$last"
run -n 1 --cpu-set 99999 true; expect_code 2; expect_err "--cpu-set: processing unit 99999 is not among those usable here"
printf 'rank 0=localhost slot=p%s\nrank 1=%s\n' "$last" "$(hostname)" > "$folder/ranks"
run -rf "$folder/ranks" --report-bindings sh -c 'echo $PMI_SIZE'; expect_code 0; expect_out $'2\n2'
expect_err "rank 0 is bound to processing unit $last"
TUTTI_TOPOLOGY="socket:2 core:2" run --rankfile <(printf 'rank 0=localhost slot=1:1\nrank 1=localhost slot=0:0\n') --display-topo
expect_code 0; [[ "$out" == *"core 3   rank 0"* ]] || wrong "--rankfile and --display-topo: $out"
run -n 3 --rankfile "$folder/ranks" true; expect_code 2; expect_err "it names 2 ranks, but 3 are to start"
run -n 2 -iface eth999 true; expect_code 2; expect_err "-iface: no interface or network of this host is eth999"
run -n 1 -iface lo sh -c 'echo $TUTTI_NETWORK'; expect_code 0; expect_out lo
# a program that is not in PATH, as under Open MPI
printf '#!/bin/sh\necho mine\n' > "$folder/own"; chmod +x "$folder/own"
run -n 1 -wdir "$folder" own; expect_code 0; expect_out mine; expect_err "own is not in PATH; using ./own in the folder $folder"
run -n 1 -wdir "$folder" ./own; expect_out mine; expect_silence
PATH=$folder:$PATH run -n 1 own; expect_out mine; expect_silence
printf -- '-np 1 echo a\n-np 1 echo b\n' > "$folder/app"; run --app "$folder/app"; expect_lines $'a\nb'
run -n 2 --display-map true; expect_code 0; expect_err "gets ranks 0-1"
run -n 1 --display-allocation true; expect_err "(this node) only"

# missing files and functions are reported or refused
run -n 1 -usize 8 true; expect_code 0; expect_silence
run -n 1 -v -usize 8 -usize 9 true; expect_code 0; expect_err "-usize has no effect: MPI processes cannot be spawned"
[ "$(grep -c "has no effect" <<< "$err")" = 1 ] || wrong "$what reported it twice: $err"
run -n 1 -v -q -usize 8 true; [[ "$err" != *usize* ]] || wrong "$what: $err"
run -n 1 --xml true; expect_code 2; expect_err "--xml is not an option of this mpiexec: -outfile-pattern and"

# options of other launchers
run -n 2 --map-by :OVERSUBSCRIBE echo x; expect_code 0; expect_out $'x\nx'; expect_silence
run -n 2 --map-by slot:OVERSUBSCRIBE,PE=1 --bind-to core:OVERLOAD echo x; expect_code 0; expect_out $'x\nx'
run -n 2 --output tag,file="$folder/both" sh -c 'echo out; echo err >&2'; expect_code 0; expect_out ""; expect_silence
for r in 0 1; do [ "$(sort "$folder/both.$r")" = "[$r] err"$'\n'"[$r] out" ] || wrong "$what: $(cat "$folder/both.$r")"; done
run -n 2 --output tag-detailed echo x; expect_lines "[0 on $(hostname)] x"$'\n'"[1 on $(hostname)] x"
run -n 2 --display bind,map true; expect_code 0; expect_err "rank 1 is not bound"; expect_err "gets ranks 0-1"
run -n 2 --do-not-launch --display map touch "$folder/launched"; expect_code 0; expect_err "gets ranks 0-1"
[ ! -e "$folder/launched" ] || wrong "$what started the program"
run -n 2 -output-from 1 sh -c 'echo $PMI_RANK; echo $PMI_RANK >&2'; expect_out 1; [ "$err" = 1 ] || wrong "$what: $err"
run -n 2 --index-argv-by-rank sh -c 'echo $0'; expect_lines $'sh-0\nsh-1'
mkdir "$folder/programs"; printf '#!/bin/sh\necho found\n' > "$folder/programs/own"; chmod +x "$folder/programs/own"
run -n 1 -path "/nowhere:$folder/programs" own; expect_code 0; expect_out found; expect_silence
run -n 1 --report-pid "$folder/pid" sh -c 'echo $PPID'; expect_out "$(cat "$folder/pid")"
TUTTI_TEST_A=1 TUTTI_TEST_B=2 run -n 1 -genvnone -x 'TUTTI_TEST_*' env; [[ "$out" == *TEST_A=1*TEST_B=2* || "$out" == *TEST_B=2*TEST_A=1* ]] || wrong "$what: $out"
run -n 1 --map-by pe-list="$last":ordered sh -c 'taskset -pc $$ | grep -o "[0-9,-]*$"'; expect_code 0; expect_out "$last"
run -rankmap '(0,1,2)' echo x; expect_code 0; expect_out $'x\nx'
run -n 1 --bind-to cpu-list:ordered true; expect_code 2; expect_err "ORDERED needs a list of processing units"
run -n 2 -gpus-per-proc 2 sh -c 'echo $CUDA_VISIBLE_DEVICES'; expect_lines $'0,1\n2,3'
CUDA_VISIBLE_DEVICES=5 run -n 2 -g 1 echo x; expect_code 2; expect_err "CUDA_VISIBLE_DEVICES names 1 GPU, and ranks of this node need at least 2"
run -n 1 -initial-errhandler mpi_errors_return sh -c 'echo $TUTTI_INITIAL_ERRHANDLER'; expect_code 0; expect_out return
run -n 1 -initial-errhandler mine true; expect_code 2; expect_err "-initial-errhandler must be mpi_errors_are_fatal"
run --default-hostfile "$folder/hosts" echo x; expect_code 0; expect_out $'x\nx\nx'
run -n 1 -H localhost --default-hostfile "$folder/nothing-there" echo x; expect_code 0; expect_out x
run --help compatibility; expect_code 0; [[ "$out" == *"--tmpdir FOLDER (Open MPI 5)"* ]] || wrong "$what: $out"
run --help --map-by; expect_code 0; [[ "$out" == *"nolocal"* ]] || wrong "$what: $out"
printf 'a foo=bar\n' > "$folder/bad"; run -f "$folder/bad" true; expect_code 2; expect_err "'foo=bar' is not understood"
run -f "$mpiexec" true; expect_code 2; expect_err "is not a text"; LC_ALL=C grep -q '[^ -~]' <<< "$err" && wrong "$what printed bytes: $err"
run -f "$folder" true; expect_code 2; expect_err "is a folder"
run -H '$(touch' true; expect_code 2; expect_err "'\$(touch' is not the name of a host"

# files that never end, are not regular files, or include themselves
printf -- '-configfile %s\n' "$folder/self" > "$folder/self"; run -configfile "$folder/self"
expect_code 2; expect_err "configuration files are nested more than 10 deep, down to $folder/self"
mkfifo "$folder/fifo"; truncate -s 17M "$folder/large"
for option in -configfile -hostfile -machinefile --rankfile; do
    run "$option" /dev/zero true; expect_code 2; expect_err "/dev/zero cannot be read: it is a device or a pipe, not a file"
    run "$option" "$folder/fifo" true; expect_code 2; expect_err "it is a device or a pipe"
    run "$option" "$folder/large" true; expect_code 2; expect_err "it is larger than 16 MiB"
    run "$option" "$folder/nothing" true; expect_code 2; expect_err "cannot be read: No such file"
done
PBS_NODEFILE=/dev/zero run true; expect_code 2; expect_err "the file that PBS_NODEFILE names, /dev/zero cannot be read: it is a device"
run -hostfile <(echo localhost slots=2) echo x; expect_code 0; expect_out $'x\nx'
SLURM_NODELIST='n[1-' run true; expect_code 2; expect_err "with an unmatched bracket"
SLURM_NODELIST='n[1-' run -rmk user echo x; expect_code 0; expect_out x
TUTTI_COLL=allreduce run -n 2 "$build/bin/tutti-bench" --sizes 8:8 --iterations 3 bcast; expect_err "TUTTI_COLL: allreduce needs the name of an algorithm; it has"
run -n 2 --coll allreduce true; expect_code 2; expect_err "not 'allreduce'"

# on request, failing ranks do not end the others; all exit codes
run -n 2 -disable-auto-cleanup sh -c "[ \$PMI_RANK = 0 ] && { $leave; exit 7; }; $await_leaver; echo lives"; expect_code 7; expect_out lives; expect_err "rank 0 on"
rm "$folder/leaver"
run -n 2 --enable-recovery sh -c "[ \$PMI_RANK = 0 ] && { $leave; kill -9 \$\$; }; $await_leaver; echo lives"; expect_code 137; expect_out lives; expect_err "signal 9"
run -n 2 -print-all-exitcodes true; expect_code 0; [ "$(grep -c 'ended with exit code 0' <<< "$err")" = 2 ] || wrong "$what printed $err"

# windows: a substitute for xterm prints its arguments and runs the command
mkdir "$folder/bin"
printf '#!/bin/sh\necho "$@" >> "%s/windows"\nwhile [ "$1" != -e ]; do shift; done\nshift; exec "$@"\n' "$folder" > "$folder/bin/xterm"
printf '#!/bin/sh\n[ "$1" = --args ] && shift; exec "$@"\n' > "$folder/bin/gdb"; chmod +x "$folder/bin"/*
(failures=0; export PATH=$folder/bin:$PATH DISPLAY=:7
run -n 3 --xterm '1!' -l echo a b; expect_code 0; [ "$(sort "$folder/out")" = $'[0] a b\n[1] a b\n[2] a b' ] || wrong "--xterm: $out"
[[ "$(cat "$folder/windows")" == "-T rank 1 on "*" -hold -e "*"/echo a b" ]] || wrong "the window: $(cat "$folder/windows")"
run -n 2 -gdb "$rank" init finalise; expect_code 0; expect_silence
[ "$(grep -c "gdb --args $rank init finalise" "$folder/windows")" = 2 ] || wrong "-gdb: $(cat "$folder/windows")"
DISPLAY='' run -n 2 -gdb true; expect_code 2; expect_err "but DISPLAY is not set"
exit $failures) || failures=$((failures + 1))

run -n $((cores + 1)) --nooversubscribe true; expect_code 2; expect_err "--nooversubscribe"

# limits: 64 ranks on any number of cores, few descriptors, a limit that is restored for ranks
run -n 64 "$rank" init finalise; expect_code 0; expect_silence
run -n 64 sh -c 'echo x'; [ "$(wc -l < "$folder/out")" = 64 ] || wrong "64 ranks gave $(wc -l < "$folder/out") lines"
(failures=0; ulimit -Sn 64; run -n 40 sh -c 'ulimit -Sn'; expect_code 0; [ "$(sort -u "$folder/out")" = 64 ] || wrong "the descriptor limit: $(sort -u "$folder/out")"; exit $failures) || failures=$((failures + 1))

# sockets and host names are not needed; without /dev/shm: namespaces_test
"$forbid" sockets -- "$mpiexec" -n 2 "$rank" init finalise || wrong "a job needs sockets"
"$forbid" cma -- "$mpiexec" -n 2 "$rank" init finalise || wrong "a job needs CMA"
err=$("$forbid" faccessat2 -- "$mpiexec" -n 2 sh -c 'echo x' 2>&1) || wrong "a job needs faccessat2: $err"
[ "$err" = $'x\nx' ] || wrong "without faccessat2: $err"
err=$("$forbid" memfd -- "$mpiexec" -n 2 "$rank" init 2>&1); [ $? = 1 ] || wrong "without memfd"; [[ "$err" == *memfd* ]] || wrong "without memfd: $err"
finish
