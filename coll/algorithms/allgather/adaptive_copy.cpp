// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) in slices through shared memory. In each of n/slice + 1 steps every rank copies a slice of its part (n
// bytes) into one of its two staging buffers, with cached stores, and copies all ranks' slices of the previous step to
// their destinations, with non-temporal stores if the working set exceeds the caches. Each rank copies n bytes in and
// p·n bytes out; 2 (p + p²)·n bytes of memory traffic in all.
// YHCCL (Peng et al., SC 2023), section 4.3.3, Algorithm 4; flags between each writer and its readers replace the
// barrier, and each rank begins with another peer.
//
// Slot: the size of this rank's part in bytes. Counters: ready[0] slices staged; ack[0] steps in which this rank has
// read the slices of all ranks, or found that a part has no more. All ranks make the same number of steps, that of the
// longest part. A buffer is overwritten when all ranks have acknowledged the step before the last.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/movement.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

constexpr std::uint64_t buffers = 2;

template <class Env>
struct SlicedGather {
    SlicedGather(Env& e, AllgatherArgs const& args)
        : env(e), a(args), mine(args.is_in_place ? args.parts[e.rank()] : args.mine), slice(args.parameters[0]),
          mode(static_cast<CopyMode>(args.parameters[1])), sizes(static_cast<std::size_t>(e.size())) {
        env.reserve_staging(std::min(buffers * slice, mine.bytes()));
        env.add_staging();
    }

    std::uint64_t slices(std::size_t bytes) const { return (bytes + slice - 1) / slice; }
    std::size_t size_of(int rank) const { return sizes[static_cast<std::size_t>(rank)]; }

    void stage_slice(std::uint64_t k) {
        std::size_t const at = k * slice, n = mine.bytes();
        if (at < n) env.stage(env.staging() + k % buffers * slice, mine, at, std::min(slice, n - at), mode);
        env.ready(0, k + 1);
    }
    void copy_slice(int peer, std::uint64_t k) {
        Buffer const to = a.parts[peer];
        std::size_t const at = k * slice, total = size_of(peer), n = std::min(slice, total - at);
        std::byte const* const from = env.staging(peer) + k % buffers * slice;
        if (total <= to.bytes()) copy_out(env, to, at, from, n, working_set, mode);
        else deliver(env, to, at, from, n, total, peer, truncation);
    }

    Env& env;
    AllgatherArgs const& a;
    Buffer const mine;
    std::size_t slice;
    CopyMode mode;
    std::vector<std::size_t> sizes;   ///< of every rank's part
    std::size_t working_set = 0;
    std::uint64_t steps = 0;
    Truncation truncation;
};

/// Exchanges the sizes of all parts: a receiver knows only how much room it has for a part.
template <class Env>
Task exchange_sizes(Env& env, SlicedGather<Env>& g) {
    std::size_t const own = g.mine.bytes();
    std::memcpy(env.slot(sizeof own), &own, sizeof own);
    env.publish();
    std::size_t all = 0;
    for (int peer = 0; peer < env.size(); ++peer) {
        if (peer != env.rank()) co_await env.until(peer);
        std::size_t& size = g.sizes[static_cast<std::size_t>(peer)];
        std::memcpy(&size, env.peek(peer, sizeof size), sizeof size);
        g.steps = std::max(g.steps, g.slices(size));
        all += size;
    }
    auto const p = static_cast<std::size_t>(env.size());
    g.working_set = all + all * p + buffers * p * g.slice;
}

/// Copies slice k of all ranks; each rank begins with another peer. In place, its own part is already there.
template <class Env>
Task copy_slices(Env& env, SlicedGather<Env>& g, std::uint64_t k) {
    for (int i = 1; i <= env.size(); ++i) {
        int const peer = (env.rank() + i) % env.size();
        if (k >= g.slices(g.size_of(peer)) || (peer == env.rank() && g.a.is_in_place)) continue;
        if (peer != env.rank()) co_await env.until_ready(peer, 0, k + 1);
        g.copy_slice(peer, k);
    }
    env.ack(0, k + 1);
}

}   // namespace

template <class Env>
Task adaptive_copy(Env& env, AllgatherArgs const& a) {
    SlicedGather<Env> g(env, a);
    co_await exchange_sizes(env, g);
    for (std::uint64_t k = 0; k < g.steps; ++k) {
        if (k >= buffers) co_await await_acks(env, all_ranks_of(env), 0, k - buffers + 1);
        g.stage_slice(k);
        if (k > 0) co_await copy_slices(env, g, k - 1);
    }
    if (g.steps > 0) co_await copy_slices(env, g, g.steps - 1);
    co_await await_acks(env, all_ranks_of(env), 0, g.steps);
    g.truncation.check(env);
}

constexpr Parameter adaptive_copy_parameters[] = {{"slice", 65536, "bytes of each part that are copied at a time"},
                                                  copy_parameter};
extern constinit const Algorithm<AllgatherArgs> adaptive_copy_algorithm = {
    "adaptive_copy",
    "slices are copied through each rank's shared buffers, with non-temporal stores if large",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 4.3.3",
    requires_nothing,
    adaptive_copy_parameters,
    TUTTI_SHM_ONLY(adaptive_copy),
    {"2*(p + 1)*p*s"}};

}   // namespace tutti::coll::algorithms::allgather
