// SPDX-License-Identifier: BSD-3-Clause
// The time spent in each MPI call, measured through the profiling interface (MPI_X here calls PMPI_X), so that the
// rest of the program contains no measuring code.
#pragma once

#include <mpi.h>

namespace stencil {

void profile_pause(bool paused);                          ///< a paused profile counts nothing
void profile_report(MPI_Comm comm, double run_seconds);   ///< collective; rank 0 prints the table

}   // namespace stencil
