// SPDX-License-Identifier: BSD-3-Clause
// Names of nodes, from options, files and the environment of a resource manager. No name is ever resolved: a name means
// this node when it is one of this node's own by its letters, or the address of one of its interfaces.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"

namespace tutti::launcher {

/// As gethostname tells.
std::string host_name();

/// localhost and its spellings, 127.0.0.1 and ::1, `own` with or without its domain, and the addresses of this host's
/// interfaces. Other loopback addresses are nodes of their own: so several can be tried out on one machine.
bool means_this_node(std::string_view name, std::string_view own);

/// Two names of one node, as far as letters tell: with and without its domain.
bool same_node(std::string_view a, std::string_view b);

/// "a,b:4,c" → hosts behind those that are there.
void add_host_list(std::vector<Host>& hosts, std::string_view text);

/// The same from a file of lines "NAME", "NAME:SLOTS" or "NAME slots=SLOTS max-slots=MOST user=NAME"; # begins a
/// comment. What is understood and has no effect here becomes a sentence in `notes`. Throws Complaint, with the line.
void add_host_file(std::vector<Host>& hosts, std::string const& file, std::vector<std::string>& notes);

/// Text from a file as a sentence may show it: no byte that a terminal would obey, and not too much of it.
std::string shown(std::string_view text);

/// What gives a variable of the environment, or null.
using Getenv = std::function<char const*(char const*)>;

/// The nodes that Slurm, PBS, LSF, Grid Engine, Cobalt or OAR has given to this job; empty outside of them. `manager`:
/// slurm, pbs, lsf, sge, cobalt or oar asks for that one, user for none, an empty text for whichever is there. Throws
/// Complaint when what they say cannot be read, or the one that is asked for is not there.
std::vector<Host> hosts_of_resource_manager(Getenv const& variable, std::string_view manager = {});

/// Unbuffered, or frames wait for the end of a line. The daemon places ranks by itself, on all cores of the job.
inline constexpr char agent_of_slurm[] =
    "srun --quiet --unbuffered --overlap --mpi=none --cpu-bind=none --nodes=1 --ntasks=1 --nodelist";

/// What starts a daemon on one of these nodes where the resource manager has such a thing (Slurm's srun), in the shape
/// of --launcher-agent; empty elsewhere. It needs neither ssh nor a name that can be resolved.
std::string agent_of_resource_manager(Getenv const& variable);

/// "a[01-03,7],b" → a01 a02 a03 a7 b. Throws Complaint.
std::vector<std::string> expand_slurm_list(std::string_view text);

}   // namespace tutti::launcher
