// SPDX-License-Identifier: BSD-3-Clause
// Locates an MPI call in the program. The stack is walked only on demand, so calls themselves pay nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/state/call_record.hpp"

namespace tutti {

/// Writes the return addresses of this thread's calls, innermost first, as many as fit, and returns their number.
/// Frames inside this library are skipped, so the first address is where the program calls MPI.
std::size_t program_stack(std::span<std::uint64_t> addresses);
/// Returns true if the address lies in this library, or in the program that it is linked into.
bool in_this_library(std::uint64_t address);
/// Returns the first address of program_stack(). `recorded` is a return address recorded by the call, which is cheaper
/// and usually the same; the stack is walked only if it lies in this library.
std::uint64_t program_site(void const* recorded);

// Location in an interpreted program, as the interpreter reports it. Only CPython is supported.

/// Returns, for example, "ring.py:12 in pass()": the function that this thread executes, leaving out MPI bindings
/// such as mpi4py. Returns an empty string if there is no interpreter or it cannot report a location. Safe while the
/// thread is inside an MPI call, whether or not it holds the interpreter's lock. Takes a few microseconds.
std::string script_location();

/// Publishes a call that the calling thread makes now. If memory is exhausted, the call has no script location.
void publish_current_call(PublishedCall& record, std::string_view call);

/// Extracts the location from a traceback in CPython's format, innermost frame first:
///   File "/home/me/ring.py", line 12 in pass
std::string parse_script_location(std::string_view traceback);

}   // namespace tutti
