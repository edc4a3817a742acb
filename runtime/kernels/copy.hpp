// SPDX-License-Identifier: BSD-3-Clause
// Copying large pieces of memory between ranks: one load and one store per byte, by vector instructions chosen for the
// processor, with temporal or non-temporal stores by the working set of the operation (YHCCL, section 4.2).
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "runtime/kernels/copy_kernels.hpp"
#include "topo/machine/machine.hpp"

namespace tutti {

/// What this node's ranks have in cache, in bytes: never 0. The defaults are those of one rank on a machine that is not
/// described.
struct CacheRoom {
    /// By all ranks, without counting anything twice.
    std::size_t together = topo::Caches::assumed_last_level_size + topo::Caches::assumed_private_size;
    std::size_t alone = topo::Caches::assumed_private_size;   ///< by one core for itself
};

/// YHCCL's C = c′ + p · c″, or c′ where the last level holds what the private ones hold. The last level counts as
/// often as there are instances of it where the ranks are; a part that other programs' cores may want is not taken off
/// (copy.cpp has the reason). Sizes that the description lacks are assumed (topo::Caches::without_unknowns).
CacheRoom cache_room(topo::NodeMap const& node);

class Copier {
public:
    enum class Stores { automatic, temporal, nontemporal };

    explicit Copier(CacheRoom room = {}, Stores stores = Stores::automatic);

    /// Copies `n` bytes between memories that do not overlap; neither needs to be aligned. `working_set`: the bytes
    /// that all ranks of the node touch in the operation that this copy is part of; 0 when what is written is read next
    /// from cache whatever the operation's size (slots, staging memory). A flag stored after it publishes all of it.
    void copy(void* to, void const* from, std::size_t n, std::size_t working_set) const {
        if (n == 0) return;   // addresses may be null then
        if (n < vector_from) std::memcpy(to, from, n);
        else if (streams(working_set)) kernels_.streaming(to, from, n);
        else if (n <= private_cache_) kernels_.from_core(to, from, n);
        else kernels_.from_shared(to, from, n);
    }

    /// Do copies in an operation with this working set go past the cache?
    bool streams(std::size_t working_set) const { return working_set > stream_beyond_; }
    /// Do reductions write past the cache what is for another core, or is too much for their own? `bytes`: what of
    /// operand and result that core would have to keep.
    bool outgrows_core(std::size_t bytes) const { return bytes > core_holds_; }

private:
    static constexpr std::size_t vector_from = 4096;   ///< below memcpy is as good: there is nothing to look ahead to

    std::size_t private_cache_, stream_beyond_, core_holds_;
    CopyKernels kernels_;
};

/// By the names in TUTTI_COPY; anything else is automatic.
Copier::Stores stores_named(std::string_view name);

}   // namespace tutti
