# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of packages and installations, with the build folder: a program that checks sums over ranks, and
# root file systems that contain only what is copied into them.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
set -u
version=$(sed -n 's/^#define TUTTI_VERSION *"\(.*\)"/\1/p' "$source/mpi_h/include/mpi.h")

# install_to FOLDER: installs the build, without what only debuggers need.
install_to() { cmake --install "$build" --prefix "$1" --strip >"$folder/log" 2>&1 || wrong "cmake --install: $(cat "$folder/log")"; }

# prints WHAT EXPECTED COMMAND...: runs a command and compares its standard output.
prints() {
    local output
    output=$("${@:3}" 2>"$folder/err") || wrong "$1: '${*:3}' ended with $?: $(cat "$folder/err")"
    [ "$output" = "$2" ] || wrong "$1: '${*:3}' printed '$output' instead of '$2': $(cat "$folder/err")"
}

# Of a program that is run by mpiexec, rank 0 prints one line: the number of ranks whose sums are correct, for small and
# for large messages, and the first line of the library's version.
sums=$here/sums.c
sums_of() { echo "$1 ranks agree, Tutti Version: ${2:-$version}"; }

# make_open_folder: sets $open, a folder that other users can read, as CI's temporary folder is private. Removed at the
# end, with the control groups that a test makes.
make_open_folder() {
    open=$(mktemp -d "$build/tests/open.XXXXXX")
    chmod 755 "$open"
    # shellcheck disable=SC2064  # these folders
    trap "rm -rf '$folder' '$open'; rmdir /sys/fs/cgroup/tutti-$$ /sys/fs/cgroup/cpu/tutti-$$ 2>/dev/null" EXIT
}

# make_root ROOT PROGRAM...: makes a root file system with a shell, these programs, in the same places, and the
# libraries that the loader finds for them.
make_root() {
    local root=$1 file library
    shift
    mkdir -p "$root"/{bin,dev,etc,proc,sys,tmp}
    chmod 1777 "$root/tmp"
    cp -L /bin/sh "$root/bin/sh"
    for file in "$@"; do
        mkdir -p "$root${file%/*}"
        cp "$file" "$root$file"
    done
    for library in $(ldd /bin/sh "$@" | grep -oE '/[^ :]+' | sort -u); do
        [ -e "$root$library" ] && continue
        mkdir -p "$root${library%/*}"
        cp -L "$library" "$root$library"
    done
}

# in_root ROOT SHELL-COMMANDS COMMAND...: runs a command in the root file system, as root of a new user namespace that
# a user without any permission has made, after shell commands with which $root is its folder. Its /dev has no /dev/shm.
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
in_root() {
    # shellcheck disable=SC2016  # for the shell in the namespace
    "${as_nobody[@]}" unshare --user --map-root-user --mount --pid --net --fork env -i PATH=/bin:/usr/bin:/usr/sbin:/sbin \
        root="$1" prepare="$2" sh -c '
            mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
            mount -t tmpfs tmpfs "$root/dev" || exit
            for file in null zero urandom; do
                : >"$root/dev/$file" && mount --bind "/dev/$file" "$root/dev/$file" || exit
            done
            eval "$prepare" || exit
            exec chroot "$root" "$@"' sh "${@:3}"
}
