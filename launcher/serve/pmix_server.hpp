// SPDX-License-Identifier: BSD-3-Clause
// Serves PMIx to the ranks of one node. libpmix listens, keeps the data and has a thread of its own; this class
// describes the job to it, and passes its requests to the launcher's loop: exchanges between nodes, and the ends of
// ranks.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "launcher/base/proc.hpp"
#include "launcher/serve/pmix_library.hpp"
#include "launcher/serve/rank_server.hpp"

namespace tutti::launcher {

class PmixServer {
public:
    /// Starts the server, which stores its files in a new folder in TMPDIR. There is at most one in a process. `host`
    /// and `node`: name and number of this node in the job. Throws LaunchError with what libpmix has printed about it.
    PmixServer(std::string const& host, int node);
    /// Ignores what ranks request from now on, and removes the folder.
    ~PmixServer();

    /// Called once, before ranks are connected. Throws LaunchError.
    void serve_job(ServedJob job);
    /// Returns the variables of a rank, which may be started afterwards. Throws LaunchError.
    std::vector<std::pair<std::string, std::string>> connect(std::size_t local_rank);

    /// Becomes readable when `serve` has something to do.
    int descriptor() const { return wakeup_.read.get(); }
    void serve(ServerOwner& owner);
    /// An exchange is complete. Ignores those of others.
    void complete(Exchanged const& result);

private:
    /// What libpmix's thread has reported.
    struct Event {
        enum class Kind { initialised, finalised, aborted, spawn, fence };
        Kind kind;
        int rank = -1, code = 0;                    ///< not of a fence
        std::string data{};                         ///< of a fence
        std::vector<int> ranks{};                   ///< that take part in a fence; empty: all
        pmix_op_cbfunc_t done = nullptr;            ///< answers the rank; not of a fence
        pmix_modex_cbfunc_t fence_done = nullptr;   ///< answers the ranks of a fence
        void* done_data = nullptr;
    };
    /// The functions that libpmix calls in its thread.
    struct Callbacks;

    void register_ranks();
    void describe_job(PmixInfos& infos) const;
    void describe_rank(PmixInfos& infos, int rank) const;
    std::string list_of_nodes() const;
    std::string list_of_ranks() const;
    std::string rank_folder(int rank) const { return folder_ + "/" + std::to_string(rank); }
    void add(Event event);
    void apply(Event const& event, ServerOwner& owner) const;
    void stop();
    void start_fence(Event event, ServerOwner& owner);

    ServedJob job_;
    std::unique_ptr<PmixCompletion> deregistered_;   ///< called when libpmix has removed the job; null: it has none
    PmixLibrary const& pmix_ = PmixLibrary::get();
    std::vector<int> local_ranks_;
    std::string folder_;
    Pipe wakeup_;
    std::mutex mutex_;
    std::vector<Event> events_;
    std::map<std::string, Event> fences_;   ///< by the name of their exchange
};

}   // namespace tutti::launcher
