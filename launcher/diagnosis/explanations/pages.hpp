// SPDX-License-Identifier: BSD-3-Clause
// The pages of `mpiexec --explain` by topic, for explanations.cpp, which sorts them.
#pragma once

#include <span>

#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {

std::span<Explanation const> messages_and_ends();   ///< T06 to T09
std::span<Explanation const> checks();              ///< T10 to T18: errors that are only detected by --check
std::span<Explanation const> errors_of_calls();     ///< MPI error classes of communication calls
std::span<Explanation const> errors_of_objects();   ///< the other MPI error classes, and MPI_Abort

}   // namespace tutti::launcher
