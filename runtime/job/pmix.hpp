// SPDX-License-Identifier: BSD-3-Clause
// The server behind PMIx. Its client library (libpmix.so.2) is loaded at run time and only where a server is there, so
// that programs do not depend on it and start on one node as fast as ever; it needs 10 to 20 ms.
#pragma once

#include <memory>

#include "runtime/job/job_server.hpp"

namespace tutti {

/// Does the environment name a server? Costs two looks into it.
bool pmix_offered();

/// Loads the library and connects to the server. What this process starts later is no rank: the variables that name
/// the server are taken out of the environment. Throws Error with the reason.
std::unique_ptr<JobServer> connect_pmix();

}   // namespace tutti
