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
#include <map>
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
#include "runtime/memory/xpmem.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "topo/text_streams.hpp"
#include "topo/this_machine.hpp"

namespace tutti {
namespace {

JobKey new_job_key() {
    JobKey key;
    if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        fail(ErrorClass::other, "the system provides no random bytes for the job's key: ", std::strerror(errno));
    return key;
}

std::string segment_location(Segment const& segment) {
    MemoryFile const file = memory_file(segment.descriptor());
    return join(file.process, ' ', file.descriptor, ' ', file.inode);
}

Segment attach_segment(std::string const& text, int owner) {
    MemoryFile file;
    if (!(TextReader(text) >> file.process >> file.descriptor >> file.inode))
        fail(ErrorClass::intern, "rank ", owner, " announced an invalid location of its memory: ", text);
    int const descriptor = open_memory_file(file);
    if (descriptor < 0)
        fail(ErrorClass::other, "cannot open the memory of rank ", owner, " on this node (", MemoryFileName(file).text,
             ": ", errno ? std::strerror(errno) : "another file",
             "). The ranks of a node must belong to one user, share a pid namespace, and run a program that they may "
             "read");
    return Segment::attach(descriptor);
}

class JobJoiner {
public:
    JobJoiner(JobServer& server, Variables const& variables, ArenaWindow const& arena)
        : server_(server), variables_(variables) {
        self_.realm = realm_of(server.local_ranks().front());
        self_.name = server.node_name().empty() ? host_name() : server.node_name();
        self_.units = topo::affinity_pus();
        self_.arena = arena;
        self_.cma = variables.cma;
        self_.xpmem = variables.xpmem;
    }

    JoinedJob run() {
        // All nodes choose alike, whatever files each has. The value starts with ':' because it must not be empty.
        if (server_.rank() == 0) server_.put(JobServer::Scope::job, "tutti.tuning", ':' + find_user_tuning());
        if (is_head()) machine_.start(self_.units);   // completes during the exchange
        if (!is_single_host()) start_listening();
        publish("tutti.rank");
        std::vector<int> const on_node = find_ranks_of_node();
        auto const local_rank = std::find(on_node.begin(), on_node.end(), server_.rank()) - on_node.begin();
        std::optional<Segment> segment;
        if (local_rank == 0) {
            segment = create_segment(on_node);
            server_.put(JobServer::Scope::node, "tutti.memory", segment_location(*segment));
        }
        server_.exchange();
        if (local_rank != 0) segment = attach_segment(server_.get(on_node.front(), "tutti.memory"), on_node.front());
        return {std::move(*segment), static_cast<unsigned>(local_rank), listener_.descriptors, std::move(diagnostics_)};
    }

private:
    bool is_single_host() const { return static_cast<int>(server_.local_ranks().size()) == server_.size(); }
    bool is_head() const { return server_.rank() == server_.local_ranks().front(); }

    /// Returns the ranks of this host with which this one shares memory, itself included. The first rank of the host
    /// compares all of them, so that the others get one value instead of one from each. If one host turns out to be
    /// several nodes, which all ranks then know, each announces itself once more, with its port.
    std::vector<int> find_ranks_of_node() {
        std::vector<int> const& local = server_.local_ranks();
        if (is_head()) {
            std::string leaders;   // the lowest rank of the realm of each local rank
            std::map<std::string, int> leader_of;
            for (int rank : local)
                leaders += join(leader_of.try_emplace(announcement_of(rank).realm, rank).first->second, ' ');
            server_.put(JobServer::Scope::node, "tutti.leaders", leaders);
        }
        server_.exchange();
        std::map<int, std::vector<int>> nodes;   // by their leaders
        int own_leader = -1;
        TextReader leaders(server_.get(local.front(), "tutti.leaders"));
        for (int rank : local) {
            int leader = -1;
            if (!(leaders >> leader)) fail(ErrorClass::intern, "rank ", local.front(), " announced too few ranks");
            nodes[leader].push_back(rank);
            if (rank == server_.rank()) own_leader = leader;
        }
        if (nodes.size() > 1 && is_single_host()) {
            start_listening();
            publish("tutti.rank.again");
        }
        return nodes[own_leader];
    }

    void start_listening() {
        self_.addresses = host_addresses(variables_.network);
        listener_ = listen_on(self_.addresses, variables_.port_range);
        self_.port = listener_.port;
    }

    void publish(char const* key) {
        key_ = key;
        server_.put(JobServer::Scope::job, key, self_.to_text());
        if (server_.rank() == 0 && !listener_.descriptors.empty()) {
            JobKey const job_key = new_job_key();
            server_.put(JobServer::Scope::job, "tutti.key",
                        {reinterpret_cast<char const*>(job_key.data()), job_key.size()});
        }
        server_.exchange();
    }

    RankAnnouncement announcement_of(int rank) const {
        auto one = RankAnnouncement::from_text(server_.get(rank, key_));
        if (!one) fail(ErrorClass::intern, "rank ", rank, ": ", one.error());
        return *one;
    }

    /// Creates the segment as mpiexec does. Only this rank of the node needs to know the whole job.
    Segment create_segment(std::vector<int> const& on_node) {
        std::vector<RankAnnouncement> neighbours;
        for (int rank : on_node) neighbours.push_back(announcement_of(rank));
        topo::NodeMap node{machine_.reduced_to(units_of(neighbours)), {}};
        node.placement = placement_of(neighbours, node.machine);
        std::string cluster;
        if (static_cast<int>(on_node.size()) < server_.size()) cluster = whole_cluster().to_text();
        std::vector<std::vector<int>> units;
        for (RankAnnouncement const& one : neighbours) units.push_back(one.units);
        NumaHomes const homes = numa_homes(kernel_numa(), units);
        Segment segment =
            Segment::create(static_cast<unsigned>(on_node.size()), node.to_text(),
                            server_.get(0, "tutti.tuning").substr(1), cluster, SegmentCreator::rank, &homes);
        for (unsigned local_rank = 0; local_rank < neighbours.size(); ++local_rank)
            segment.publish_arena(local_rank, neighbours[local_rank].arena);
        segment.header().usable_cores =
            static_cast<std::uint32_t>(topo::usable_cores(static_cast<int>(node.machine.pus.size())));
        // Each rank has its own environment here; a method that one of them does not permit is ruled out for all.
        bool const arenas =
            std::ranges::all_of(neighbours, [](RankAnnouncement const& one) { return one.arena.bytes > 0; });
        record_access(segment.header(), arenas, std::ranges::all_of(neighbours, &RankAnnouncement::cma),
                      std::ranges::all_of(neighbours, &RankAnnouncement::xpmem));
        return segment;
    }

    /// Returns the user's own tuning file; only the installation's programs know where the installation is.
    std::string find_user_tuning() {
        TuningFile const file =
            find_tuning_file(variables_.tuning, {user_tuning_path()}, topo::machine_in_sysfs(self_.units).machine);
        if (!file.diagnostic.empty()) diagnostics_.push_back(file.diagnostic);
        return file.text.empty() ? "" : file.name + "\n" + file.text;
    }

    Cluster whole_cluster() {
        std::vector<RankAnnouncement> all;
        for (int rank = 0; rank < server_.size(); ++rank) all.push_back(announcement_of(rank));
        if (std::vector<std::string> const names = divided_nodes(all); !names.empty())
            diagnostics_.push_back(join("the ranks on ", names[0],
                                        names.size() > 1 ? join(" and ", names.size() - 1, " other nodes") : "",
                                        " share no memory, because they are in separate containers or namespaces, or ",
                                        "on machines of the same name; their messages go over the network"));
        std::string const bytes = server_.get(0, "tutti.key");
        JobKey key;
        if (bytes.size() != key.size()) fail(ErrorClass::intern, "the job's key has ", bytes.size(), " bytes");
        std::memcpy(key.data(), bytes.data(), key.size());
        return cluster_of(all, nodes_of(all)[static_cast<std::size_t>(server_.rank())], key);
    }

    JobServer& server_;
    Variables const& variables_;
    RankAnnouncement self_;
    Listener listener_;
    NodeMachine machine_;
    std::vector<std::string> diagnostics_;
    char const* key_ = nullptr;   ///< key of all ranks' latest announcements
};

}   // namespace

JoinedJob join_job(JobServer& server, Variables const& variables, ArenaWindow const& arena) {
    return JobJoiner(server, variables, arena).run();
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

[[noreturn]] void fail_to_reopen(int descriptor, std::string const& reason) {
    fail(ErrorClass::other, "descriptor ", descriptor,
         ", through which mpiexec passes shared memory to its ranks, was ",
         "closed between mpiexec and this program, and the memory cannot be reopened (", reason,
         "). Keep the descriptor open in the command that starts the program (close_fds=False in Python, sudo -C ",
         descriptor + 1, "), or run that command in front of mpiexec");
}

/// Reopens the segment through the launcher's descriptor.
int reopen_segment(int descriptor, std::uint64_t inode) {
    MemoryFile file{.descriptor = descriptor, .inode = inode};
    char separator = 0;
    std::uint64_t launcher_namespace = 0;
    if (!read_variable(launch::launcher_variable, file.process, separator, launcher_namespace) || separator != '@')
        fail_to_reopen(descriptor, join(launch::launcher_variable, " does not name the launcher"));
    if (!same_pid_namespace(pid_namespace(), launcher_namespace))
        fail_to_reopen(descriptor, "mpiexec runs in another pid namespace");
    int const opened = open_memory_file(file);
    if (opened < 0)
        fail_to_reopen(descriptor,
                       join(MemoryFileName(file).text, ": ", errno ? std::strerror(errno) : "another file"));
    return opened;
}

}   // namespace

int inherited_segment(int descriptor) {
    std::uint64_t inode = 0;
    bool const is_known = read_variable(launch::segment_inode_variable, inode);
    if (!is_known || memory_file(descriptor).inode == inode) return descriptor;
    int const opened = reopen_segment(descriptor, inode);
    if (fcntl(descriptor, F_GETFD) >= 0 || dup3(opened, descriptor, O_CLOEXEC) < 0) return opened;
    close(opened);
    return descriptor;
}

}   // namespace tutti
