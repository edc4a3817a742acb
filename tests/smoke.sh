#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The test run after each edit: builds what is out of date and runs the quick tests of the whole tree or of some areas.
set -u
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"

areas=$(sed -nE 's/^set\(areas (.*)\)$/\1/p' tests/CMakeLists.txt)
case " $* " in
*" --help "* | *" -h "*)
    cat <<END
Usage: tests/smoke.sh [AREA]...
Builds and runs the unit tests, and each rank program with its smallest number of ranks above one. With AREAs, only
those of these areas:
  $areas
tests/run.sh also runs all other tests.
END
    exit 0
    ;;
esac
targets=() pattern=
for area in "$@"; do
    [[ " $areas " == *" $area "* ]] || { echo "tests/smoke.sh: there is no area $area; there are $areas" >&2; exit 2; }
    targets+=("smoke_$area") pattern+="|$area"
done

jobs=$(default_jobs)
start_results
install_groups build test || { broken "installing packages"; finish; }
prepare_scratch
title "Build"
configure_and_build build "${targets[@]:-smoke}" -- || finish
title "Tests"
run_tests build -L '^smoke$' -L "^(${pattern#|})"
check_leftovers
finish
