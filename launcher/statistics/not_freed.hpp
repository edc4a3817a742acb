// SPDX-License-Identifier: BSD-3-Clause
// The sentence about MPI objects that were not freed, with which mpiexec ends a job on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// Of ranks that have called MPI_Finalize, by NotFreed::Kind. Both empty: there is no such rank.
struct NotFreedCounts {
    std::vector<std::uint64_t> most, least;   ///< of any of these ranks

    /// Adds those of other ranks.
    void add(NotFreedCounts const& others);
};

/// Of the ranks of this node.
NotFreedCounts not_freed_on(Segment const& segment);

/// "3 communicators, 1 datatype never freed; --check shows where": of each rank; where ranks differ, the largest number
/// of each kind ("up to ... per rank"). Empty if all are 0.
std::string not_freed_words(NotFreedCounts const& counts);

}   // namespace tutti::launcher
