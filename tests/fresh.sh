#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the commands of README.md as a new user does: on a minimal system made by debootstrap, in a clone of HEAD.
set -eu
case " $* " in *" --help "* | *" -h "*) FRESH_NAMESPACE=1 ;; esac
[ -n "${FRESH_NAMESPACE:-}" ] || [ "$(id -u)" = 0 ] || { echo "tests/fresh.sh needs root, for chroot" >&2; exit 2; }
# Runs in new namespaces, so that its mounts and processes end with it.
[ -n "${FRESH_NAMESPACE:-}" ] || exec unshare --mount --pid --fork --kill-child env FRESH_NAMESPACE=1 "$0" "$@"
here=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<'END'
Usage: tests/fresh.sh [options] [COMMAND]...
Each COMMAND is run in the clone; the default is "apps/demo.sh" "tests/smoke.sh topo". Needs root and debootstrap.
  --suite NAME    the release: bookworm (default), trixie, noble, ...
  --mirror URL    where its packages come from (default: this machine's own mirror, or Ubuntu's if that has no such
                  release)
  --user          as a user with sudo instead of root
  --busy          while another apt-get installs packages
  --blank         in a path with a blank
  --umask MASK    with this umask
  --set NAME=VALUE
                  with this variable in the environment, which is otherwise empty; may be repeated
  --copy FOLDER   copies FOLDER to the top of the system; may be repeated
  --base FOLDER   copies the minimal system from FOLDER, which is created if it does not exist
END
}

suite=bookworm mirror= user=root busy= folder=tutti mask=022 base= copies=() settings=() commands=()
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=$2; shift ;;
    --mirror) mirror=$2; shift ;;
    --user) user=student ;;
    --busy) busy=1 ;;
    --blank) folder="my tutti" ;;
    --umask) mask=$2; shift ;;
    --set) settings+=("$2"); shift ;;
    --copy) copies+=("$2"); shift ;;
    --base) base=$2; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "tests/fresh.sh: there is no option $1" >&2; usage >&2; exit 2 ;;
    *) commands+=("$1") ;;
    esac
    shift
done
[ ${#commands[@]} -gt 0 ] || commands=("apps/demo.sh" "tests/smoke.sh topo")
command -v debootstrap >/dev/null || { echo "tests/fresh.sh: install debootstrap" >&2; exit 2; }
system=$(mktemp -d "${TMPDIR:-/tmp}/fresh.XXXXXX")
remove_system() {
    local mounted
    for mounted in proc sys dev; do
        ! mountpoint -q "$system/$mounted" || umount -R -l "$system/$mounted"
    done
    rm -rf --one-file-system "$system"
}
trap remove_system EXIT
trap 'exit 130' INT TERM HUP

# Finds the mirror that has the release, and sets debootstrap's options. Some of Ubuntu's libraries are in the component
# `universe`. All its releases are made by the script `gutsy`, also those that this debootstrap does not know by name.
find_mirror() {
    local candidates=("$mirror") candidate release
    [ -n "$mirror" ] || mapfile -t candidates < <(
        apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1
        echo http://archive.ubuntu.com/ubuntu)
    for candidate in "${candidates[@]}"; do
        release=$(wget -q -O - "$candidate/dists/$suite/Release") || continue
        mirror=$candidate
        ! grep -q '^Origin: Ubuntu' <<<"$release" || options=(--components=main,universe) script=gutsy
        return
    done
    echo "tests/fresh.sh: $suite is not at ${candidates[*]}; name its mirror by --mirror" >&2
    exit 2
}
make_base() {
    debootstrap --variant=minbase --include=ca-certificates "${options[@]}" "$suite" "$1" "$mirror" $script \
        >"$1.log" 2>&1 </dev/null ||
        { tail -n 20 "$1.log" >&2; return 1; }
    rm "$1.log"
}
options=() script=
find_mirror
echo "Making a minimal $suite ..."
if [ -n "$base" ]; then
    [ -d "$base" ] || make_base "$base"
    cp -a "$base/." "$system"
else
    make_base "$system"
fi
chmod 755 "$system"
# The settings by which this machine reaches the mirror, and no others.
cp /etc/resolv.conf "$system/etc/resolv.conf"
apt-config dump Acquire | grep -v -e IndexTargets -e Changelogs >"$system/etc/apt/apt.conf.d/90mirror"
mount -t proc proc "$system/proc"
mount -t sysfs sysfs "$system/sys"
mount --rbind /dev "$system/dev"
mount -t tmpfs tmpfs "$system/dev/shm"

path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
in_system() { chroot "$system" env -i PATH="$path" "$@" </dev/null; }
install() {
    in_system apt-get -qq update
    in_system DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$@"
}
home=/root
if [ "$user" != root ]; then
    home=/home/$user
    install --no-install-recommends sudo >/dev/null 2>&1
    in_system useradd --create-home --shell /bin/bash "$user"
    echo "$user ALL=(ALL) NOPASSWD: ALL" >"$system/etc/sudoers.d/$user"
fi
[ ${#copies[@]} = 0 ] || cp -r "${copies[@]}" "$system"
git clone -q --no-hardlinks "$here" "$system$home/$folder"
in_system chown -R "$user:$user" "$home"
if [ -n "$busy" ]; then
    install gdb emacs-nox >/dev/null 2>&1 &
    sleep 1
fi
for command in "${commands[@]}"; do
    printf '\n$ %s\n' "$command"
    in_system HOME="$home" "${settings[@]}" setpriv --reuid "$user" --regid "$user" --init-groups \
        bash -c "umask $mask; cd '$home/$folder' && $command"
done
wait
