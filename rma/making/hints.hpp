// SPDX-License-Identifier: BSD-3-Clause
// Hints of windows (MPI 3.1, 11.2.1; MPI 4.1, 12.2.1): which mean something here, and their values in use.
#pragma once

#include "rma/making/making.hpp"

namespace tutti::rma {

/// Fills the new window's info with the values in use, and takes those that decide something. Null: no hints.
void take_hints(Window& window, Hints given);

}   // namespace tutti::rma
