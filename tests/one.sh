#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds what some tests need, and runs these tests.
set -u
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"
case ${1:-} in
'' | -h | --help)
    cat <<'END'
Usage: tests/one.sh NAME
Builds what the tests need whose names match the regular expression NAME, and runs these tests. Examples:
  tests/one.sh ranks/p2p/probes          an MPI program, with each of its numbers of ranks
  tests/one.sh unit/topo                 unit tests of a folder
  tests/one.sh shell/mpi_h/wrappers      a shell test; these need the whole build
`ctest -N --test-dir build` lists the names, build/tests/targets the targets of `ninja -C build` that each test needs.
END
    [ $# -gt 0 ]
    exit
    ;;
esac
jobs=$(default_jobs)
start_results
install_groups build test || { broken "installing packages"; finish; }
prepare_scratch
title "Build"
build_tests "$1" || finish
title "Tests"
run_tests build -R "$1"
check_leftovers
finish
