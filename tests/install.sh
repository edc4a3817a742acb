# SPDX-License-Identifier: BSD-3-Clause
# Sourced: need PACKAGE... installs with apt-get those Debian packages that are missing, as root or with sudo.
# shellcheck shell=bash

build_packages=(g++ cmake ninja-build pkg-config libhwloc-dev libpmix-dev libsodium-dev libnuma-dev
    nlohmann-json3-dev libdw-dev)
test_packages=(libgtest-dev libgmock-dev python3 gfortran mpich libmpich-dev libopenmpi-dev openmpi-bin
    scalapack-mpi-test netpipe-mpich2 libcoarrays-mpich-dev nwchem-mpich iproute2 libjemalloc2 valgrind gnuplot-nox make
    munge slurm-client slurmctld slurmd openssh-server openssh-client clang-format chromium
    libotf2-trace-dev otf2-tools)

need() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || { echo "Missing: ${missing[*]}. Run this as root, or install sudo." >&2; return 1; }
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]} ..."
    "${as_root[@]}" apt-get update -qq </dev/null &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}
