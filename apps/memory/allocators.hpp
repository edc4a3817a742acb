// SPDX-License-Identifier: BSD-3-Clause
// What it costs a program that its large blocks come from another allocator than the C library's.
#pragma once

/// Prints a table, both allocators in the same run, alternating. Where the MPI library leaves malloc alone, both
/// columns are the same allocator. Calls no MPI.
void compare_allocators(int rounds);
