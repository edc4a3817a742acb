// SPDX-License-Identifier: BSD-3-Clause
// What hardware this process is restricted to, at the moment of asking: its affinity may change while it runs.
#pragma once

#include "runtime/process.hpp"
#include "topo/binding/restriction.hpp"

namespace tutti {

/// By the affinity of the calling thread; on a pretended machine by the place there. A processing unit that the
/// launcher did not see (it lies outside of its own affinity) lifts every restriction but that to the node.
topo::Restriction restriction(Process const& process);

}   // namespace tutti
