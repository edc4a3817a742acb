// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from what the ranks have left in the segment; each tells below what its columns mean.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/segment.hpp"

namespace tutti::launcher {

/// Which way the data went, a line for each rank and one for all.
std::string ways_table(Segment const& segment);
/// What the collectives moved and between whom, and how long the ranks waited; likewise. `now` is the end of the ranks
/// that have not called MPI_Finalize.
std::string traffic_table(Segment const& segment, std::uint64_t now);
/// The collectives of all ranks, a line for each communicator, collective and algorithm, the longest first.
std::string collectives_table(Segment const& segment, std::uint64_t now);

/// All of them.
std::string statistics(Segment const& segment);

/// How long a rank was in MPI, in nanoseconds; 0: it never was.
std::uint64_t run_time(Times const& times, std::uint64_t now);

}  // namespace tutti::launcher
