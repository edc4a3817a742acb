// SPDX-License-Identifier: BSD-3-Clause
// MPI_INFO_ENV: what this process was started with (MPI 3.1, 10.5.3).
#pragma once

#include "mpi_h/entry/library_state.hpp"

namespace tutti {

/// Sets the standard's keys, as far as this process knows them.
void describe_start(Info& info, LibraryState const& f);

/// Makes the predefined object behind MPI_INFO_ENV; part of MPI_Init.
void place_info_env(LibraryState& f);

}   // namespace tutti
