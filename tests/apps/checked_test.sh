#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check reports nothing about the applications and the correct programs of the lessons.
# cores: 1
. "$(dirname "$0")/common.sh" "$1"
quiet() {
    "$build/bin/mpiexec" --check -n "$@" >"$folder/out" 2>"$folder/err" && [ ! -s "$folder/err" ] && return
    wrong "$*: $(tail -n 3 "$folder/out") $(cat "$folder/err")"
}
for ranks in 2 3; do
    quiet $ranks "$build/bin/tutti-halo" --rounds 2 --steps 40
    quiet $ranks "$build/bin/tutti-hashtable" --buckets 1 --keys 40 --insertions 400
    quiet $ranks "$build/bin/tutti-stencil" --quiet --verify --steps 6 --levels 2 --cells 4
    quiet $ranks "$build/bin/tutti-cg" --dots blocking --unknowns 15 --solves 1
    quiet $ranks "$build/bin/tutti-cg" --dots pipelined --unknowns 15 --solves 1
    quiet $ranks "$build/bin/tutti-apsp" --verify --vertices 60 --junctions 60 --scenarios 3
    quiet $ranks "$build/bin/tutti-memory" job
done
for program in "$source"/apps/lessons/*/*.c; do
    [[ "$program" != */mistake-* ]] || continue
    "$build/bin/mpicc" -g "$program" -o "$folder/program" -lm || wrong "mpicc ended with $?: $program"
    for ranks in 2 4; do quiet $ranks "$folder/program"; done
done
finish
