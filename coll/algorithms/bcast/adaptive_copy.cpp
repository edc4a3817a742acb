// SPDX-License-Identifier: BSD-3-Clause
// Broadcast in slices through shared memory. The root copies slice after slice into one of two staging buffers, with
// cached stores; all other ranks copy the previous slice from there, with non-temporal stores if the operation's
// working set exceeds the caches. s/slice + 1 steps; s bytes copied by each of the p ranks, 2p·s bytes loaded and
// stored in all.
// YHCCL (Peng et al., SC 2023), section 4.3.2, Algorithm 3; flags between the root and its readers replace the barrier,
// so that a reader begins with a slice as soon as it is there.
//
// Counters: ready[0] slices staged, ack[0] slices read. A buffer is overwritten when all readers have acknowledged the
// slice before the last.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/movement.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task adaptive_copy(Env& env, BcastArgs const& a) {
    constexpr std::uint64_t buffers = 2;
    std::size_t const bytes = a.data.bytes(), slice = a.parameters[0];
    std::uint64_t const slices = (bytes + slice - 1) / slice;
    std::size_t const working_set = bytes * static_cast<std::size_t>(env.size()) + buffers * slice;
    auto const mode = static_cast<CopyMode>(a.parameters[1]);
    bool const root = env.rank() == a.root;
    if (root) env.reserve_staging(std::min(buffers * slice, bytes));
    env.add_staging();
    for (std::uint64_t k = 0; k < slices; ++k) {
        std::size_t const at = k * slice, n = std::min(slice, bytes - at), buffer = k % buffers * slice;
        if (root) {
            if (k >= buffers) co_await await_acks(env, all_ranks_of(env), 0, k - buffers + 1);
            env.stage(env.staging() + buffer, a.data, at, n, mode);
            env.ready(0, k + 1);
        } else {
            co_await env.until_ready(a.root, 0, k + 1);
            copy_out(env, a.data, at, env.staging(a.root) + buffer, n, working_set, mode);
            env.ack(0, k + 1);
        }
    }
    if (root) co_await await_acks(env, all_ranks_of(env), 0, slices);
}

constexpr Parameter adaptive_copy_parameters[] = {{"slice", 131072, "bytes that are copied at a time"}, copy_parameter};
extern constinit const Algorithm<BcastArgs> adaptive_copy_algorithm = {
    "adaptive_copy",
    "slices are copied through two shared buffers, with non-temporal stores if large",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 4.3.2",
    requires_nothing,
    adaptive_copy_parameters,
    TUTTI_SHM_ONLY(adaptive_copy),
    {"2*p*s"}};

}   // namespace tutti::coll::algorithms::bcast
