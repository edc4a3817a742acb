#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds mpi4py for the library of a build folder, in an environment of Python, BUILD/mpi4py, which the tests of launchers
# use if it exists:
#     tests/mpi4py.sh BUILD [SOURCE]
# SOURCE is a folder with mpi4py's sources; by default, Debian's source package is loaded. Needs the packages `mpi4py` of
# tests/packages. Ends with 77 if they are missing or if the sources cannot be loaded.
set -eu
build=$(cd "${1:?usage: tests/mpi4py.sh BUILD [SOURCE]}" && pwd)
exec 9>"$build/mpi4py.lock"   # several tests may need it at the same time
flock 9
[ ! -e "$build/mpi4py/complete" ] || exit 0
for file in /usr/include/python3*/Python.h /usr/bin/cython3 /usr/lib/python3/dist-packages/setuptools/__init__.py; do
    [ -e "$file" ] || { echo "$file is missing" >&2; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "${2:-}" ]; then
    mkdir "$scratch/mpi4py"
    cp -r "$2/." "$scratch/mpi4py"
else
    mkdir -p "$scratch"/{parts,lists/partial,mpi4py}
    for list in /etc/apt/sources.list.d/*.sources; do
        sed 's/^Types: deb$/Types: deb-src/' "$list" >"$scratch/parts/${list##*/}"
    done
    apt() {
        apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$scratch/parts" \
            -o Dir::State::Lists="$scratch/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= "$@"
    }
    (cd "$scratch" && apt update && apt source --download-only mpi4py) >"$scratch/log" 2>&1 ||
        { echo "mpi4py's source package cannot be loaded: $(tail -n 1 "$scratch/log")" >&2; exit 77; }
    tar -xf "$scratch"/mpi4py_*.orig.tar.* -C "$scratch/mpi4py" --strip-components=1
fi
(cd "$scratch/mpi4py" && MPICC=$build/bin/mpicc CFLAGS=-O0 /usr/bin/python3 setup.py -q build) >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log" >&2; exit 1; }
rm -rf "$build/mpi4py"
/usr/bin/python3 -m venv --without-pip "$build/mpi4py"
cp -r "$scratch"/mpi4py/build/lib*/mpi4py "$build"/mpi4py/lib/python3*/site-packages/
: >"$build/mpi4py/complete"
