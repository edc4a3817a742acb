// SPDX-License-Identifier: BSD-3-Clause
// All servers of one node, for the ranks that may use another MPI library than Tutti's: PMI for each of them, and PMIx
// if a program needs it. Ranks of programs that are linked with Tutti's library have none.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

class RankServers {
public:
    RankServers();
    ~RankServers();

    /// Determines what the ranks of this node may need and can be offered. Ranks that are alone, and jobs of which a
    /// program is linked with Tutti's library, are offered nothing. Starts the PMIx server if it may be needed, because
    /// only that shows whether it can run here. `host` and `node`: name and number of this node in the job. Throws
    /// LaunchError if a program is linked with a library that needs PMIx, and the server cannot run.
    void prepare(Programs const& programs, int ranks, std::string const& host, int node);
    /// Returns the result of `prepare`.
    ServiceOffer const& offer() const { return offer_; }

    /// Serves the ranks of this job what all of its nodes can offer. Throws LaunchError.
    void start(ServedJob job, ServiceOffer common);
    /// Ends the servers, and removes what killed ranks have left. Called when all ranks have ended, before the other
    /// nodes learn that: mpiexec may end then, and with it the daemons.
    void stop();
    /// Returns true if there are servers to which ranks can be connected.
    bool is_started() const { return pmi_.has_value(); }

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
    /// Returns true if the rank has finalised MPI and closed its connection with the PMI server: another program of the
    /// rank, which has inherited the connection from the same script, cannot use it.
    bool has_closed(std::size_t local_rank) const { return pmi_ && pmi_->has_closed(local_rank); }
    /// An exchange to which this node has contributed is complete.
    void complete(Exchanged const& result);

private:
    ServiceOffer offer_;   ///< of this node; once started, of all nodes
    ServedJob job_;
    std::optional<PmiServer> pmi_;
    std::unique_ptr<PmixServer> pmix_;   ///< null: not offered
};

}   // namespace tutti::launcher
