#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# In a job of several programs, each has its own MPI_APPNUM.
program=$1/tests/ranks_attr_application
exec "$1/bin/mpiexec" -n 1 "$program" 0 : -n 2 "$program" 1 : -n 1 "$program" 2
