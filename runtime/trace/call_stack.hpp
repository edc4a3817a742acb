// SPDX-License-Identifier: BSD-3-Clause
// Where in the program an MPI call is made: the stack is walked when somebody wants to know, so that a call pays
// nothing for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

/// Writes the return addresses of this thread's calls, the innermost first, as many as there is room for; returns how
/// many. What lies in this library is left out, so the first one is where the program calls MPI.
std::size_t program_stack(std::span<std::uint64_t> addresses);
/// Does the address lie in this library, or in the program that it is linked into?
bool in_this_library(std::uint64_t address);
/// The first of these. `noted` is a return address of the call, which costs less to note and is the same, unless it
/// lies in this library: only then the stack is walked.
std::uint64_t program_site(void const* noted);

}   // namespace tutti
