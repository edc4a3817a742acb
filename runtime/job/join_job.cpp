// SPDX-License-Identifier: BSD-3-Clause
// Finding together.
#include "runtime/job/join_job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <sys/random.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/job/introduction.hpp"
#include "runtime/job/listener.hpp"
#include "runtime/job/node_machine.hpp"
#include "runtime/memory/placement/numa.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "topo/base/text_streams.hpp"
#include "topo/machine/sysfs.hpp"
#include "topo/machine/usable.hpp"

namespace tutti {
namespace {

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

JobKey fresh_key() {
    JobKey key;
    if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        fail(ErrorClass::other, "the system gives no random bytes for the job's key: ", std::strerror(errno));
    return key;
}

std::string whereabouts(Segment const& segment) {
    MemoryFile const file = memory_file(segment.descriptor());
    return join(file.process, ' ', file.descriptor, ' ', file.inode);
}

Segment attach_at(std::string const& text, int owner) {
    MemoryFile file;
    if (!(TextReader(text) >> file.process >> file.descriptor >> file.inode))
        fail(ErrorClass::intern, "rank ", owner, " says of its memory: ", text);
    int const descriptor = open_memory_file(file);
    if (descriptor < 0)
        fail(ErrorClass::other, "the memory of rank ", owner, " on this node cannot be opened (",
             MemoryFileName(file).text, ": ", errno ? std::strerror(errno) : "another file",
             "): ranks of a node must belong to one user, see each other, and run a program that they may read");
    return Segment::attach(descriptor);
}

class Start {
public:
    Start(JobServer& server, Variables const& variables, ArenaWindow const& arena)
        : server_(server), variables_(variables) {
        self_.realm = realm_of(server.local_ranks().front());
        self_.name = server.node_name().empty() ? host_name() : server.node_name();
        self_.units = topo::affinity_pus();
        self_.arena = arena;
    }

    Joined run() {
        // All nodes choose alike, whatever files each has. Something stands in front, as a value must not be empty.
        if (server_.rank() == 0) server_.put(JobServer::Reach::job, "tutti.tuning", ':' + tuning());
        if (server_.rank() == server_.local_ranks().front())
            machine_.start(self_.units);   // is ready after the exchange
        introduce();
        std::vector<int> const on_node = ranks_like_me();
        auto const place = std::find(on_node.begin(), on_node.end(), server_.rank()) - on_node.begin();
        if (on_node.size() < server_.local_ranks().size())
            complaints_.push_back(
                "ranks of this machine do not see each other's processes, as in containers of their "
                "own: they share no memory, and their messages go over the network");
        std::optional<Segment> segment;
        if (place == 0) {
            segment = make_segment(on_node);
            server_.put(JobServer::Reach::node, "tutti.memory", whereabouts(*segment));
        }
        server_.exchange();
        if (place != 0) segment = attach_at(server_.get(on_node.front(), "tutti.memory"), on_node.front());
        return {std::move(*segment), static_cast<unsigned>(place), listener_.descriptors, std::move(complaints_)};
    }

private:
    bool one_host() const { return static_cast<int>(server_.local_ranks().size()) == server_.size(); }

    /// Sockets only where there is another node. One host can turn out to be several: everybody sees that then.
    void introduce() {
        if (!one_host()) start_listening();
        tell("tutti.rank");
        if (!one_host() || ranks_like_me().size() == server_.local_ranks().size()) return;
        start_listening();
        tell("tutti.rank.again");
    }

    void start_listening() {
        self_.addresses = own_addresses(variables_.network);
        listener_ = listen_on(self_.addresses, variables_.port_range);
        self_.port = listener_.port;
    }

    void tell(char const* key) {
        key_ = key;
        server_.put(JobServer::Reach::job, key, self_.to_text());
        if (server_.rank() == 0 && !listener_.descriptors.empty()) {
            JobKey const key_of_job = fresh_key();
            server_.put(JobServer::Reach::job, "tutti.key",
                        {reinterpret_cast<char const*>(key_of_job.data()), key_of_job.size()});
        }
        server_.exchange();
    }

    Introduction known(int rank) const {
        auto one = Introduction::from_text(server_.get(rank, key_));
        if (!one) fail(ErrorClass::intern, "rank ", rank, ": ", one.error());
        return *one;
    }

    std::vector<int> ranks_like_me() const {
        std::vector<int> same;
        for (int rank : server_.local_ranks())
            if (known(rank).realm == self_.realm) same.push_back(rank);
        return same;
    }

    /// As mpiexec does. Only this rank of the node needs to know the whole job.
    Segment make_segment(std::vector<int> const& on_node) {
        std::vector<Introduction> neighbours;
        for (int rank : on_node) neighbours.push_back(known(rank));
        topo::NodeMap node{machine_.reduced_to(units_of(neighbours)), {}};
        node.placement = placement_of(neighbours, node.machine);
        std::string cluster;
        if (static_cast<int>(on_node.size()) < server_.size()) cluster = everybody().to_text();
        std::vector<std::vector<int>> units;
        for (Introduction const& one : neighbours) units.push_back(one.units);
        Homes const homes = homes_of(kernel_numa(), units);
        Segment segment = Segment::create(static_cast<unsigned>(on_node.size()), node.to_text(),
                                          server_.get(0, "tutti.tuning").substr(1), cluster, Maker::rank, &homes);
        for (unsigned place = 0; place < neighbours.size(); ++place) segment.show(place, neighbours[place].arena);
        segment.header().usable_cores =
            static_cast<std::uint32_t>(topo::usable_cores(static_cast<int>(node.machine.pus.size())));
        return segment;
    }

    /// The user's own file: where the installation is, only its programs know.
    std::string tuning() {
        TuningFile const file =
            find_tuning(variables_.tuning, {user_tuning_name()}, topo::machine_in_sysfs(self_.units).machine);
        if (!file.complaint.empty()) complaints_.push_back(file.complaint);
        return file.text.empty() ? "" : file.name + "\n" + file.text;
    }

    Cluster everybody() const {
        std::vector<Introduction> all;
        for (int rank = 0; rank < server_.size(); ++rank) all.push_back(known(rank));
        std::string const bytes = server_.get(0, "tutti.key");
        JobKey key;
        if (bytes.size() != key.size()) fail(ErrorClass::intern, "the job's key has ", bytes.size(), " bytes");
        std::memcpy(key.data(), bytes.data(), key.size());
        return cluster_of(all, nodes_of(all)[static_cast<std::size_t>(server_.rank())], key);
    }

    JobServer& server_;
    Variables const& variables_;
    Introduction self_;
    Listener listener_;
    NodeMachine machine_;
    std::vector<std::string> complaints_;
    char const* key_ = nullptr;   ///< under which everybody's newest words are
};

}   // namespace

Joined join_job(JobServer& server, Variables const& variables, ArenaWindow const& arena) {
    return Start(server, variables, arena).run();
}

}   // namespace tutti
