#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The man pages that the tools print have no error of markup, and all sections.
. "$(dirname "$0")/../common.sh" "$1"
need_package man-db man
need_package groff-base groff
PATH=$build/bin:$PATH
tools="mpiexec tutti-bench tutti-info tutti-tune"

for tool in $tools; do
    "$tool" --help=man > "$folder/$tool.1" || wrong "$tool --help=man ended with $?"
    err=$(groff -ww -man -Tutf8 -rLL=80n -z "$folder/$tool.1" 2>&1); [ -z "$err" ] || wrong "groff: $err"
    err=$(MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 "$folder/$tool.1" 2>&1 > "$folder/page"); [ -z "$err" ] || wrong "man: $err"
    grep $'\u2010$' "$folder/page" && wrong "the man page of $tool divides the words above"
    for title in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
        grep -q "^$title" <(col -b < "$folder/page") || wrong "the man page of $tool has no section $title"
    done
done
for page in mpiexec:--bind-to mpiexec:MPIEXEC_TIMEOUT tutti-info:TUTTI_EAGER tutti-bench:neighbor_alltoall tutti-tune:XDG_CONFIG_HOME; do
    grep -q -- "${page#*:}" <(man -l -Tutf8 "$folder/${page%%:*}.1" | col -b) || wrong "the man page lacks $page"
done
finish
