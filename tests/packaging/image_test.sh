#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The step of the Dockerfile on a minimal Debian: what it installs compiles and runs programs, and what only the build
# needs is gone.
# only: --all, compiles everything on a minimal Debian
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
need_package debootstrap debootstrap
[ "$(id -u)" = 0 ] || skip "tests/fresh.sh needs root"
git -C "$source" rev-parse -q --verify HEAD >/dev/null || skip "this is no git checkout"
step=$(sed -n 's|^RUN --mount=type=bind,target=/tutti /tutti/||p' "$source/Dockerfile")
[ -n "$step" ] || wrong "the Dockerfile has no step"
# shellcheck disable=SC2016  # for the shell there
"$source/tests/fresh.sh" "$step" \
    'PATH=/opt/tutti/bin:$PATH && mpicc tests/packaging/sums.c -o /tmp/sums && mpiexec -n 4 /tmp/sums && tutti-info --launcher &&
     for gone in cmake ninja pkg-config git; do ! command -v $gone || exit 1; done; du -sm /opt/tutti' \
    >"$folder/out" 2>&1 || wrong "on a minimal Debian: $(tail -n 30 "$folder/out")"
grep -qxF "$(sums_of 4)" "$folder/out" || wrong "4 ranks: $(tail -n 30 "$folder/out")"
grep -qxF "A program runs alone, as rank 0 of 1." "$folder/out" || wrong "tutti-info: $(tail -n 30 "$folder/out")"
echo "/opt/tutti has $(sed -n 's|\t/opt/tutti$||p' "$folder/out") MiB"
finish
