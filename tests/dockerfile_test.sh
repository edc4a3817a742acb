#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Dockerfile installs the packages of tests/packages by packaging/image.sh, and its image has the libraries that the
# installed programs need. An image is not built here, because that needs a registry of images.
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
command -v dpkg-query >/dev/null || skip "this system has no dpkg"
python3 - "$source" <<'END' || wrong "the Dockerfile"
import os, re, sys
root = sys.argv[1]
read = lambda name: open(os.path.join(root, name), encoding="utf-8").read()
lines = [line for line in re.sub(r"\\\n", " ", read("Dockerfile")).splitlines() if line and not line.startswith("#")]
script = read("packaging/image.sh")
groups = {line.split()[0] for line in read("tests/packages").splitlines() if line and not line.startswith("#")}
ignored = [line for line in read(".dockerignore").splitlines() if line and not line.startswith("#")]
wrong = []
if [line.split()[0] for line in lines] != ["FROM", "RUN", "ENV", "CMD"]:
    wrong.append(f"other steps than one that installs everything: {lines}")
for step in re.findall(r"^RUN --mount=type=bind,target=(\S+) (\S+)", "\n".join(lines), re.M):
    file = os.path.relpath(step[1], step[0])
    if not os.access(os.path.join(root, file), os.X_OK) or file.split("/")[0] in ignored:
        wrong.append(f"RUN {step[1]}: not a program of the tree that `docker build` sends")
prefix = re.findall(r"^build_and_install \S+ (\S+)$", script, re.M)
if [f"ENV PATH={folder}/bin:$PATH" for folder in prefix] != [line for line in lines if line.startswith("ENV")]:
    wrong.append(f"PATH does not have the folder of Tutti, {prefix}")
installed = re.findall(r"^need_packages (.*)$", script, re.M)
if installed != ["build image"] or not {"build", "image"} <= groups:
    wrong.append(f"groups of packages: {installed}")
print("\n".join(wrong))
sys.exit(bool(wrong))
END

# Every library that the loader finds for an installed file belongs to a package of the group `image`, or to one on which
# these depend.
cmake --install "$build" --prefix "$folder/prefix" >"$folder/log" 2>&1 || wrong "cmake --install: $(cat "$folder/log")"
. "$source/tests/install.sh"
apt-cache depends --recurse --installed --no-{recommends,suggests,conflicts,breaks,replaces,enhances} $(packages_of image) |
    grep -oE '^[a-z0-9][^ :]*' | sort -u >"$folder/packages"
ldd "$folder"/prefix/bin/* "$folder"/prefix/lib/*.so* 2>/dev/null | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p' | sort -u |
    grep -v "^$folder" >"$folder/libraries"
grep -q libhwloc "$folder/libraries" || wrong "ldd lists no libhwloc"
while read -r library; do   # packages name files in /lib or in /usr/lib, which are the same folder
    package=$(dpkg-query -S "$library" "${library#/usr}" "$(realpath "$library")" 2>/dev/null | sed 's/:.*//;q')
    grep -qx "$package" "$folder/packages" || wrong "$library of ${package:-no package}: the group image does not install it"
done <"$folder/libraries"
finish
