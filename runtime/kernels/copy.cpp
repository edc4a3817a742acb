// SPDX-License-Identifier: BSD-3-Clause
// Selection of copy kernels, and the cache capacity of a node. Measured with a destination that its owner reads
// afterwards, as programs do: a non-temporal copy that would have fitted takes 1.5 times as long as a temporal one,
// reading included. A temporal copy that does not fit loses nothing if it is read and about a half if it is not. The
// capacity is therefore rather overestimated: it includes the whole of a last-level cache that the job shares with
// other cores, and the whole cache that a virtual machine shows, of which its two cores had most when it was measured.
// TUTTI_CACHE overrides it.
#include "runtime/kernels/copy.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti {
namespace {

void portable_copy(void* to, void const* from, std::size_t n) { std::memcpy(to, from, n); }

#if defined(__x86_64__)
void copy_with_string_instruction(void* to, void const* from, std::size_t n) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/// "Enhanced REP MOVSB": leaf 7, EBX, bit 9.
bool has_fast_strings() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 9 & 1);
}
#endif

CopyKernels best_copies() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return avx512_copies;
    if (__builtin_cpu_supports("avx2")) return avx2_copies;
#elif defined(__aarch64__)
    return neon_copies;
#endif
    return portable_copies;
}

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t stream_limit(std::size_t cache, Copier::Stores stores) {
    if (stores == Copier::Stores::nontemporal) return 0;
    return stores == Copier::Stores::temporal ? unlimited : cache;
}

/// Returns the units that the ranks may run on.
std::vector<topo::Pu> units_of(topo::NodeMap const& node) {
    if (!node.placement.fixed) return node.machine.pus;
    std::vector<topo::Pu> units;
    for (int pu : node.placement.pu) units.push_back(node.machine.pus[static_cast<std::size_t>(pu)]);
    return units;
}

}   // namespace

constinit CopyKernels const portable_copies{portable_copy, portable_copy, portable_copy, portable_copy};

CopyKernel string_copy() {
#if defined(__x86_64__)
    if (has_fast_strings()) return copy_with_string_instruction;
#endif
    return nullptr;
}

std::vector<CopyKernel> candidate_copy_kernels() {
    CopyKernels const best = best_copies();
    std::vector<CopyKernel> kernels{best.in_order};
    if (best.from_core != best.in_order) kernels.push_back(best.from_core);
    if (CopyKernel const string = string_copy()) kernels.push_back(string);
    return kernels;
}

CacheCapacity cache_capacity(topo::NodeMap const& node) {
    topo::Caches const caches = node.machine.caches.without_unknowns();
    std::set<int> last_levels, cores;
    for (topo::Pu const& pu : units_of(node)) {
        last_levels.insert(pu.l3);
        cores.insert(pu.core);
    }
    // At least one of each, because the node of a program without a launcher has no description.
    auto const instances =
        std::clamp(last_levels.size(), std::size_t{1}, static_cast<std::size_t>(std::max(1, caches.last_level_count)));
    std::size_t total = instances * caches.last_level_size;
    // If cores share no cache, the last level is the private one.
    if (!caches.inclusive && caches.private_size != caches.last_level_size)
        total += std::max(std::size_t{1}, std::min(cores.size(), node.placement.pu.size())) * caches.private_size;
    return {total, caches.private_size};
}

Copier::Stores parse_copy_stores(std::string_view name) {
    if (name == "temporal") return Copier::Stores::temporal;
    return name == "nontemporal" ? Copier::Stores::nontemporal : Copier::Stores::automatic;
}

Copier::Copier(CacheCapacity capacity, Stores stores)
    : private_cache_(capacity.per_core), stream_threshold_(stream_limit(capacity.total, stores)),
      private_limit_(stream_limit(capacity.per_core, stores)), kernels_(best_copies()) {}

}   // namespace tutti
