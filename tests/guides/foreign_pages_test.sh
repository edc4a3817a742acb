#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Executes the blocks of README.md and guides/*.md that need packages of tests/run.sh --foreign.
# cores: 2
. "$(dirname "$0")/../common.sh" "$1"
need_package libmpich-dev mpicxx.mpich
need_package libopenmpi-dev mpicxx.openmpi
bash "$here/pages_test.sh" "$1" --foreign
