// SPDX-License-Identifier: BSD-3-Clause
// A placeholder: a name that prebuilt programs may refer to although Tutti does not provide it; calling it ends the job
// with a message. The generated list of placeholders includes this file.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace tutti {

/// Reports which function is missing and ends the job, or only this process if MPI is not running.
[[noreturn]] inline void abort_missing_function(const char* function, const char* area) {
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

// A macro, because only the name differs and it has to be a C symbol.
#define TUTTI_PLACEHOLDER(name, area) \
    extern "C" [[noreturn, gnu::visibility("default")]] void name() { tutti::abort_missing_function(#name, area); }
