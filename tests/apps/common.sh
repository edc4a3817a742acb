# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Sourced with the build folder: a folder of the test's own, and `wrong SENTENCE`, after which `failed` is 1.
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -w /dev/shm ] || export UCX_POSIX_DIR=$folder # MPICH's UCX ends without a place for its segments
failed=0
wrong() { echo "WRONG: $*"; failed=1; }
