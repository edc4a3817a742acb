// SPDX-License-Identifier: BSD-3-Clause
// A placeholder: a name that prebuilt programs may ask for, whose call ends the job with a sentence.
#pragma once

namespace tutti {

// Says which function is missing and ends the job, or this process where MPI is not running.
[[noreturn]] void end_for_missing(const char* function, const char* area);

}   // namespace tutti

// A macro, because the name of the function is all that differs and it has to be a C symbol.
#define TUTTI_PLACEHOLDER(name, area) \
    extern "C" [[noreturn, gnu::visibility("default")]] void name() { tutti::end_for_missing(#name, area); }
