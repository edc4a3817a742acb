// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from what the ranks have counted; each tells below what its columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/segment.hpp"

namespace tutti::launcher {

/// Where what one rank has counted lies: in the segment, or in a copy from another node.
struct Book {
    int rank;   ///< in the world
    Card const* card;
    Ledger const* ledger;
};
using Books = std::vector<Book>;

/// Those of the ranks of this node.
Books books_of(Segment const& segment);

/// Which way the data went, a line for each rank and one for all.
std::string ways_table(Books const& books);
/// What the collectives moved and between whom, and how long the ranks waited; likewise. `now` is the end of the ranks
/// that have not called MPI_Finalize.
std::string traffic_table(Books const& books, std::uint64_t now);
/// The collectives of all ranks, a line for each communicator, collective and algorithm, the longest first.
std::string collectives_table(Books const& books, std::uint64_t now);

/// All of them.
std::string statistics(Books const& books);

/// How long a rank was in MPI, in nanoseconds; 0: it never was.
std::uint64_t run_time(Times const& times, std::uint64_t now);

}  // namespace tutti::launcher
