// SPDX-License-Identifier: BSD-3-Clause
// The pages of `mpiexec --explain` by what they are about, for explanations.cpp, which puts them in order.
#pragma once

#include <span>

#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {

std::span<Explanation const> messages_and_ends();   ///< T06 to T09
std::span<Explanation const> checks();              ///< of mistakes that only --check looks for
std::span<Explanation const> errors_of_calls();     ///< MPI's error classes that the library gives,
std::span<Explanation const> errors_of_objects();   ///< and more of them

}   // namespace tutti::launcher
