# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that make packages: the version, the time stamp, a scratch folder, and the build. The tree is a
# git checkout or an unpacked source archive.
# shellcheck shell=bash
set -euo pipefail
umask 022   # the modes of files are a part of the packages
export LC_ALL=C.UTF-8 TZ=UTC
# What would change the files: options of compilers, of archives, and compilers that the wrappers' help would name.
unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH XZ_OPT XZ_DEFAULTS \
    "${!MPICH_@}" "${!OMPI_@}" "${!TUTTI_@}"
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tests/install.sh
. "$source/tests/install.sh"
version=$(sed -n 's/^#define TUTTI_VERSION *"\(.*\)"/\1/p' "$source/mpi_h/include/mpi.h")

fail() { printf '%s\n' "${0##*/}: $1" "${@:2}" >&2; exit 1; }

# options HELP ARGUMENT...: reads the only argument, the output folder. Sets
#   output, scratch     the output folder and a temporary one
#   SOURCE_DATE_EPOCH   the time of the commit, which all tools use as the time of files
#   commit              the commit HEAD; empty in a source archive
#   snapshot            the time in UTC if CHANGELOG.md calls this version unreleased, otherwise empty
options() {
    case ${2:-} in
    -h | --help) printf '%s\n' "$1"; exit 0 ;;
    -*) fail "unknown option $2" "$1" ;;
    esac
    [ $# -le 2 ] || fail "too many arguments" "$1"
    mkdir -p "${2:-dist}"
    output=$(cd "${2:-dist}" && pwd)
    make_scratch
    commit=
    if [ -e "$source/.git" ]; then
        commit=$(in_git rev-parse HEAD) || fail "git cannot read $source"
        [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(in_git log -1 --format=%ct)
    fi
    [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(stat -c %Y "$source/CHANGELOG.md")   # that of the archive's files
    export SOURCE_DATE_EPOCH
    local heading
    heading=$(grep -m 1 '^## ' "$source/CHANGELOG.md")
    [[ $heading == "## $version ("*")" ]] || fail "mpi.h has version '$version', CHANGELOG.md begins with '$heading'"
    snapshot=
    [[ $heading != *"(unreleased)" ]] || snapshot=$(date -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)
}

# Without the user's settings for messages and for the modes of archives.
in_git() { git -C "$source" -c log.showSignature=false -c tar.umask=022 "$@"; }
make_scratch() { scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT; }
# need_packages GROUP...: installs the missing Debian packages of these groups of tests/packages.
need_packages() { install_groups "$@" >&2 || fail "packages are missing"; }
# find_python MODULE...: sets $python to the first interpreter with these modules, Debian's if it has them.
find_python() {
    for python in /usr/bin/python3 python3; do
        "$python" -c "import $(IFS=,; echo "$*")" 2>/dev/null && return
    done
    fail "no python3 has the modules $*"
}

# build_and_install FOLDER PREFIX CMAKE-OPTION...: builds a release in a folder and installs it, without debug information.
# CMAKE_BUILD_RPATH_USE_ORIGIN: a path of the build folder would be overwritten, but not shortened, by the installation.
build_and_install() {
    {
        cmake -G Ninja -S "$source" -B "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DTUTTI_TESTS=OFF \
            -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON "${@:3}" && ninja -C "$1" -j "$(default_jobs)" &&
            cmake --install "$1" --prefix "$2" --strip
    } >"$scratch/log" 2>&1 || fail "the build failed:" "$(grep -A 40 -m 1 -E '^FAILED: |CMake Error' "$scratch/log" || tail -n 40 "$scratch/log")"
}

# deliver FILE...: moves the results to the output folder and prints their names.
deliver() {
    mv "$@" "$output"
    printf '%s\n' "${@/#*\//$output/}"
}
