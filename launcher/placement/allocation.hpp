// SPDX-License-Identifier: BSD-3-Clause
// Assigns ranks to nodes, and reads the names of nodes and Open MPI's rank files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "runtime/job/interfaces.hpp"
#include "topo/machine.hpp"

namespace tutti::launcher {

/// The node of each rank of a job.
struct Allocation {
    std::vector<std::string> nodes;   ///< names as given; only nodes that have ranks, in the order of their first rank
    std::vector<int> node_of;         ///< by world rank
    int local_node = -1;              ///< this launcher's node; −1 if it has no rank

    /// True if all ranks are on this launcher's node.
    bool is_single_node() const { return nodes.size() == 1 && local_node == 0; }
    /// Returns the name of this launcher's node, which must have a rank.
    std::string const& local_host() const { return nodes[static_cast<std::size_t>(local_node)]; }
    /// World ranks on a node, ascending: the index in this list is the local rank.
    std::vector<int> ranks_on(int node) const;
};

/// Assigns each rank to a node. Fills the slots of each host in turn and starts over if there are more ranks than
/// slots; with --map-by node, deals the ranks out round robin. A host without a slot count has one slot; -ppn
/// replaces all slot counts. A program that names hosts uses only these. With --rank-by node, the ranks of each
/// program are numbered across its nodes. A rank file replaces all of this. `own` is this host's name. Throws
/// LaunchError if the hosts may not have more ranks (max-slots, --nooversubscribe).
Allocation allocate(Job const& job, std::string const& own);

/// Returns the number of slots of all hosts, for a job that does not specify its number of ranks; at least 1.
int total_slots(std::vector<Host> const& hosts, int per_node, std::string const& own);

template <class A>
void members(A& a, Allocation& allocation) {
    a(allocation.nodes, allocation.node_of, allocation.local_node);
}

// Names of nodes, from options, files and the environment of a resource manager. No name is ever resolved: a name
// means this node if its text is one of this node's names (host_name) or the address of one of its interfaces.

/// True for localhost and its spellings, 127.0.0.1 and ::1, `own` with or without its domain, and the addresses of
/// this host's interfaces. Other loopback addresses are separate nodes, so that several nodes can be simulated on one
/// machine.
bool is_this_node(std::string_view name, std::string_view own);

/// True if the texts name the same node: they are equal, with or without a domain.
bool same_node(std::string_view a, std::string_view b);

/// Appends the hosts of a list such as "a,b:4,c" to `hosts`.
void add_host_list(std::vector<Host>& hosts, std::string_view text);

/// Appends the hosts of a file with lines "NAME", "NAME:SLOTS" or "NAME slots=SLOTS max-slots=MOST user=NAME"; #
/// begins a comment. Settings that are understood but have no effect here are reported in `notes`. Throws LaunchError
/// with the line.
void add_host_file(std::vector<Host>& hosts, std::string const& file, std::vector<std::string>& notes);

/// Returns text from a file in a printable form: without bytes that a terminal would interpret, and of limited
/// length.
std::string printable(std::string_view text);

/// A function that returns the value of an environment variable, or null.
using Getenv = std::function<char const*(char const*)>;

/// The nodes of a resource manager's job.
struct ManagedHosts {
    std::vector<Host> hosts;
    std::string agent;   ///< command by which it starts a daemon on one of them, as of --launcher-agent; empty: none
};

/// Returns the nodes that Slurm, Flux, PBS, LSF, Grid Engine, Cobalt or OAR has allocated to this job; empty outside of
/// them. `manager` selects one of slurm, flux, pbs, lsf, sge, cobalt and oar; `user` selects none, and an empty text
/// whichever is present. Throws LaunchError if the allocation cannot be parsed, or if the selected resource manager is
/// not present.
ManagedHosts hosts_of_resource_manager(Getenv const& variable, std::string_view manager = {});

/// Returns the hosts of the file that a variable of MPICH, Intel MPI or Open MPI names (HYDRA_HOST_FILE,
/// I_MPI_HYDRA_HOST_FILE, OMPI_MCA_orte_default_hostfile); Kubernetes' mpi-operator sets them. Empty if none is set.
/// `notes` as for add_host_file. Throws LaunchError.
std::vector<Host> hosts_of_variables(Getenv const& variable, std::vector<std::string>& notes);
/// Returns true if one of these variables names this file.
bool is_host_file_of_variables(Getenv const& variable, std::string const& file);

/// Returns the agent that starts daemons on other nodes, as such variables describe it: a launcher by its name
/// (HYDRA_LAUNCHER, I_MPI_HYDRA_BOOTSTRAP), the path of a command in its place (HYDRA_LAUNCHER_EXEC,
/// I_MPI_HYDRA_BOOTSTRAP_EXEC) or a command with arguments (OMPI_MCA_plm_rsh_agent), and further arguments for any of
/// these (HYDRA_LAUNCH_EXTRA_ARGS, I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS, OMPI_MCA_plm_rsh_args). Empty if none is set.
/// Appends a message to `notes` if the launcher is unknown. Throws LaunchError, which names the variable, for a
/// quotation that is not closed.
std::string agent_of_variables(Getenv const& variable, std::vector<std::string>& notes);

// Commands of resource managers that start a daemon on one of their nodes: AGENT HOST COMMAND. They need neither ssh
// nor a name that can be resolved. Frames must not wait in a buffer for the end of a line. The daemon places the ranks
// itself, on all cores of the job. blaunch -n, which Hydra uses, would take away the daemon's standard input.
inline constexpr char slurm_agent[] =
    "srun --quiet --unbuffered --overlap --mpi=none --cpu-bind=none --nodes=1 --ntasks=1 --nodelist";
inline constexpr char flux_agent[] =
    "sh -c 'rank=$(flux overlay lookup \"$0\") && "
    "exec flux exec --quiet --setopt=stdout_LINE_BUFFER=false --rank=\"$rank\" sh -c \"$*\"'";
inline constexpr char lsf_agent[] = "blaunch", grid_engine_agent[] = "qrsh -inherit -V";

/// Returns the agent that has this name as Hydra's launcher: ssh, rsh, slurm, flux, lsf or sge; null for others.
char const* agent_named(std::string_view name);

/// Returns the nodes in the output of `flux resource R`, with a slot for each core. Throws LaunchError.
std::vector<Host> parse_flux_resources(std::string const& text);

/// Expands "a[01-03,7],b" to a01 a02 a03 a7 b. Throws LaunchError.
std::vector<std::string> expand_slurm_list(std::string_view text);

// Open MPI's rank files: one line "rank 0=node1 slot=0-3" per rank, with its node and its cores.

/// Returns the lines of a rank file in the order of ranks, which must be numbered from 0 without a gap. `hosts`: the
/// job's nodes, to which "+n0" (the first one) and so on refer. Throws LaunchError with the line.
std::vector<RankFileEntry> read_rank_file(std::string const& file, std::vector<Host> const& hosts);

/// Returns an entry for each rank from MPICH's list of host numbers (0: the first of `hosts`), such as "0,0,1" or, in
/// blocks of first host, number of hosts and ranks on each, "(0,2,2),2"; also inside "(vector,…)". Throws LaunchError.
std::vector<RankFileEntry> read_rank_map(std::string_view text, std::vector<Host> const& hosts);

/// Returns an entry for each line of a file, whose first word is a host name; without a file, one for each of `hosts`.
/// Throws LaunchError.
std::vector<RankFileEntry> read_sequence(std::string const& file, std::vector<Host> const& hosts);

/// Returns the processing units (numbered by the operating system) that `slot=` names on this machine: "0-2,5" are
/// cores counted over the machine, "1:0-2" cores counted within socket 1, "1:*" all cores of socket 1, "p4" a
/// processing unit. Throws LaunchError.
std::vector<int> slot_units(std::string_view slots, topo::Machine const& machine);

/// Expands "0,2-4" to 0 2 3 4. Throws LaunchError with `what` in front.
std::vector<int> parse_number_list(std::string_view what, std::string_view text);

}   // namespace tutti::launcher
