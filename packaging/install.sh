#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the wheel of a release into a new folder, for continuous integration:
#     sh install.sh RELEASE FOLDER
# RELEASE is the address of the folder with the files of the release. FOLDER/bin has mpiexec, mpicc and the other programs.
# Needs python3 with pip, and a C library that the wheel supports. A wheel whose sum is not in SHA256SUMS is not installed.
set -eu
[ $# = 2 ] || { echo "Usage: sh install.sh RELEASE FOLDER" >&2; exit 2; }
[ ! -e "$2" ] || { echo "install.sh: $2 exists already" >&2; exit 1; }
python3 -m pip --version >/dev/null || { echo "install.sh needs pip. On Debian: apt-get install python3-pip" >&2; exit 1; }
scratch=$(mktemp -d)
complete=
trap 'rm -rf "$scratch"; [ -n "$complete" ] || rm -rf "$2"' EXIT
trap 'exit 130' INT TERM HUP
wheel=$(python3 - "${1%/}" "$scratch" <<'END'
import hashlib, re, sys, urllib.request
release, folder = sys.argv[1:]
def load(name):
    try:
        with urllib.request.urlopen(f"{release}/{name}", timeout=60) as answer:
            return answer.read()
    except (OSError, ValueError) as error:
        sys.exit(f"install.sh: {release}/{name} cannot be loaded: {error}")
sums = load("SHA256SUMS").decode()
found = re.search(r"^([0-9a-f]{64}) [ *](tutti-[\w.+-]+\.whl)$", sums, re.M)
if not found:
    sys.exit(f"install.sh: {release}/SHA256SUMS lists no wheel")
wheel = load(found[2])
if hashlib.sha256(wheel).hexdigest() != found[1]:
    sys.exit(f"install.sh: {release}/{found[2]} does not have the sum of SHA256SUMS")
with open(f"{folder}/{found[2]}", "wb") as file:
    file.write(wheel)
print(f"{folder}/{found[2]}")
END
)
# In an environment of Python, because distributions change where pip puts files outside of one. Its interpreter is removed,
# because FOLDER/bin belongs into PATH. The user's settings of pip could choose another folder.
python3 -m venv --system-site-packages --without-pip "$2"
"$2/bin/python3" -m pip --isolated install --quiet --no-index --no-deps --ignore-installed "$wheel"
rm -r "$2"/bin/python* "$2"/bin/[Aa]ctivate* "$2/pyvenv.cfg"
"$2/bin/mpiexec" --version
complete=yes
