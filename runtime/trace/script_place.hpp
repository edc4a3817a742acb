// SPDX-License-Identifier: BSD-3-Clause
// Where a program is that an interpreter runs, in the words of that interpreter. Known is CPython.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// "ring.py:12 in pass()": of the function that this thread is in, libraries for MPI left out. Empty where no
/// interpreter is, or it cannot tell. Safe while the thread is within an MPI call, whether or not it holds the
/// interpreter's lock; takes some microseconds.
std::string script_place();

/// The same out of a traceback as CPython writes it, the innermost first:
///   File "/home/me/ring.py", line 12 in pass
std::string script_place_in(std::string_view traceback);

}   // namespace tutti
