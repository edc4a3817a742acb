// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous of ranks that another launcher has started, the helper program's path and environment, and the inherited
// segment.
#include "runtime/job/join_job.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/job/node_machine.hpp"
#include "runtime/job/rank_announcement.hpp"
#include "runtime/memory/numa.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "topo/text_streams.hpp"
#include "topo/this_machine.hpp"

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
        // All nodes choose alike, whatever files each has. The value starts with ':' because it must not be empty.
        if (server_.rank() == 0) server_.put(JobServer::Reach::job, "tutti.tuning", ':' + tuning());
        if (server_.rank() == server_.local_ranks().front())
            machine_.start(self_.units);   // completes during the exchange
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

    /// Announces this rank. Listens only if there is another node. One host can turn out to be several, which all ranks
    /// detect alike.
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

    /// Creates the segment as mpiexec does. Only this rank of the node needs to know the whole job.
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

    /// Returns the user's own tuning file; only the installation's programs know where the installation is.
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
    char const* key_ = nullptr;   ///< key of all ranks' latest announcements
};

}   // namespace

Joined join_job(JobServer& server, Variables const& variables, ArenaWindow const& arena) {
    return Start(server, variables, arena).run();
}

// Relative to the library, both as installed and in a build folder.

std::string daemon_program() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&daemon_program), &here) == 0 || !here.dli_fname) return {};
    std::error_code none;
    return (std::filesystem::absolute(here.dli_fname, none).parent_path() / TUTTI_PROGRAMS_FROM_LIBRARIES /
            "tutti-daemon")
        .lexically_normal();
}

std::vector<char*> daemon_environment() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) kept.push_back(*variable);
    kept.push_back(nullptr);
    return kept;
}

namespace {

template <class... Parts>
bool read_variable(char const* name, Parts&... parts) {
    char const* const text = std::getenv(name);
    TextReader in(text ? text : "");
    return static_cast<bool>((in >> ... >> parts));
}

[[noreturn]] void give_up(int descriptor, std::string const& why) {
    fail(ErrorClass::other, "descriptor ", descriptor, ", by which mpiexec gives its ranks their shared memory, was ",
         "closed between mpiexec and this program, and that memory cannot be opened again (", why,
         "): see that what starts the program keeps it open (close_fds=False in Python, sudo -C ", descriptor + 1,
         "), or put it in front of mpiexec");
}

/// Reopens the segment through the launcher's descriptor.
int open_again(int descriptor, std::uint64_t inode) {
    MemoryFile file{.descriptor = descriptor, .inode = inode};
    char at = 0;
    std::uint64_t space = 0;
    if (!read_variable(launch::launcher_variable, file.process, at, space) || at != '@')
        give_up(descriptor, join(launch::launcher_variable, " does not say who has it"));
    if (!same_numbers(pid_namespace(), space)) give_up(descriptor, "mpiexec is in another pid namespace");
    int const opened = open_memory_file(file);
    if (opened < 0)
        give_up(descriptor, join(MemoryFileName(file).text, ": ", errno ? std::strerror(errno) : "another file"));
    return opened;
}

}   // namespace

int inherited_segment(int descriptor) {
    std::uint64_t inode = 0;
    bool const known = read_variable(launch::segment_inode_variable, inode);
    if (!known || memory_file(descriptor).inode == inode) return descriptor;
    int const opened = open_again(descriptor, inode);
    if (fcntl(descriptor, F_GETFD) >= 0 || dup3(opened, descriptor, O_CLOEXEC) < 0) return opened;
    close(opened);
    return descriptor;
}

}   // namespace tutti
