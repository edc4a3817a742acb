// SPDX-License-Identifier: BSD-3-Clause
// What the program leaves behind in MPI_Finalize.
#pragma once

#include "mpi_h/entry/library_state.hpp"

namespace tutti {

/// Warns of requests that were not completed and of messages that nobody received; with TUTTI_DIAGNOSIS=full also of
/// objects that were not freed, which are only counted otherwise (RankState::not_freed). When nothing more comes, and
/// before anything is torn down.
void tell_leftovers(LibraryState& f);

}   // namespace tutti
