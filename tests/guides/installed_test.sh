#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An installation has the documents for users, whose links lead to files that are installed. The first program of a
# lesson is built from the installed source and run.
. "$(dirname "$0")/../common.sh" "$1"
is_sanitized && skip "covered by the plain build"
cmake --install "$build" --prefix "$folder/first" >"$folder/log" 2>&1 || wrong "cmake --install: $(cat "$folder/log")"
mv "$folder/first" "$folder/prefix"
documents=$folder/prefix/share/doc/tutti
for document in README.md guides/report.png CHANGELOG.md LICENSE SECURITY.md coll/ALGORITHMS.md launcher/clusters.md mpi_h/build-systems.md \
    apps/hello.c apps/lessons/README.md apps/lessons/03-deadlocks/mistake-ring.c; do
    [ -f "$documents/$document" ] || wrong "$document is not installed"
done
for guide in "$source"/guides/*.md; do
    [ -f "$documents/guides/${guide##*/}" ] || wrong "${guide##*/} is not installed"
done
if find "$documents" -name CMakeLists.txt | grep .; then wrong "a file of the build is installed"; fi

# Every link of the source tree that leads to an installed file is kept, and no link leads elsewhere.
python3 - "$source" "$documents" <<'EOF' || wrong "the links of the installed documents"
import os, re, sys
source, documents = sys.argv[1:]
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")

def links(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as file:
        prose = re.sub(r"```.*?```", "", file.read(), flags=re.S)
    return [os.path.normpath(os.path.join(os.path.dirname(page), link)) for link in LINK.findall(prose)]

wrong = count = 0
for folder, _, files in os.walk(documents):
    for page in (os.path.relpath(os.path.join(folder, name), documents) for name in files if name.endswith(".md")):
        found = links(documents, page)
        count += len(found)
        if found != [link for link in links(source, page) if os.path.exists(os.path.join(documents, link))]:
            wrong += 1
            print(f"{page}: {found} instead of {links(source, page)}")
print(count, "links")
sys.exit(bool(wrong) or count < 50)
EOF

# Each page with commands has a line that makes a folder for them, in which they run as printed.
for page in README.md guides/teaching.md guides/your-program.md; do
    line=$(grep -m1 '^    cp -r PREFIX/' "$documents/$page" | sed "s|PREFIX|$folder/prefix|g")
    [ -n "$line" ] && (cd "$folder" && bash -c "$line") || wrong "the line of $page: $line"
    commands=$(sed -n '/^```sh$/,/^```$/p' "$documents/$page" | grep -m2 -e ' apps/hello.c' -e ' build/hello$')
    [ "$(wc -l <<<"$commands")" = 2 ] && out=$(cd "$folder/tutti" && bash -c "$commands" 2>&1) &&
        [[ "$out" == *"the ranks' numbers add up to 6"* ]] || wrong "$page: $commands: $out"
    rm -rf "$folder/tutti"
done

cd "$documents" || exit 1
PATH=$folder/prefix/bin:$PATH
mpicc apps/lessons/03-deadlocks/ring.c -o "$folder/ring" && mpiexec -n 2 "$folder/ring" >"$folder/out" 2>&1 || wrong "the lesson: $(cat "$folder/out")"
finish
