// SPDX-License-Identifier: BSD-3-Clause
// Ends the job when a prebuilt program calls a function that Tutti does not provide.
#include "mpi_h/abi/placeholders.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace tutti {

void abort_missing_function(const char* function, const char* area) {
    std::fprintf(stderr, "Tutti does not offer %s yet (it belongs to %s), so the job ends here.\n", function, area);
    std::fflush(nullptr);
    int initialized = 0;
    int finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (initialized != 0 && finalized == 0) PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    std::_Exit(EXIT_FAILURE);
}

}   // namespace tutti
