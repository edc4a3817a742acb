#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the wheel tutti-VERSION-py3-none-manylinux_2_XX_x86_64.whl from this tree. Its libraries and programs contain hwloc
# and libsodium, so they need nothing but the libraries of C and C++; libnuma, libdw and PMIx are loaded where the system
# has them.
. "$(dirname "$0")/common.sh"
options "Usage: packaging/wheel.sh [OUTPUT-FOLDER]
Builds the wheel (default folder: dist) and removes that of an earlier build from the output folder. The same commit and
packages give the same bytes, in any folder." "$@"
need_packages build wheel
find_python setuptools wheel build
# In the tree, so that a compiler cache helps, and new each time: a former build may have had other options.
exec {lock}<"$0"
flock "$lock"   # waits for another packaging/wheel.sh of this tree
rm -rf "$source/build-wheel"

# No library and no file that depend on what else this machine has installed: OTF2, MPICH's Fortran. Not what makes the
# wheel larger than its use is worth: tutti-tune, which contains all algorithms once more, and pictures in PNG.
build_and_install "$source/build-wheel" "$scratch/prefix" -DTUTTI_STATIC_LIBRARIES=ON -DCMAKE_INSTALL_LIBDIR=lib -DOTF2_LIBRARY=
rm -f "$scratch"/prefix/lib/pkgconfig/*-fort.pc
find "$scratch/prefix" \( -name '*tutti-tune*' -o -name '*.png' \) -delete

# A wheel has no symbolic links. The linker reads a script as it would read the library. Each further name of mpiexec
# becomes a script; that of tutti-daemon passes the name as an option. Links to pages of the manual become references,
# and other links to texts copies.
cd "$scratch/prefix"
for library in lib/libmpi.so lib/libmpich.so; do
    rm "$library"
    echo "INPUT(libmpi.so.12)" >"$library"
done
for name in mpirun mpiexec.hydra tutti-daemon; do
    rm "bin/$name"
    cat >"bin/$name" <<'END'
#!/bin/sh
self=$(command -v -- "$0") && self=$(readlink -f -- "$self") && exec "${self%/*}/mpiexec" "$@"
END
    chmod 755 "bin/$name"
done
sed -i 's|mpiexec"|mpiexec" --tutti-daemon|' bin/tutti-daemon
find . -type l | while read -r link; do
    case $link in
    */man/*) page=${link%/*} target=$(readlink "$link") && rm "$link" && echo ".so ${page##*/}/$target" >"$link" ;;
    *) cp --remove-destination "$(readlink -f "$link")" "$link" ;;
    esac
done

# The licences of what is linked in belong to the wheel.
cp -r "$source/packaging/wheel" "$scratch/wheel"
install -m 644 "$source/README.md" "$source/LICENSE" "$scratch/wheel"
for package in libhwloc-dev libsodium-dev nlohmann-json3-dev; do
    install -m 644 "/usr/share/doc/$package/copyright" "$scratch/wheel/LICENSE.${package%-dev}"
done
cd "$scratch/wheel"
TUTTI_PREFIX=$scratch/prefix TUTTI_VERSION=$version${snapshot:+.dev$snapshot} "$python" -m build --wheel --no-isolation --outdir "$scratch/wheels" . \
    >"$scratch/log" 2>&1 || fail "the wheel cannot be packed:" "$(tail -n 20 "$scratch/log")"
advzip --quiet --recompress -3 "$scratch"/wheels/*.whl   # smaller by 4 %
rm -rf "$source/build-wheel" "$output"/tutti-*.whl
deliver "$scratch"/wheels/*.whl
