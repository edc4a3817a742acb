#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Dockerfile installs the packages of tests/packages, builds a preset, and its image has the libraries that the
# installed programs need. An image is not built here, because that needs a Docker daemon.
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
command -v dpkg-query >/dev/null || skip "this system has no dpkg"
python3 - "$source" <<'END' || wrong "the Dockerfile"
import json, os, re, sys
root = sys.argv[1]
read = lambda name: open(os.path.join(root, name), encoding="utf-8").read()
lines = [line for line in re.sub(r"\\\n", " ", read("Dockerfile")).splitlines() if line and not line.startswith("#")]
steps = [tuple(line.split(None, 1)) for line in lines]
wrong = []
unknown = {name for name, _ in steps} - {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "CMD"}
if unknown:
    wrong.append(f"instructions that are not known here: {unknown}")
groups = {line.split()[0] for line in read("tests/packages").splitlines() if line and not line.startswith("#")}
presets = {preset["name"] for preset in json.loads(read("CMakePresets.json"))["configurePresets"]}
ignored = [line for line in read(".dockerignore").splitlines() if line and not line.startswith("#")]
prefix, installed = None, []
for name, what in steps:
    if name == "COPY" and not what.startswith("--from"):
        wrong += [f"COPY {file}: no such file" for file in what.split()[:-1] if not os.path.exists(os.path.join(root, file))]
        wrong += [f"COPY {file}: .dockerignore has it" for file in what.split()[:-1] if file in ignored]
    if name == "COPY" and what.startswith("--from") and what.split()[1:] != [prefix, prefix]:
        wrong.append(f"COPY {what}: Tutti is installed in {prefix}")
    if name == "ENV" and what != f"PATH={prefix}/bin:$PATH":
        wrong.append(f"ENV {what}: Tutti is installed in {prefix}")
    if name == "RUN":
        installed += re.findall(r"install_groups (\w+)", what)
        prefix = (re.findall(r"--prefix (\S+)", what) or [prefix])[0]
        wrong += [f"no preset {preset}" for preset in re.findall(r"--preset (\S+)", what) if preset not in presets]
        if re.search(r"\b(apt|apt-get|dpkg)\b", what.replace("/var/lib/apt/lists", "")):
            wrong.append(f"RUN {what}: packages that tests/packages does not list")
if installed != ["build", "image"] or not set(installed) <= groups:
    wrong.append(f"groups of packages: {installed}")
if prefix is None or [what for name, what in steps if name == "FROM"] != ["debian:12-slim AS build", "debian:12-slim"]:
    wrong.append("the stages")
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
