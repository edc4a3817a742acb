// SPDX-License-Identifier: BSD-3-Clause
// A JobServer that uses PMIx. The client library (libpmix.so.2) is loaded at run time and only if there is a server,
// so programs do not depend on it and start on one node without delay; it needs 10 to 20 ms.
#pragma once

#include <memory>

#include "runtime/job/join_job.hpp"

namespace tutti {

/// Returns true if the environment names a server. Two getenv calls.
bool is_pmix_available();

/// Loads the library and connects to the server. Removes the variables that name the server from the environment,
/// because processes that this one starts later are not ranks. Throws Error with the reason.
std::unique_ptr<JobServer> connect_pmix();

}   // namespace tutti
