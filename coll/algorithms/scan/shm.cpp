// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan in shared memory: chain, direct and slots for each.
//
// The chain: rank r waits for block b of the result of the ranks below it, combines it with its own operand, and passes
// the combination to rank r + 1 through its staging memory, with two blocks in flight. Operators need not commute.
// p − 1 + s/chunk steps; each rank loads 2·s and stores 2·s bytes.
//
// Reuse and termination: a buffer of block b is overwritten for block b + 2, after rank r + 1 has acknowledged b. Rank
// r waits for r − 1 to be ready and for r + 1 to have read; rank 0 waits for no data and the last rank for no reader,
// so the chain always makes progress.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

inline constexpr Parameter prefix_chain_parameters[] = {{"chunk", 32768, "bytes of a block"}};

/// The parameters are prefix_chain_parameters. `inclusive`: the result of rank r includes its own operand (scan);
/// otherwise only those of the ranks below (exscan).
template <class Env>
Task prefix_chain(Env& env, ReduceArgs const& a, bool inclusive) {
    Reducer reducer(env.traffic(), a);
    std::size_t const element = std::max<std::size_t>(1, reducer.element_bytes()), total = a.bytes();
    std::size_t const block = std::max(element, std::min(a.parameters[0], env.staging_bytes() / 3) / element * element);
    std::size_t const stride = (block + cache_line - 1) / cache_line * cache_line;
    std::uint64_t const blocks = (total + block - 1) / block;
    int const rank = env.rank();
    bool const last = rank + 1 == env.size();
    env.reserve_staging(3 * stride);
    env.add_staging();

    for (std::uint64_t b = 0; b < blocks; ++b) {
        std::size_t const at = b * block, n = std::min(block, total - at);
        std::byte* sum = env.staging() + (b % 2) * stride;
        std::byte* own = env.staging() + 2 * stride;
        if (!last && b >= 2) co_await env.until_ack(rank + 1, 0, b - 1);
        if (rank == 0) {
            env.stage(sum, operand(a), at, n);
            if (inclusive) env.store(result(a), at, sum, n);
            if (!last) env.ready(0, b + 1);
            continue;
        }
        co_await env.until_ready(rank - 1, 0, b + 1);
        std::byte const* below = env.staging(rank - 1) + (b % 2) * stride;
        if (!last || inclusive) {
            env.stage(own, operand(a), at, n);
            void const* operands[] = {below, own};
            reducer.combine(operands, 2, sum, n / element);
        }
        if (!last) env.ready(0, b + 1);
        env.store(result(a), at, inclusive ? sum : below, n);
        env.ack(0, b + 1);
    }
    if (!last && blocks > 0) co_await env.until_ack(rank + 1, 0, blocks);
}

}   // namespace tutti::coll

// exscan/chain: the chain above.

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task chain(Env& env, ReduceArgs const& a) {
    return prefix_chain(env, a, false);
}

constexpr RecordHead chain_head = {
    "chain",          "blocks move along the ranks, and each rank combines its own",
    Family::tutti,    "Tutti",
    requires_nothing, prefix_chain_parameters,
};
extern constinit const Algorithm<ReduceArgs> chain_algorithm = {chain_head, TUTTI_SHM_ONLY(chain), {"(7*p - 10)*s"}};

}   // namespace tutti::coll::algorithms::exscan

// Load and store in all ranks' buffers: each rank computes the results of all ranks for its range of the indexes, piece
// by piece, from the operands in the users' buffers into the users' results. Two exchanges whatever the number of
// ranks; all ranks together load p·s bytes and store p·s, and the result of one rank is loaded from the nearest cache
// for that of the next.
//
// Range r of every buffer is read and written by rank r only, and each piece of a rank's operand is read before the
// same piece of its result is written; therefore the operand may be the result (in place).

namespace tutti::coll {

template <class Env>
class PrefixDirect {
public:
    PrefixDirect(Env& env, DirectAccess<Env>& access, ReduceArgs const& args, std::size_t piece)
        : inputs_(access.inputs()), outputs_(access.outputs()), reducer_(env.traffic(), args),
          ranks_(static_cast<std::size_t>(env.size())), env_(env),
          working_set_(ranks_ * args.bytes() * (args.in ? 2 : 1)), intermediate_(2 * piece, env.frames()) {}

    /// Every result includes its own rank's operand.
    void scan(std::size_t at, std::size_t bytes) {
        if (outputs_[0] != inputs_[0]) env_.copy(outputs_[0] + at, inputs_[0] + at, bytes, working_set_);
        for (std::size_t r = 1; r < ranks_; ++r)
            combine(outputs_[r - 1] + at, inputs_[r] + at, outputs_[r] + at, bytes);
    }
    /// Every result includes only the operands of the ranks below; rank 0 has no result.
    void exscan(std::size_t at, std::size_t bytes) {
        std::byte const* below = inputs_[0] + at;
        for (std::size_t r = 1; r < ranks_; ++r) {
            std::byte* with_own = intermediate_.data() + r % 2 * (intermediate_.size() / 2);
            if (r + 1 < ranks_) combine(below, inputs_[r] + at, with_own, bytes);
            env_.copy(outputs_[r] + at, below, bytes, working_set_);
            below = with_own;
        }
    }

private:
    void combine(std::byte const* first, std::byte const* second, std::byte* out, std::size_t bytes) {
        void const* operands[] = {first, second};
        reducer_.combine(operands, 2, out, bytes / reducer_.element_bytes());
    }

    std::span<std::byte const* const> inputs_;
    std::span<std::byte* const> outputs_;
    Reducer reducer_;
    std::size_t ranks_;
    Env& env_;
    std::size_t working_set_;
    PooledVector<std::byte> intermediate_;   ///< two pieces that do not belong to a result (yet)
};

/// Rounds the bytes computed at a time to whole lines.
inline std::size_t whole_lines(std::size_t chunk, std::size_t element) {
    std::size_t const line = range_granularity(element);
    return std::max<std::size_t>(1, chunk / line) * line;
}

inline constexpr Parameter prefix_direct_parameters[] = {
    {"chunk", 8192, "bytes of one result that are computed at a time"},
    {"share", 1024, "bytes below which a rank's share is not divided further"},
};

/// Runs PrefixDirect. `inclusive`: scan; otherwise exscan. The
/// parameters are prefix_direct_parameters.
template <class Env>
Task prefix_direct(Env& env, ReduceArgs const& a, bool inclusive) {
    if (a.bytes() == 0) co_return;
    bool const has_result = inclusive || env.rank() > 0;
    DirectAccess<Env> access(env, exposed_operand(a), has_result ? exposed_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    std::size_t const element = static_cast<std::size_t>(a.type->size()), piece = whole_lines(a.parameters[0], element);
    Share const share(a.bytes(), element, env.rank(), env.size(), a.parameters[1]);
    PrefixDirect<Env> prefix(env, access, a, piece);
    for (std::size_t at = share.first; at < share.last; at += piece) {
        std::size_t const bytes = std::min(piece, share.last - at);
        if (inclusive) prefix.scan(at, bytes);
        else prefix.exscan(at, bytes);
    }
    co_await access.final_barrier();
}

}   // namespace tutti::coll

// exscan/direct: by load and store in all ranks' buffers.

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    return prefix_direct(env, a, false);
}

constexpr RecordHead direct_head = {
    "direct",
    "every rank computes its range of all results from the ranks below it",
    Family::tutti,
    "Tutti",
    requires_kernels | requires_loadable_buffers,
    prefix_direct_parameters,
};
extern constinit const Algorithm<ReduceArgs> direct_algorithm = {direct_head, TUTTI_SHM_ONLY(direct), {"(5*p - 8)*s"}};

// exscan/slots: for small messages. Every rank writes its slot and reduces the slots of the ranks below it in rank
// order; rank 0 gets nothing. One step; s bytes written by each rank, r·s read by rank r.

template <class Env>
Task slots(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int peer = 0; peer < env.rank(); ++peer) co_await env.until(peer);
    if (env.rank() > 0) fold_slots(env, a, env.rank() - 1);
}

constexpr RecordHead slots_head = {
    "slots", "every rank reduces the slots of the ranks below its own", Family::tutti, "Tutti", requires_slot, {},
};
extern constinit const Algorithm<ReduceArgs> slots_algorithm = {
    slots_head, TUTTI_SHM_ONLY(slots), {"(p*(p + 5)/2 - 1)*s"}};

}   // namespace tutti::coll::algorithms::exscan

// scan/chain: the chain above.

namespace tutti::coll::algorithms::scan {

template <class Env>
Task chain(Env& env, ReduceArgs const& a) {
    return prefix_chain(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> chain_algorithm = {
    exscan::chain_head, TUTTI_SHM_ONLY(chain), {"(7*p - 3)*s"}};

// scan/direct: by load and store in all ranks' buffers.

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    return prefix_direct(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    exscan::direct_head.described_as("every rank computes its range of all results from the ranks up to it"),
    TUTTI_SHM_ONLY(direct),
    {"(3*p - 1)*s"}};

// scan/slots: for small messages. Every rank writes its slot and reduces the slots of the ranks up to itself in rank
// order. One step; s bytes written by each rank, (r + 1)·s read by rank r.

template <class Env>
Task slots(Env& env, ReduceArgs const& a) {
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int peer = 0; peer < env.rank(); ++peer) co_await env.until(peer);
    fold_slots(env, a, env.rank());
}

extern constinit const Algorithm<ReduceArgs> slots_algorithm = {
    exscan::slots_head.described_as("every rank reduces the slots of the ranks up to its own"),
    TUTTI_SHM_ONLY(slots),
    {"p*(p + 7)/2*s"}};

}   // namespace tutti::coll::algorithms::scan
