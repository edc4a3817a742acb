// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's rank files: one line "rank 0=node1 slot=0-3" per rank, with its node and its cores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "topo/machine.hpp"

namespace tutti::launcher {

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
