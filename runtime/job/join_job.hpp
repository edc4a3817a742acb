// SPDX-License-Identifier: BSD-3-Clause
// How ranks that another launcher has started find together: what mpiexec would have prepared for them, they make
// themselves.
//
// Each introduces itself and its arena; the lowest rank of each node makes the node's segment and says where it is; the
// others map it through /proc. Two exchanges over the launcher's server, three when ranks of one machine cannot share
// memory.
#pragma once

#include <string>
#include <vector>

#include "runtime/job/job_server.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti {

struct Joined {
    Segment segment;
    unsigned place;
    std::vector<int> listeners;            ///< sockets that the caller closes; none: all ranks are on one node
    std::vector<std::string> complaints;   ///< for rank 0 to tell, sentences without their full stops
};

/// Collective over the job. Of the variables those of the network count; `arena` is this rank's own. Throws Error.
Joined join_job(JobServer& server, Variables const& variables, ArenaWindow const& arena);

}   // namespace tutti
