// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) by direct access: every rank copies each rank's part from its owner's buffer, which XPMEM or an arena
// maps, beginning with the next rank. Two exchanges, of the access and of the end, and p copies at each rank; with
// parts of n bytes, p·p·n bytes copied in all.
// Hashmi et al., CCGRID 2019, who add such collectives to their reductions of IPDPS 2018 (xbrc; XHC, section VI), as
// YHCCL (Peng et al., SC 2023), section 5.5, describes and measures it (figure 15e). The order of the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/movement.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task xpmem_direct(Env& env, AllgatherArgs const& a) {
    Buffer const mine = a.is_in_place ? a.parts[env.rank()] : a.mine;
    std::size_t const bytes = mine.bytes();
    DirectAccess<Env> access(
        env, bytes > 0 ? std::span<std::byte const>{first_byte(mine), bytes} : std::span<std::byte const>{}, {},
        bytes == 0 || mine.type->dense(mine.count));
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    std::size_t all = 0;
    for (int peer = 0; peer < env.size(); ++peer) all += env.exposure(peer).bytes;
    std::size_t const working_set = all + all * static_cast<std::size_t>(env.size());
    Truncation truncation;
    for (int i = 1; i <= env.size(); ++i) {
        int const peer = (env.rank() + i) % env.size();
        std::size_t const n = env.exposure(peer).bytes;
        if (n == 0 || (peer == env.rank() && a.is_in_place)) continue;
        Buffer const to = a.parts[peer];
        std::byte const* const from = access.inputs()[static_cast<std::size_t>(peer)];
        env.count_message(peer);
        if (n <= to.bytes()) copy_out(env, to, 0, from, n, working_set, static_cast<CopyMode>(a.parameters[0]));
        else deliver(env, to, 0, from, n, n, peer, truncation);
    }
    co_await access.final_barrier();
    truncation.check(env);
}

constexpr Parameter xpmem_direct_parameters[] = {memmove_copy_parameter};
extern constinit const Algorithm<AllgatherArgs> xpmem_direct_algorithm = {
    "xpmem_direct",
    "every rank copies each part from its owner's buffer",
    Family::baseline,
    "XPMEM-based allgather (Hashmi et al., CCGRID 2019), as in YHCCL, section 5.5",
    requires_loadable_buffers,
    xpmem_direct_parameters,
    TUTTI_SHM_ONLY(xpmem_direct),
    {"2*p*p*s"}};

}   // namespace tutti::coll::algorithms::allgather
