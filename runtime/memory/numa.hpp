// SPDX-License-Identifier: BSD-3-Clause
// Kernel interface for placing memory on NUMA nodes, the only access to its memory policies; tests replace it by
// simulated machines. Nodes have the kernel's numbers. Errors are returned as errno values, not thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

inline constexpr std::uint64_t numa_page = 4096;

/// A range of whole pages in a memory file.
struct FileRange {
    int descriptor = -1;
    std::uint64_t offset = 0, bytes = 0;
};

class NumaSystem {
public:
    virtual ~NumaSystem() = default;

    /// Returns why placement is not possible, without a full stop; empty if there are several nodes to choose from.
    virtual std::string unavailable_reason() const = 0;
    /// Returns the nodes with processors whose memory this process may use, ascending; empty if placement is not
    /// possible.
    virtual std::vector<int> const& nodes() const = 0;
    /// Returns the node of a processing unit, numbered as for sched_setaffinity; -1 if unknown.
    virtual int node_of_unit(int unit) const = 0;
    /// Returns the node on which the calling thread runs; -1 if unknown.
    virtual int current_node() const = 0;

    /// Makes pages of the range that do not exist yet come from the node, for all processes that map the file;
    /// interleaves them if several nodes are given. Returns 0 or an errno value.
    virtual int prefer(FileRange const& range, std::span<int const> nodes) = 0;
    /// Same for mapped memory of a file, and also moves existing pages as far as the system permits.
    virtual int move(std::byte* first, std::size_t bytes, int node) = 0;
    /// Determines the node of each page, which this process must have touched; negative: unknown. Returns 0 or an
    /// errno value.
    virtual int locate(std::span<void*> pages, std::span<int> nodes) const = 0;
};

/// Returns the interface to this machine's kernel. Loads libnuma at the first call if there are several nodes.
NumaSystem& kernel_numa();

/// The NUMA nodes on which the memory of a node's ranks is to lie.
struct NumaHomes {
    NumaSystem* system = nullptr;
    std::vector<int> node_of_rank;   ///< by local rank; −1: the rank determines it when it starts
};

/// `units`: the processing units to which each rank is bound; empty: not bound. A rank has a home if all its units
/// lie in one NUMA node. `system` is null in the result if there is nothing to choose.
NumaHomes numa_homes(NumaSystem& system, std::span<std::vector<int> const> units);

/// Returns the node that contains all these processing units and whose memory may be used; -1 if there is none.
int common_node(NumaSystem const& system, std::span<int const> units);

}   // namespace tutti
