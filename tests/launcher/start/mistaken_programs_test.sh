#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that are no programs: the message says what to write instead, and the shell executes only texts.
. "$(dirname "$0")/../common.sh" "$1"
cd "$folder" || exit 1

# Scripts and source files, with and without permission to execute them.
printf 'print(1)\n' > hello.py; printf 'int main(void) { return 0; }\n' > ring.c
for name in ring.cc ring.cpp ring.f90; do : > "$name"; done
mkdir -p sub; : > sub/heat.F90
for permission in -x +x; do
    chmod $permission hello.py ring.* sub/heat.F90
    run -n 4 hello.py; expect_code 126; expect_err "write mpiexec -n 4 python3 hello.py."
    run -np 3 -wdir "$folder" ./hello.py argument; expect_code 126; expect_err "write mpiexec -n 3 python3 ./hello.py."
    run -n 2 ring.c; expect_code 126; expect_err "compile it: mpicc ring.c -o ring."
    run -n 2 ring.cc; expect_code 126; expect_err "compile it: mpicxx ring.cc -o ring."
    run -n 2 ring.cpp; expect_code 126; expect_err "compile it: mpicxx ring.cpp -o ring."
    run -n 2 ring.f90; expect_code 126; expect_err "compile it: mpifort ring.f90 -o ring."
    run -n 2 sub/heat.F90; expect_code 126; expect_err "compile it: mpifort sub/heat.F90 -o sub/heat."
done
[[ "$out$err" != *"sh: "* ]] || wrong "a shell executed a source file: $err"

# The commands can be copied, whatever the name.
mkdir 'a b'; cp hello.py ring.c 'a b'
run -n 2 'a b/hello.py'; expect_code 126; expect_err "write mpiexec -n 2 python3 'a b/hello.py'."
run -n 2 'a b/ring.c'; expect_code 126; expect_err "compile it: mpicc 'a b/ring.c' -o 'a b/ring'."

# Files that a compiler left incomplete.
"$build/bin/mpicc" -c ring.c -o ring.o; : > empty
for permission in -x +x; do
    chmod $permission ring.o empty
    run -n 2 ./ring.o; expect_code 126; expect_err "an object file, which was compiled but not linked: mpicc ./ring.o -o ./ring links it"
    run -n 2 ./empty; expect_code 126; expect_err "the program ./empty is an empty file"
done
"$build/bin/mpicc" ./ring.o -o ./ring && run -n 2 ./ring; expect_code 0

# A script of another language that names its interpreter is a program; so are scripts in PATH.
printf '#!/bin/sh\necho own\n' > own.py; chmod +x own.py
run -n 2 ./own.py; expect_code 0; expect_out $'own\nown'
PATH=$folder:$PATH run -n 1 own.py; expect_code 0; expect_out own; expect_silence
chmod -x own.py
run -n 2 ./own.py; expect_code 126; expect_err "python3 ./own.py"

# Windows line ends, also of a script that env starts.
for line in '#!/bin/sh' '#!/usr/bin/env sh'; do
    printf '%s\r\necho hi\r\n' "$line" > windows; chmod +x windows
    run -n 2 ./windows; expect_code 126
    expect_err "ends with a carriage return (\\r), as on Windows"; expect_err "sed -i 's/\\r\$//' ./windows"
done
cp windows 'a b'; run -n 2 'a b/windows'; expect_err "sed -i 's/\\r\$//' 'a b/windows'"
sed -i 's/\r$//' windows
run -n 1 ./windows; expect_code 0; expect_out hi

# Without #!, a text is a script of the shell; other files are not.
printf 'echo plain\n' > plain; chmod +x plain
run -n 1 ./plain; expect_code 0; expect_out plain
printf 'echo \0 binary\n' > binary; chmod +x binary
run -n 1 ./binary; expect_code 126; expect_err "neither a program for this machine nor a script"; expect_out ""
printf 'text\n' > text
run -n 1 ./text; expect_code 126; expect_err "the program ./text is not executable (chmod +x makes it so)"

# A folder that does not exist is not a program that cannot be found.
run -n 2 -wdir /nowhere ./ring; expect_code 127; expect_err "-wdir: the folder /nowhere does not exist"
run -n 2 --wd /nowhere true; expect_code 127; expect_err "--wd: the folder /nowhere does not exist"
run -n 2 -wdir "$folder/text" ./ring; expect_code 127; expect_err "-wdir: $folder/text is not a folder"
finish
