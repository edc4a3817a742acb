// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's rank files: for each rank its node and its cores, one line "rank 0=node1 slot=0-3" each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::launcher {

/// The lines of a file in the order of ranks, which must be 0 to some number without a gap. `hosts`: what "+n0", the
/// first of the job's nodes, and so on stand for. Throws Complaint with the line.
std::vector<RankPlace> read_rank_file(std::string const& file, std::vector<Host> const& hosts);

/// A place for each rank from MPICH's list of host numbers (0: the first of `hosts`), such as "0,0,1" or, in blocks of
/// first host, hosts and ranks on each, "(0,2,2),2"; also inside of "(vector,…)". Throws Complaint.
std::vector<RankPlace> read_rank_map(std::string_view text, std::vector<Host> const& hosts);

/// A place for each line of a file, whose first word is a host's name; without a file, for each of `hosts`. Throws
/// Complaint.
std::vector<RankPlace> read_sequence(std::string const& file, std::vector<Host> const& hosts);

/// The processing units (as the system numbers them) that a line's `slot=` names on this machine: cores "0-2,5" counted
/// over the machine, "1:0-2" counted within socket 1, "1:*" all of it, "p4" a processing unit. Throws Complaint.
std::vector<int> units_of_slots(std::string_view slots, topo::Machine const& machine);

/// "0,2-4" → 0 2 3 4. Throws Complaint with `what` in front.
std::vector<int> number_list(std::string_view what, std::string_view text);

}   // namespace tutti::launcher
