// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm did the last call, where the library tells: by a variable of MPI_T (MPI 3.1, 14.3.7) of the
// communicator, named tutti_<collective>_algorithm.
#pragma once

#include "../operations/operation.hpp"

namespace bench {

// Empty where the library tells nothing.
std::string algorithm_of_last_call(const Operation &operation, MPI_Comm comm);

} // namespace bench
