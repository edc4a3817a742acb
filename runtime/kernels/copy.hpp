// SPDX-License-Identifier: BSD-3-Clause
// Copies large blocks of memory between ranks: one load and one store per byte, with vector instructions chosen for the
// processor, and temporal or non-temporal stores depending on the working set of the operation (YHCCL, section 4.2).
// There is one table of copy kernels per instruction set; copy.cpp selects the best that the processor supports.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "topo/machine.hpp"


namespace tutti {

/// Copies `n` bytes between memory areas that do not overlap; any length, any alignment.
using CopyKernel = void (*)(void* to, void const* from, std::size_t n);

/// The copy kernels of one instruction set.
struct CopyKernels {
    CopyKernel from_core;     ///< for data that another core may have written last and still hold in its own cache
    CopyKernel from_shared;   ///< for data in a shared cache or in memory
    CopyKernel in_order;      ///< as from_shared, but relies on the processor's own prefetching
    CopyKernel streaming;     ///< with non-temporal stores, ordered before later stores as in the other kernels
};

extern CopyKernels const portable_copies;
#if defined(__x86_64__)
extern CopyKernels const avx2_copies;
extern CopyKernels const avx512_copies;
#elif defined(__aarch64__)
extern CopyKernels const neon_copies;
#endif

/// Returns a copy by the processor's string instruction, or null if it moves no more than a word at a time.
CopyKernel string_copy();
/// Returns the temporal kernels each of which is the fastest on some processor, for a measurement to choose from.
std::vector<CopyKernel> candidate_copy_kernels();

/// Cache capacity available to this node's ranks in bytes; never 0. The defaults are those of one rank on a machine
/// that is not described.
struct CacheCapacity {
    /// Capacity for all ranks together, counting no data twice.
    std::size_t total = topo::Caches::assumed_last_level_size + topo::Caches::assumed_private_size;
    std::size_t per_core = topo::Caches::assumed_private_size;   ///< capacity for one core by itself
};

/// Computes YHCCL's C = c′ + p · c″, or C = c′ if the last level contains the contents of the private ones. The last
/// level counts once per instance on which ranks run. No share is deducted for other programs (copy.cpp gives the
/// reason). Sizes that are not described are assumed (topo::Caches::without_unknowns).
CacheCapacity cache_capacity(topo::NodeMap const& node);

/// How YHCCL's algorithms copy: the four forms that the paper compares (Peng et al., SC 2023, section 4, table 4 and
/// figures 12 to 14). adaptive: as the paper proposes, by the working set and the use of the data; the others copy all
/// data alike. memmove: the C library's, which chooses its stores by the size of the copy. temporal: prefetched loads
/// and stores into the cache (t-copy). nontemporal: stores that bypass the cache (nt-copy).
enum class CopyMode { adaptive, memmove, temporal, nontemporal };

/// Copies with the kernel that suits the processor and the working set. Immutable after construction.
class Copier {
public:
    /// Kind of the stores; automatic: by the working set.
    enum class Stores { automatic, temporal, nontemporal };

    explicit Copier(CacheCapacity capacity = {}, Stores stores = Stores::automatic);

    /// Copies `n` bytes between memory areas that do not overlap; neither needs to be aligned. `working_set`: number of
    /// bytes that all ranks of the node touch in the operation of which this copy is a part; 0 if the data will be read
    /// from cache next, whatever the operation's size (slots, staging memory). A flag stored after the copy publishes
    /// all of it. Returns true if the stores bypassed the cache.
    bool copy(void* to, void const* from, std::size_t n, std::size_t working_set) const {
        if (n == 0) return false;   // addresses may be null in this case
        bool const past_cache = n >= vector_from && streams(working_set);
        if (n < vector_from) std::memcpy(to, from, n);
        else if (past_cache) kernels_.streaming(to, from, n);
        else copy_into_cache(to, from, n);
        return past_cache;
    }
    /// The same, as `mode` says.
    bool copy(CopyMode mode, void* to, void const* from, std::size_t n, std::size_t working_set) const {
        if (mode == CopyMode::adaptive) [[likely]]
            return copy(to, from, n, working_set);
        if (n == 0) return false;
        if (mode == CopyMode::memmove) std::memmove(to, from, n);
        else if (mode == CopyMode::temporal) copy_into_cache(to, from, n);
        else kernels_.streaming(to, from, n);
        return mode == CopyMode::nontemporal;
    }

    /// Returns true if copies in an operation with this working set bypass the cache.
    bool streams(std::size_t working_set) const { return working_set > stream_threshold_; }
    /// Returns true if a reduction should write past the cache those results that another core reads, or that its own
    /// core cannot keep. `bytes`: the parts of operand and result that the core in question would have to keep.
    bool exceeds_private_cache(std::size_t bytes) const { return bytes > private_limit_; }

private:
    static constexpr std::size_t vector_from = 4096;   ///< below, memcpy is as good: there is nothing to prefetch

    void copy_into_cache(void* to, void const* from, std::size_t n) const {
        (n <= private_cache_ ? kernels_.from_core : kernels_.from_shared)(to, from, n);
    }

    std::size_t private_cache_, stream_threshold_, private_limit_;
    CopyKernels kernels_;
};

/// Parses the value of TUTTI_COPY; unknown values mean automatic.
Copier::Stores parse_copy_stores(std::string_view name);

}   // namespace tutti
