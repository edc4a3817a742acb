// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose MPI library is not Tutti's, such as MPICH's or Open MPI's, ask a server of their launcher who they are
// and exchange their addresses through it. This header has what all servers share: the job as they describe it, the
// events that they report, and the exchange of data between the launchers of several nodes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// The interfaces that servers offer to the ranks of a job. Later ones include earlier ones.
enum class Service { none, pmi, pmix };

/// What one node, or the whole job, can offer to ranks.
struct ServiceOffer {
    Service service = Service::none;
    std::string obstacle{};   ///< why it is not PMIx, although a program may need that; empty otherwise
};

/// The job as one node's servers describe it to its ranks.
struct ServedJob {
    std::string name;                 ///< the same on all nodes; no other job on these nodes has it (job_name)
    std::vector<std::string> nodes;   ///< names in the allocation, by number; each has ranks
    std::vector<int> node_of;         ///< number of the node, by world rank
    std::vector<int> program_of;      ///< index of the program, by world rank
    int node = 0;                     ///< number of this node

    int size() const { return static_cast<int>(node_of.size()); }
    /// Returns the world ranks on a node, ascending: the index in this list is the local rank.
    std::vector<int> ranks_on(int of_node) const;
    std::vector<int> all_nodes() const;
};

/// Returns a name for a job that mpiexec, this process, starts: letters, digits, dots and hyphens.
std::string job_name();

/// Returns the absolute path of the folder in which a launcher's PMIx server stores its files, without its random end:
/// in TMPDIR, or in /tmp if this node has no such folder, as the variable may be that of another node. The guardian
/// removes the folder if the launcher was killed.
std::string server_folder_prefix(pid_t launcher);
/// Makes a new one for this launcher. Throws LaunchError.
std::string make_server_folder();

/// One node's part of an exchange: every node in `nodes` contributes bytes, and then receives those of all.
struct Contribution {
    std::string exchange;     ///< name; at most one exchange with this name is in progress
    std::vector<int> nodes;   ///< ascending, the same in all parts of the exchange
    int node = -1;            ///< the node that contributes this part
    std::string bytes;
};

/// The result of an exchange.
struct Exchanged {
    std::string exchange;
    std::vector<std::string> parts;   ///< in the order of Contribution::nodes
};

/// A request about the names under which ranks publish ports. It is sent as an exchange of the node that asks, whose
/// result is a packed std::optional<std::string>: the port, or nothing if the request has failed.
struct NameRequest {
    static constexpr char exchange_name[] = "names";
    enum class Kind { publish, unpublish, look_up };
    Kind kind = Kind::look_up;
    std::string name, port{};
};
template <class A>
void members(A& a, NameRequest& r) {
    a(r.kind, r.name, r.port);
}

/// The exchanges that are in progress, and the published names, in the launcher that merges them.
class Exchanges {
public:
    /// Returns the result if this is the last missing part.
    std::optional<Exchanged> add(Contribution part);

private:
    std::optional<std::string> answer(NameRequest request);

    std::map<std::string, std::map<int, std::string>> parts_;
    std::map<std::string, std::string> ports_;   ///< by published name
};

/// The launcher as its servers see it.
class ServerOwner {
public:
    /// Contributes to an exchange. The result may arrive during this call, by `complete` of the server.
    virtual void exchange(Contribution part) = 0;
    /// A rank has initialised or finalised MPI.
    virtual void enter(std::size_t local_rank, RankPhase phase) = 0;
    /// A rank ends the job. `message`: its reason, unless it has printed that itself.
    virtual void abort(std::size_t local_rank, int code, std::string const& message) = 0;
    /// A rank has requested further processes, which it does not get.
    virtual void refuse_spawn(std::size_t local_rank) = 0;
    /// A rank has sent what the server cannot answer: ends the job. `message` continues "rank 3 on h1, process 47, ".
    virtual void refuse(std::size_t local_rank, std::string const& message) = 0;

protected:
    ~ServerOwner() = default;
};

}   // namespace tutti::launcher
