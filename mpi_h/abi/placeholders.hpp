// SPDX-License-Identifier: BSD-3-Clause
// A placeholder: a name that prebuilt programs may refer to; calling it ends the job with a message.
#pragma once

namespace tutti {

/// Reports which function is missing and ends the job, or only this process if MPI is not running.
[[noreturn]] void abort_missing_function(const char* function, const char* area);

}   // namespace tutti

// A macro, because only the name differs and it has to be a C symbol.
#define TUTTI_PLACEHOLDER(name, area) \
    extern "C" [[noreturn, gnu::visibility("default")]] void name() { tutti::abort_missing_function(#name, area); }
