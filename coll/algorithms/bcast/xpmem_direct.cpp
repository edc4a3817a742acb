// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by direct access: every rank copies the message from the root's buffer, which XPMEM or an arena maps, in
// slices of s/p bytes, each rank beginning with its own. Two exchanges, of the access and of the end, and p copies at
// each rank; (p − 1)·s bytes copied in all.
// Hashmi et al., CCGRID 2019, who add such collectives to their reductions of IPDPS 2018 (xbrc; XHC, section VI), as
// YHCCL (Peng et al., SC 2023), section 5.5, describes and measures it (figure 15d): the size of a slice is there what
// decides on the C library's stores. The order of the slices is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/movement.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task xpmem_direct(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes(), ranks = static_cast<std::size_t>(env.size());
    if (bytes == 0) co_return;
    bool const is_root = env.rank() == a.root;
    std::span<std::byte const> const mine{first_byte(a.data), is_root ? bytes : 0};
    DirectAccess<Env> access(env, is_root ? mine : std::span<std::byte const>{}, {},
                             !is_root || a.data.type->dense(a.data.count));
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    std::size_t const slice = (bytes + ranks - 1) / ranks;
    for (std::size_t i = 0; i < ranks && !is_root; ++i) {
        std::size_t const part = (static_cast<std::size_t>(env.rank()) + i) % ranks, at = std::min(bytes, part * slice),
                          n = std::min(slice, bytes - at);
        env.count_message(a.root);
        copy_out(env, a.data, at, access.inputs()[static_cast<std::size_t>(a.root)] + at, n, bytes * ranks,
                 static_cast<CopyMode>(a.parameters[0]));
    }
    co_await access.final_barrier();
}

constexpr Parameter xpmem_direct_parameters[] = {memmove_copy_parameter};
extern constinit const Algorithm<BcastArgs> xpmem_direct_algorithm = {
    "xpmem_direct",
    "every rank copies the message from the root's buffer, slice by slice",
    Family::baseline,
    "XPMEM-based broadcast (Hashmi et al., CCGRID 2019), as in YHCCL, section 5.5",
    requires_loadable_buffers,
    xpmem_direct_parameters,
    TUTTI_SHM_ONLY(xpmem_direct),
    {"2*(p - 1)*s"}};

}   // namespace tutti::coll::algorithms::bcast
