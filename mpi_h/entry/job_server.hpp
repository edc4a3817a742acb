// SPDX-License-Identifier: BSD-3-Clause
// What has started this rank when it was not our mpiexec. Beside the LibraryState, because only the rank's beginning
// and its end have to do with it.
#pragma once

#include <memory>

#include "runtime/job/job_server.hpp"

namespace tutti {

/// Null before MPI_Init, without a launcher, and under our mpiexec.
std::unique_ptr<JobServer>& job_server();

}   // namespace tutti
