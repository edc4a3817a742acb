// SPDX-License-Identifier: BSD-3-Clause
// MPI_INFO_ENV: what this process was started with (MPI 3.1, 10.5.3).
#pragma once

#include "mpi_h/entry/library_state.hpp"

namespace tutti {

/// The kinds of memory that buffers may lie in, in every info that the library returns (MPI 4.1, 11.4.3): what
/// MPI_Alloc_mem and its kin give, and what the program has from the system.
inline constexpr char memory_kinds_key[] = "mpi_memory_alloc_kinds", memory_kinds[] = "mpi,system";

/// Sets the standard's keys, as far as this process knows them.
void describe_start(Info& info, LibraryState const& f);

/// Makes the predefined object behind MPI_INFO_ENV; part of MPI_Init.
void place_info_env(LibraryState& f);

}   // namespace tutti
