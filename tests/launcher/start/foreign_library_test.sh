#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages about programs that never join their job: mpiexec reports only facts that it has observed.
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "a sanitizer's libraries are in every program"
make() { gcc -O1 "$@" || wrong "gcc $*"; }
echo 'int MPI_Init(int* c, char*** v) { (void)c, (void)v; return 0; }' > "$folder/mpi.c"
for name in libmpi.so.40 libmpich.so.12; do
    mkdir "$folder/$name"
    make -shared -fPIC -Wl,-soname,$name "$folder/mpi.c" -o "$folder/$name/$name"
    ln -s $name "$folder/$name/libforeign.so"
done
printf '#include <stdio.h>\n#include <unistd.h>\nint MPI_Init(int*, char***);\nint main(void) { MPI_Init(0, 0); puts("ran"); fflush(stdout); return sleep(1); }\n' > "$folder/program.c"
link() { make "$folder/program.c" -o "$folder/$1" -L"$folder/$2" -lforeign -Wl,-rpath,"$folder/$2"; }
link other libmpi.so.40
link mpich libmpich.so.12

# Linked with another MPI library: mpiexec offers it a server, which these libraries do not use. Libraries of different
# makers in one job are an error.
for library in libmpi.so.40:other libmpich.so.12:mpich; do
    run -n 2 "$folder/${library#*:}"; expect_code 0; expect_out $'ran\nran'
    expect_err "has loaded $folder/${library%:*}/${library%:*}, which is not Tutti's: each rank is alone in a world of its own"
done
# the first rank of each program is checked
run -n 1 echo x : -n 2 "$folder/other"; expect_code 0; expect_out $'x\nran\nran'; expect_err "mpiexec: rank 1, process "
expect_err "has loaded $folder/libmpi.so.40/libmpi.so.40, which is not Tutti's"
run -n 1 "$folder/mpich" : -n 1 "$folder/other"; expect_code 126; expect_out ""
expect_err "$folder/mpich is linked with libmpich.so.12, and $folder/other with libmpi.so.40: all ranks of a job must use one MPI library"
run -n 1 "$folder/other"; expect_code 0; expect_out ran; expect_silence
run -n 2 -v "$folder/other"; expect_code 0; expect_err "uses $folder/libmpi.so.40/libmpi.so.40, not Tutti's library."
run -n 2 -v "$folder/mpich"; expect_code 0; expect_err "; --drop-in replaces it."
# a loader that never ends does not block the start of the job; here the kernel rejects the program
printf '#!/bin/sh\nexec sleep %s\n' "$nap" > "$folder/loader"; chmod +x "$folder/loader"
make "$folder/program.c" -o "$folder/slow" -L"$folder/libmpi.so.40" -lforeign -Wl,--dynamic-linker="$folder/loader"
run -n 2 "$folder/slow"; expect_code 126; expect_err "cannot be started"; expect_nothing_left
# found through the environment, our library or another one
echo 'int main(void) { return 0; }' > "$folder/nothing.c"
make -Wl,--no-as-needed "$folder/nothing.c" -o "$folder/plain" -L"$folder/libmpich.so.12" -lforeign
run -n 2 -genv LD_LIBRARY_PATH "$folder/libmpich.so.12" -v "$folder/plain"; expect_code 0; expect_err "uses $folder/libmpich.so.12/libmpich.so.12, not Tutti's library"
mkdir "$folder/ours"; cp "$build/lib/libmpi.so.12" "$folder/ours/libmpich.so.12"
run -n 2 -genv LD_LIBRARY_PATH "$folder/ours" "$folder/plain"; expect_code 0; expect_silence

# a script, or a program that it starts, has loaded another library: reported, and not ended
printf '#!/bin/sh\nexec "$@"\n' > "$folder/exec"; printf '#!/bin/sh\n"$@"\nexit 0\n' > "$folder/start"; chmod +x "$folder/exec" "$folder/start"
for script in exec start; do
    run -n 2 "$folder/$script" "$folder/other"; expect_code 0; expect_out $'ran\nran'
    expect_err "has loaded $folder/libmpi.so.40/libmpi.so.40, which is not Tutti's"
    [ "$(grep -c "has loaded" <<< "$err")" = 1 ] || wrong "$what reported it more than once: $err"
    expect_err "compile the program, or the library that uses MPI, with $build/bin/mpicc."
done
# a module of mpi4py has loaded it, or a library with our ABI
mkdir "$folder/mpi4py"
make -shared -fPIC "$folder/nothing.c" -Wl,--no-as-needed -L"$folder/libmpi.so.40" -lforeign -o "$folder/mpi4py/MPI.so"
make "$folder/program.c" -o "$folder/python" -Wl,--no-as-needed "$folder/mpi4py/MPI.so" -L"$folder/libmpi.so.40" -lforeign -Wl,-rpath,"$folder/libmpi.so.40"
run -n 2 "$folder/exec" "$folder/python"; expect_code 0
expect_err "\`python3 -m venv mpi && MPICC=$build/bin/mpicc mpi/bin/pip install --no-binary mpi4py mpi4py\`"
run -n 2 "$folder/exec" "$folder/mpich"; expect_code 0; expect_err "--drop-in loads Tutti's library instead"
run -n 2 -q "$folder/exec" "$folder/other"; expect_code 0; expect_silence

# programs that end before MPI_Init for other reasons are not reported
rank_program=$build/tests/ranks_launcher_misbehave
for options in "" --drop-in; do
    run -n 2 $options ls --no-such-option; expect_code 2
    [[ "$err" == *ibmpi* || "$err" == *drop-in* ]] && wrong "$what guessed: $err"
    if [ -x "$rank_program" ]; then
        run -n 2 $options -genv LD_BIND_NOW 1 "$folder/start" "$rank_program" 0 nothing; expect_code 0; expect_silence
    fi
done
"$build/bin/mpicc" -x c - -o "$folder/early" <<< '#include <mpi.h>
int main(void) { return MPI_Send(0, 0, MPI_INT, 0, 0, MPI_COMM_WORLD); }' || wrong mpicc
run -n 2 "$folder/early"; [ "$code" != 0 ] || wrong "MPI_Send before MPI_Init ended well"
[[ "$err" == *"linked with"* || "$err" == *"loaded"* || "$err" == *drop-in* ]] && wrong "$what guessed: $err"

# a library that the loader does not find: the loader's message
echo 'int lost(void) { return 0; }' > "$folder/lost.c"; make -shared -fPIC "$folder/lost.c" -o "$folder/liblost.so"
make -Wl,--no-as-needed "$folder/nothing.c" -o "$folder/needs" -L"$folder" -llost; rm "$folder/liblost.so"
run -n 2 "$folder/needs"; expect_code 127; expect_err "ended with exit code 127: the loader cannot load liblost.so: cannot open"
run -n 2 sh -c 'exit 127'; expect_code 127; [[ "$err" == *"loader"* ]] && wrong "$what guessed: $err"
finish
