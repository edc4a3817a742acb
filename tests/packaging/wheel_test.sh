#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/wheel.sh makes a wheel, which works in an empty environment of Python: programs, wrappers, files for pkg-config
# and CMake, Python through ctypes; in a root file system with nothing but the libraries of C and C++; and where a CI job installs it.
# only: --all, compiles everything once more
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
python=/usr/bin/python3   # Debian's, which has the packages; another one may come first in PATH
need_package python3-build "/usr/lib/python3/dist-packages/build/__main__.py"
need_package python3-wheel "/usr/lib/python3/dist-packages/wheel/__main__.py"
need_package advancecomp advzip
need_package python3-setuptools "/usr/lib/python3/dist-packages/setuptools/__init__.py"
need_package python3-venv "/usr/lib/python3*/ensurepip/__main__.py"
need_package python3-yaml "/usr/lib/python3/dist-packages/yaml/__init__.py"

make_open_folder
mkdir "$folder/release"
out=$("$source/packaging/wheel.sh" "$folder/release" 2>"$folder/err") || { wrong "wheel.sh: $(cat "$folder/err")"; finish; }
wheel=$out
# A snapshot is older than the release.
[[ "${wheel##*/}" =~ ^tutti-$version(\.dev20[0-9]{12})?-py3-none-manylinux_2_[0-9]+_x86_64\.whl$ && -s $wheel ]] || wrong "the wheel's name is '$wheel'"
size=$(stat -c %s "$wheel")
echo "${wheel##*/} has $size bytes"
[ "$size" -le 6000000 ] || wrong "the wheel has $size bytes, more than 6 MB"

# No file depends on the folder of the build, or on libraries that other systems may lack.
"$python" -m zipfile -e "$wheel" "$folder/unpacked"
if grep -rlaE "$source|$folder|/tmp/tmp\." "$folder/unpacked"; then wrong "these files name a folder of the build"; fi
for name in libhwloc-dev libsodium-dev nlohmann-json3-dev; do
    find "$folder"/unpacked/*.dist-info -name "LICENSE.${name%-dev}" -size +0 | grep -q . || wrong "the licence of $name is missing"
done
newest=$(find "$folder/unpacked" -type f -exec objdump -T {} + 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
[[ "$wheel" == *"-manylinux_2_${newest#GLIBC_2.}_"* ]] || wrong "${wheel##*/} needs $newest"
needed=$(find "$folder/unpacked" -type f -exec objdump -p {} + 2>/dev/null | awk '/ NEEDED / { print $2 }' | sort -u | tr '\n' ' ')
[[ "$needed" =~ ^(ld-linux-x86-64.so.2 |libc.so.6 |libm.so.6 |libgcc_s.so.1 |libstdc\+\+.so.6 |libmpi.so.12 )*$ ]] || wrong "the wheel needs $needed"

"$python" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet --no-index "$wheel" || wrong "pip install"
PATH=$folder/venv/bin:/usr/bin:/bin
unset LD_LIBRARY_PATH PYTHONPATH
for tool in mpiexec mpirun mpiexec.hydra; do
    prints "$tool" "mpiexec of Tutti $version" "$tool" --version
done
for tool in tutti-daemon tutti-info tutti-bench; do
    prints "$tool" "$tool of Tutti $version" "$tool" --version
done
# tutti-daemon answers a rank, and mpiexec on another node.
tutti-daemon --machine | grep -q . || wrong "tutti-daemon --machine prints nothing"
prints "Python" "0 1 2 3 " sh -c "mpiexec -n 4 python -c 'import os; print(os.environ[\"PMI_RANK\"])' | sort | tr '\n' ' '"
prints "ctypes" "4" mpiexec -n 4 python -c '
import ctypes, sys
mpi = ctypes.CDLL(sys.prefix + "/lib/libmpi.so.12")
rank, size = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
mpi.MPI_Comm_size(0x44000000, ctypes.byref(size))
mpi.MPI_Finalize()
if rank.value == 0: print(size.value)'
mpicc "$sums" -o "$folder/a.out" || wrong "mpicc"
prints "a.out" "$(sums_of 4)" mpiexec -n 4 "$folder/a.out"
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$folder/agent"
chmod +x "$folder/agent"
prints "two nodes" "$(sums_of 4)" mpiexec --launcher-agent "$folder/agent" -hosts 127.0.0.2:2,127.0.0.3:2 -n 4 "$folder/a.out"
prints "a.out alone" "$(sums_of 1)" "$folder/a.out"
prints "the library of a.out" "$folder/venv/lib/libmpi.so.12" sh -c "ldd '$folder/a.out' | sed -n 's/.*libmpi.so.12 => \([^ ]*\) .*/\1/p'"
mpicxx -x c "$sums" -x none -lmpich -o "$folder/b.out" || wrong "mpicxx -lmpich"
prints "b.out" "$(sums_of 2)" mpirun -n 2 "$folder/b.out"
readelf -d "$folder/b.out" | grep -q 'NEEDED.*libmpi\.so\.12' || wrong "-lmpich is not libmpi.so.12"
mkdir "$folder/project"
cp "$sums" "$folder/project"
echo 'cmake_minimum_required(VERSION 3.16)
project(Guest LANGUAGES C)
find_package(Tutti REQUIRED)
find_package(MPI REQUIRED)
add_executable(by_tutti sums.c)
target_link_libraries(by_tutti PRIVATE Tutti::MPI)
add_executable(by_mpi sums.c)
target_link_libraries(by_mpi PRIVATE MPI::MPI_C)' >"$folder/project/CMakeLists.txt"
{ cmake -G Ninja -S "$folder/project" -B "$folder/project/build" && ninja -C "$folder/project/build"; } >"$folder/log" 2>&1 || wrong "CMake: $(cat "$folder/log")"
for program in by_tutti by_mpi; do
    prints "$program" "$(sums_of 2)" mpiexec -n 2 "$folder/project/build/$program"
done
prints "pkg-config" "$version" env PKG_CONFIG_PATH="$folder/venv/lib/pkgconfig" pkg-config --modversion mpich
tutti-info >"$folder/out" 2>&1 || wrong "tutti-info: $(cat "$folder/out")"
tutti-bench -n 2 --rounds 1 --seconds 0.01 --sizes 8:8 allreduce >"$folder/out" 2>&1 || wrong "tutti-bench: $(cat "$folder/out")"
[ -s "$folder/venv/share/man/man1/mpirun.1" ] && [ -s "$folder/venv/share/man/man3/MPI_Send.3" ] || wrong "man pages"

# Nothing but the libraries of C and C++: no hwloc, no libsodium.
make_root "$open/root" "$folder"/venv/bin/{mpiexec,tutti-info} "$folder"/venv/lib/{libmpi.so.12,libtutti_malloc.so} "$folder/a.out"
find "$open/root" -name '*.so*' | grep -vE '/(ld-linux-x86-64\.so\.2|lib((c|m|stdc\+\+)\.so\.6|gcc_s\.so\.1|mpi\.so\.12|tutti_malloc\.so))$' &&
    wrong "more libraries than those of C and C++"
if in_root "$open/root" true /bin/sh -c : 2>"$folder/err"; then
    prints "in a small system" "$(sums_of 4)" in_root "$open/root" true "$folder/venv/bin/mpiexec" -n 4 "$folder/a.out"
    in_root "$open/root" true "$folder/venv/bin/tutti-info" >"$folder/out" 2>&1 || wrong "tutti-info: $(cat "$folder/out")"
else
    echo "not tested in a small system, as no user namespaces can be made here: $(cat "$folder/err")"
fi
pip uninstall --quiet --yes tutti
find "$folder/venv" -name 'mpi*' -o -name 'libmpi*' -o -name 'MPI_*' -o -name '*tutti*' | grep . && wrong "left after pip uninstall"

# A release, and what a CI job does with it: the step of the action, and the line of packaging/README.md.
(cd "$folder/release" && sha256sum -- * >"$folder/SHA256SUMS" && mv "$folder/SHA256SUMS" . && cp "$source/packaging/install.sh" .)
PATH=/usr/bin:/bin
step=$("$python" -c 'import sys, yaml
(step,) = yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]
assert step["shell"] == "bash" and step["env"] == {"RELEASE": "${{ inputs.release }}"}, step
print(step["run"])' "$source/packaging/action/action.yml")
GITHUB_ACTION_PATH=$source/packaging/action GITHUB_PATH=$folder/paths RUNNER_TEMP=$folder/runner RELEASE=file://$folder/release \
    bash -e -c "$step" >"$folder/out" 2>&1 || wrong "the step of the action: $(cat "$folder/out")"
PATH=$(cat "$folder/paths"):$PATH prints "after the action" "$(sums_of 4)" sh -ec "mpicc '$sums' -o '$folder/c.out' && mpiexec -n 4 '$folder/c.out'"
[ ! -e "$folder/runner/tutti/bin/python" ] || wrong "the action puts another Python into PATH"
lines=$("$python" -c 'import re, sys, yaml
(job,) = re.findall(r"```yaml\n(test:.*?)```", open(sys.argv[1]).read(), re.S)
print("\n".join(yaml.safe_load(job)["test"]["before_script"]))' "$source/packaging/README.md")
(cd "$folder/runner" && RELEASE=file://$folder/release HOME=$folder bash -ec "$lines
    mpiexec -n 2 '$folder/c.out'" >"$folder/out" 2>&1) && grep -qx "$(sums_of 2)" "$folder/out" || wrong "'$lines': $(cat "$folder/out")"
# The user's settings of pip do not matter.
HOME=$folder/home PIP_USER=1 PIP_TARGET=$folder/home sh "$source/packaging/install.sh" "file://$folder/release" "$folder/by-user" >"$folder/out" 2>&1 &&
    grep -qx "mpiexec of Tutti $version" "$folder/out" && [ ! -e "$folder/home" ] || wrong "with settings of pip: $(cat "$folder/out")"
refuses() {   # REASON RELEASE
    sh "$source/packaging/install.sh" "$2" "$folder/refused" >"$folder/out" 2>&1 && wrong "installed from $2"
    grep -qF "$1" "$folder/out" && [ "$(wc -l <"$folder/out")" = 1 ] && [ ! -e "$folder/refused" ] || wrong "$2: $(cat "$folder/out")"
}
refuses "file://$folder/nothing/SHA256SUMS cannot be loaded: " "file://$folder/nothing"
refuses "/SHA256SUMS cannot be loaded: " "no address"
echo damaged >>"$wheel"
refuses "does not have the sum of SHA256SUMS" "file://$folder/release"
expect_nothing_left
finish
