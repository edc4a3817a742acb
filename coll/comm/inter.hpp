// SPDX-License-Identifier: BSD-3-Clause
// From two groups to an intercommunicator, and from an intercommunicator to one group (MPI 3.1, 6.6.2).
#pragma once

#include <optional>

#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// How a group's leader reaches the other group's.
struct Bridge {
    Comm* peer;
    int remote_leader;   ///< a rank among peer's peers
    int tag;
};

/// Collective over `local` and over the other group's intracommunicator. The leader alone brings a bridge; when it has
/// none to bring, every member of `local` throws, and so do all of both groups when these overlap or memory is used up.
/// The error handler is `local`'s.
Ref<Comm> connect(Comm& local, int leader, std::optional<Bridge> const& bridge);

/// Collective over both groups of an intercommunicator: those who say `high` come behind those who do not. Where both
/// sides say the same, the side that has been made first of them comes first. Throws when one side says both.
Ref<Comm> merge(Comm& inter, bool high);

}   // namespace tutti::coll
