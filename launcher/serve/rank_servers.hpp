// SPDX-License-Identifier: BSD-3-Clause
// All servers of one node, for the ranks that may use another MPI library than Tutti's: PMI for each of them, and PMIx
// if a program needs it. Ranks of programs that are linked with Tutti's library have none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

#include "launcher/base/proc.hpp"
#include "launcher/serve/pmi_server.hpp"
#include "launcher/serve/rank_server.hpp"
#include "launcher/start/programs.hpp"

namespace tutti::launcher {

class PmixServer;

/// Returns what the ranks of this node need and can be offered. Ranks that are alone, and jobs of which a program is
/// linked with Tutti's library, are offered nothing. Throws LaunchError if a program needs PMIx, and libpmix cannot be
/// loaded.
Service service_for(Programs const& programs, int ranks);

class RankServers {
public:
    /// Throws LaunchError if a server cannot be started.
    RankServers(ServedJob job, Service service);
    ~RankServers();

    /// What a rank needs to reach its servers.
    struct Access {
        std::vector<std::pair<std::string, std::string>> variables;   ///< name and value
        Descriptor descriptor;   ///< inherited by the rank; closed by the caller when it has started
    };
    Access connect(std::size_t local_rank);

    /// Returns true if a rank that has loaded this MPI library, whose file may have a folder, can join the job.
    bool serves(std::string_view library) const;

    void watch(std::vector<pollfd>& set) const;
    /// Answers the requests that have arrived.
    void serve(std::vector<pollfd> const& set, ServerOwner& owner);
    /// Answers those of a rank that has ended, so that its last request counts.
    void serve_rank(std::size_t local_rank, ServerOwner& owner);
    /// An exchange to which this node has contributed is complete.
    void complete(Exchanged const& result);

private:
    ServedJob job_;
    PmiServer pmi_{job_};
    std::unique_ptr<PmixServer> pmix_;   ///< null: not offered
};

}   // namespace tutti::launcher
