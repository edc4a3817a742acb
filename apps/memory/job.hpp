// SPDX-License-Identifier: BSD-3-Clause
// What all ranks of a job on one node take of its memory because of MPI.
#pragma once

/// Rank 0 prints a row after MPI_Init and a barrier, and one after each rank has sent 8 bytes to every other one.
/// Collective over all ranks.
void measure_job();
