# SPDX-License-Identifier: BSD-3-Clause
# For the shell tests of the applications. Sourced with the build folder.
# shellcheck shell=bash source=tests/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$1"
set -u
bench() { "$mpiexec" -n "$1" "$build/bin/tutti-bench" "${@:2}"; }
