# SPDX-License-Identifier: BSD-3-Clause
# Sourced: installs groups of Debian packages from tests/packages, as root or with sudo.
#   packages_of GROUP...     prints their packages
#   foreign_groups           prints the groups of the tests that need third-party programs
#   default_jobs             prints how many compilers or tests to run at the same time
#   install_groups GROUP...  installs their missing packages; if that fails, prints the reason to standard error and
#                            returns 1
# Waits at most five minutes for another apt-get or dpkg that holds the lock.
# shellcheck shell=bash

package_list=$(dirname "${BASH_SOURCE[0]}")/packages

packages_of() { awk -v groups=" $* " '!/^#/ && index(groups, " " $1 " ") { print $2 }' "$package_list"; }
foreign_groups() { awk '!/^#/ && NF && $1 !~ /^(build|test|peers|coverage|image)$/ && !seen[$1]++ { print $1 }' "$package_list"; }

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Runs apt-get without the caller's TMPDIR, which may not exist, and umask, which may make installed files unreadable.
run_apt_get() {
    local as_root=() output
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    local waited=0
    while ! output=$(umask 022; "${as_root[@]}" env -u TMPDIR LC_ALL=C DEBIAN_FRONTEND=noninteractive \
        apt-get -qq "$@" 2>&1 </dev/null); do
        if [[ $output != *"Could not get lock"* && $output != *"Unable to acquire the dpkg"* ]] || [ "$waited" -ge 300 ]; then
            tail -n 20 <<<"$output" >&2
            return 1
        fi
        [ "$waited" -gt 0 ] || echo "Another package manager is at work; waiting for it, at most five minutes ..."
        sleep 2
        waited=$((waited + 2))
    done
}

install_groups() {
    local missing=() package
    if ! command -v apt-get >/dev/null; then
        echo "This system has no apt-get: install the equivalents of" $(packages_of "$@") "yourself." >&2
        return 0
    fi
    for package in $(packages_of "$@"); do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        echo "Missing packages: ${missing[*]}. Run this as root, or install sudo." >&2
        return 1
    fi
    echo "Installing ${missing[*]} ..."
    run_apt_get update || echo "apt-get update failed; trying with the existing package lists." >&2
    run_apt_get install -y --no-install-recommends "${missing[@]}"
}

# One compiler or test per core, but at most one per 1.5 GiB of memory.
default_jobs() {
    local cores memory limit
    cores=$(nproc)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    # The container's limit, from control groups version 2 or 1.
    limit=$(cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null | head -n 1)
    [[ $limit =~ ^[0-9]+$ ]] && [ "$((limit / 1048576))" -lt "$memory" ] && memory=$((limit / 1048576))
    memory=$((memory / 1536))
    [ "$memory" -ge 1 ] || memory=1
    echo $((cores < memory ? cores : memory))
}
