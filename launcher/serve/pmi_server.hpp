// SPDX-License-Identifier: BSD-3-Clause
// Serves PMI, versions 1 and 2, to the ranks of one node: each rank has a socket, on which it sends one request at a
// time. What a rank puts is visible to all ranks after a barrier of the whole job, in which the nodes exchange their
// keys.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include "launcher/base/proc.hpp"
#include "launcher/serve/pmi_message.hpp"
#include "launcher/serve/rank_server.hpp"

namespace tutti::launcher {

class PmiServer {
public:
    /// The name of the exchange by which nodes pass on their keys.
    static constexpr char exchange_name[] = "pmi";

    /// `job` must stay valid as long as this object.
    explicit PmiServer(ServedJob const& job);
    ~PmiServer();

    /// Returns the rank's end of its socket, which is closed on exec; the rank's variable PMI_FD names it. The caller
    /// closes it when the rank has started.
    Descriptor connect(std::size_t local_rank);

    void watch(std::vector<pollfd>& set) const;
    /// Answers the requests that have arrived.
    void serve(std::vector<pollfd> const& set, ServerOwner& owner);
    /// Answers those of one rank: called when it has ended, so that its last request counts.
    void serve_rank(std::size_t local_rank, ServerOwner& owner);
    /// Returns true if the rank has closed its socket after it had finalised MPI.
    bool has_closed(std::size_t local_rank) const;
    /// The exchange of a barrier is complete.
    void complete(Exchanged const& result);
    /// The oldest request about a name has been answered.
    void complete_name(Exchanged const& result);

private:
    using Keys = std::map<std::string, std::string, std::less<>>;
    using Fields = std::vector<std::pair<std::string, std::string>>;
    struct Client {
        std::size_t local_rank;
        int rank;
        Descriptor socket{};
        int version = 1;   ///< of the messages
        std::string received{}, unsent{};
        // Requests that wait for their answers. A client of several threads may send others meanwhile.
        std::optional<PmiMessage> barrier{};
        std::vector<PmiMessage> attributes{};   ///< of the node, which no rank has put yet
        bool is_finalized = false;
    };

    void receive(Client& client, ServerOwner& owner);
    void answer(Client& client, PmiMessage const& request, ServerOwner& owner);
    /// Return false if the version has no such request.
    bool answer_version_one(Client& client, PmiMessage const& request, ServerOwner& owner);
    bool answer_version_two(Client& client, PmiMessage const& request, ServerOwner& owner);
    void start(Client& client, PmiMessage const& request, ServerOwner& owner);
    void finalize(Client& client, PmiMessage const& request, ServerOwner& owner);
    void put(Client& client, PmiMessage const& request);
    void get(Client& client, PmiMessage const& request, std::string const* value);
    void put_attribute(Client& client, PmiMessage const& request);
    /// Returns false if the answer must wait.
    bool get_attribute(Client& client, PmiMessage const& request);
    void enter_barrier(Client& client, PmiMessage const& request, ServerOwner& owner);
    /// Passes on a request about a published name.
    void ask(Client& client, PmiMessage const& request, NameRequest::Kind kind, ServerOwner& owner);
    void refuse_spawn(Client& client, PmiMessage const& request, ServerOwner& owner);
    void report_failure(Client& client, PmiMessage const& request);
    void reply(Client& client, std::string const& command, Fields fields);
    /// Sends the answer to a request of version 2.
    void reply_two(Client& client, PmiMessage const& request, Fields fields, int error = 0);
    void send(Client& client, std::string const& bytes);
    std::string const* find(std::string const& key) const;

    ServedJob const& job_;
    std::string mapping_;                            ///< PMI_process_mapping; empty: too long for a value
    std::vector<std::unique_ptr<Client>> clients_;   ///< by local rank; null: not connected
    std::size_t local_ranks_, in_barrier_ = 0;
    Keys keys_, attributes_;
    std::deque<std::pair<Client*, PmiMessage>> name_requests_;    ///< not answered yet, oldest first
    std::vector<std::pair<std::string, std::string>> new_keys_;   ///< put since the last barrier
};

/// Returns the node of each rank in the notation of PMI_process_mapping, "(vector,(0,2,4))": blocks of first node,
/// number of nodes, and ranks on each. Nodes are numbered in the order of their first rank.
std::string process_mapping(std::vector<int> const& node_of);

}   // namespace tutti::launcher
