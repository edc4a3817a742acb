// SPDX-License-Identifier: BSD-3-Clause
// What is asked of the kernel to place memory on NUMA nodes, and nothing else: the one way to its policies, for which
// tests put pretended machines. Nodes have the kernel's numbers. Errors are numbers of errno; nothing throws for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

inline constexpr std::uint64_t numa_page = 4096;

/// A part of a file in memory, whole pages.
struct FileRange {
    int descriptor = -1;
    std::uint64_t offset = 0, bytes = 0;
};

class NumaSystem {
public:
    virtual ~NumaSystem() = default;

    /// Why there is nothing to choose, a sentence without its full stop; empty: there are several nodes to place on.
    virtual std::string obstacle() const = 0;
    /// The nodes with processors whose memory this process may use, ascending; empty where there is an obstacle.
    virtual std::vector<int> const& nodes() const = 0;
    /// Of a processing unit, by the number sched_setaffinity knows it by; −1: not known.
    virtual int node_of_unit(int unit) const = 0;
    /// Where the calling thread runs; −1: not known.
    virtual int node_here() const = 0;

    /// Pages of the range that are not there yet come from the node, for all processes that map the file; of several
    /// nodes by turns. Returns 0 or why not.
    virtual int prefer(FileRange const& range, std::span<int const> nodes) = 0;
    /// The same of memory of a file that this process maps, and moves pages that are there as far as the system lets
    /// it.
    virtual int move(std::byte* first, std::size_t bytes, int node) = 0;
    /// The node of each page, which this process has touched; below 0: not known. Returns 0 or why not.
    virtual int locate(std::span<void*> pages, std::span<int> nodes) const = 0;
};

/// That of this machine. Loads libnuma at the first call where there are several nodes.
NumaSystem& kernel_numa();

/// Where the memory of a node's ranks shall lie.
struct Homes {
    NumaSystem* system = nullptr;
    std::vector<int> of_rank;   ///< −1: the rank tells when it starts
};

/// `units`: for each rank the processing units that it is bound to, none: it is not bound. A rank has a home when all
/// its units lie in one node. No system: there is nothing to choose.
Homes homes_of(NumaSystem& system, std::span<std::vector<int> const> units);

/// The node in which all these processing units lie and whose memory may be used; −1: there is none.
int common_node(NumaSystem const& system, std::span<int const> units);

}   // namespace tutti
