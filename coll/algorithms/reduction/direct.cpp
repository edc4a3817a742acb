// SPDX-License-Identifier: BSD-3-Clause
// Reductions by load and store in all ranks' buffers: direct for allreduce, reduce and reduce_scatter. Also blocks for
// reduce_scatter, by staging memory.
//
// allreduce/direct: each rank combines its share of the index range directly from all operands in one pass and writes
// it into all results. Two exchanges, no staging; all ranks together load p·s bytes and store p·s. (Reading the shares
// back from their owners would cost another exchange and another p·s bytes loaded.)
//
// Range r of every operand is read only by rank r, before rank r writes that range of the results; therefore the
// operand may be the result (in place). No rank returns before all have written. In large operations that suspend,
// waiting ranks combine the shares of ranks that compute, piece by piece: each piece is still read and written by one
// rank only, and no rank returns before all pieces are written.
// Direct reduction: Hashmi et al., IPDPS 2018; how ranks agree on it: coll/blocks/direct_access.hpp.
#include <algorithm>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll::algorithms::allreduce {

namespace {

constexpr std::size_t min_bytes_for_pieces = 65536;   // bytes; below, pieces cost more than they can hide

/// Combines bytes [first, first + bytes) of all operands into all results, beginning with this rank's.
template <class Env>
void combine(Env& env, ReduceArgs const& a, DirectAccess<Env>& access, std::size_t first, std::size_t bytes) {
    auto const own = access.outputs().begin() + env.rank();
    PooledVector<void*> to(env.frames());
    for (std::byte* out : std::span(own, access.outputs().end())) to.push_back(out + first);
    for (std::byte* out : std::span(access.outputs().begin(), own)) to.push_back(out + first);
    std::size_t const n = bytes / element_bytes(a);
    Reducer reducer(env.traffic(), a);
    // Non-temporal stores if the data would not stay in the reader's cache anyway.
    if (env.exceeds_private_cache(2 * a.bytes()))
        reducer.stream(access.operands(first), env.size(), to.data(), env.size(), 1, n);
    else reducer.spread(access.operands(first), env.size(), to.data(), env.size(), n);
}

/// Each rank combines its share, and then what is unclaimed of the others'.
template <class Env>
Task combine_shared(Env& env, ReduceArgs const& a, DirectAccess<Env>& access) {
    auto const share_of = [&](int rank) {
        return Share(a.bytes(), element_bytes(a), rank, env.size(), a.parameters[0]);
    };
    auto const cut = [&](Share const& share) {
        return shared_pieces(share.last - share.first, range_granularity(element_bytes(a)));
    };
    for (int i = 0; i < env.size(); ++i) {
        int const owner = (env.rank() + i) % env.size();
        Share const share = share_of(owner);
        env.share(env.work_of(owner), cut(share), i == 0 ? CopyFrom::front : CopyFrom::back,
                  [&](std::size_t at, std::size_t n) { combine(env, a, access, share.first + at, n); });
    }
    for (int owner = 0; owner < env.size(); ++owner)
        co_await env.until_done(env.work_of(owner), cut(share_of(owner)), any_peer);
}

}   // namespace

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a), exposed_result(a));
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    if (env.suspends() && a.bytes() >= min_bytes_for_pieces) {
        co_await env.defer();
        co_await combine_shared(env, a, access);
        co_return;
    }
    Share const share(a.bytes(), element_bytes(a), env.rank(), env.size(), a.parameters[0]);
    combine(env, a, access, share.first, share.last - share.first);
    co_await access.final_barrier();
}

constexpr Parameter direct_parameters[] = {
    {"share", 1024, "bytes below which a rank's share is not divided further"},
};
constexpr RecordHead direct_head = {
    "direct",
    "every rank reduces its range of all buffers and writes it into all results",
    Family::tutti,
    "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_kernels | requires_loadable_buffers,
    direct_parameters,
};
extern constinit const Algorithm<ReduceArgs> direct_algorithm = {direct_head, TUTTI_SHM_ONLY(direct), {"2*p*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/direct: each rank combines its range of the indexes directly from all operands in one pass into the root's
// result. Two exchanges, no staging; all ranks together load p·s bytes and store s.
//
// Each range of all operands is read by one rank only, before it writes that range of the result; therefore the root's
// operand may be the result (in place). The first range is the root's, so that a vector that is not divided stays in
// its cache. No rank returns before all have finished.
// Direct reduction: Hashmi et al., IPDPS 2018; how ranks agree on it: coll/blocks/direct_access.hpp.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a),
                             env.rank() == a.root ? exposed_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    int const distance_from_root = (env.rank() - a.root + env.size()) % env.size();
    Share const share(a.bytes(), element_bytes(a), distance_from_root, env.size(), a.parameters[0]);
    Reducer(env.traffic(), a)
        .combine(access.operands(share.first), env.size(),
                 access.outputs()[static_cast<std::size_t>(a.root)] + share.first,
                 (share.last - share.first) / element_bytes(a));
    co_await access.final_barrier();
}

extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    allreduce::direct_head.described_as("every rank reduces its range of all buffers into the root's result"),
    TUTTI_SHM_ONLY(direct),
    {"(p + 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce

// reduce_scatter in blocks: in each step every rank stages a piece of each rank's share and
// reduces the piece of its own share from all staging memories in one pass, in rank order. max(count)·p/chunk steps.
//
// Reuse: a buffer of step b is overwritten in step b + 2, after all ranks' ack of step b. In place, piece b of the
// result covers data of steps up to b, which are staged before it is written.

namespace tutti::coll {

/// One operation: where the piece of each share is.
template <class Env>
class BlockPieces {
public:
    BlockPieces(Env& env, ReduceScatterArgs const& args, std::size_t chunk)
        : env_(env), a_(args), reducer_(env.traffic(), args),
          element_(std::max<std::size_t>(1, reducer_.element_bytes())), shares_(args, env.frames()),
          packed_(env.frames()), operands_(env.frames()) {
        std::size_t const size = a_.counts.size(), room = std::min(chunk, env.staging_bytes() / 2 / size);
        std::size_t const longest = static_cast<std::size_t>(*std::max_element(a_.counts.begin(), a_.counts.end()));
        elements_ = std::max<std::size_t>(1, std::min(room / element_, longest));
        stride_ = (elements_ * element_ + cache_line - 1) / cache_line * cache_line;
        buffer_ = stride_ * size;
        steps_ = a_.bytes() == 0 ? 0 : (longest + elements_ - 1) / elements_;
        direct_ = a_.kernels.nary != nullptr && a_.type->dense(a_.count);
        if (!direct_) packed_.resize(elements_ * element_);
        operands_.resize(size);
    }

    std::uint64_t steps() const { return steps_; }
    std::size_t staging_bytes() const { return 2 * buffer_; }

    void stage(std::uint64_t b) {
        for (int r = 0; r < env_.size(); ++r)
            if (r != env_.rank() || !reads_own())
                env_.stage(piece(env_.staging(), r, b), operand(a_), position(r, b), count(r, b) * element_);
    }

    void reduce(std::uint64_t b) {
        int const me = env_.rank();
        std::size_t const n = count(me, b);
        if (n == 0) return;
        for (int r = 0; r < env_.size(); ++r) operands_[static_cast<std::size_t>(r)] = piece(env_.staging(r), me, b);
        if (reads_own())
            operands_[static_cast<std::size_t>(me)] =
                static_cast<std::byte const*>(a_.in) + a_.type->true_lb() + position(me, b);
        std::size_t const at = b * elements_ * element_;
        void* out = direct_ ? static_cast<std::byte*>(a_.out) + a_.type->true_lb() + at : packed_.data();
        reducer_.combine(operands_.data(), env_.size(), out, n);
        if (!direct_)
            env_.store(Buffer{a_.out, a_.counts[static_cast<std::size_t>(me)], a_.type}, at, out, n * element_);
    }

private:
    bool reads_own() const { return direct_ && a_.in != nullptr; }
    /// Elements of rank r's share in step b, and where they start in the packed vector.
    std::size_t count(int r, std::uint64_t b) const {
        std::size_t const all = static_cast<std::size_t>(a_.counts[static_cast<std::size_t>(r)]),
                          before = b * elements_;
        return before < all ? std::min(elements_, all - before) : 0;
    }
    std::size_t position(int r, std::uint64_t b) const { return shares_.start(r) + b * elements_ * element_; }
    std::byte* piece(std::byte* staging, int r, std::uint64_t b) const {
        return staging + (b % 2) * buffer_ + static_cast<std::size_t>(r) * stride_;
    }

    Env& env_;
    ReduceScatterArgs const& a_;
    Reducer reducer_;
    std::size_t element_, elements_, stride_, buffer_;
    std::uint64_t steps_;
    bool direct_;
    Shares shares_;
    PooledVector<std::byte> packed_;
    PooledVector<void const*> operands_;
};

}   // namespace tutti::coll

// reduce_scatter(_block)/blocks: the reduction in blocks above. max(count)·p/chunk steps; each rank stages s bytes
// (except its own share, if it can be read in the user's buffer) and reads s.
// DPML (Bayatpour et al., SC 2017), in blocks.

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task blocks(Env& env, ReduceScatterArgs const& a) {
    BlockPieces<Env> pieces(env, a, a.parameters[0]);
    env.reserve_staging(pieces.staging_bytes());
    env.add_staging();
    for (std::uint64_t b = 0; b < pieces.steps(); ++b) {
        if (b >= 2) co_await await_acks(env, all_ranks_of(env), 0, b - 1);
        pieces.stage(b);
        env.ready(0, b + 1);
        for (int peer = 0; peer < env.size(); ++peer)
            if (peer != env.rank()) co_await env.until_ready(peer, 0, b + 1);
        pieces.reduce(b);
        env.ack(0, b + 1);
    }
    co_await await_acks(env, all_ranks_of(env), 0, pieces.steps());
}

constexpr Parameter blocks_parameters[] = {{"chunk", 32768, "bytes of each rank's share that are staged in one step"}};
extern constinit const Algorithm<ReduceScatterArgs> blocks_algorithm = {
    "blocks",
    "every rank reduces its share, block after block",
    Family::tutti,
    "DPML, in blocks of the cache's size",
    requires_nothing,
    blocks_parameters,
    TUTTI_SHM_ONLY(blocks),
    {"(3*p - 1)*s"}};

// reduce_scatter(_block)/direct: each rank combines its share directly from all operands in one pass into its result.
// Two exchanges, no staging; all ranks together load p·s bytes and store s.
//
// In place, a rank's result is at the start of its operand, which others still read. Therefore the rank combines its
// share at the share's position in its own operand, which no other rank reads, and moves it to the start when all ranks
// have finished.
// Direct reduction: Hashmi et al., IPDPS 2018; how ranks agree on it: coll/blocks/direct_access.hpp.

template <class Env>
Task direct(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, exposed_operand(a), {});
    co_await access.agree();
    if (env.refused_for() >= 0) co_return;
    auto const my_count = a.counts.begin() + env.rank();
    std::size_t const n = static_cast<std::size_t>(*my_count), bytes = n * element_bytes(a),
                      first = element_bytes(a) * std::accumulate(a.counts.begin(), my_count, std::size_t{0});
    std::byte* const result = first_byte(Buffer{a.out, *my_count, a.type});
    void* const to = a.in ? result : result + first;
    // Non-temporal stores if the data would not stay in this rank's cache anyway.
    Reducer reducer(env.traffic(), a);
    if (env.exceeds_private_cache(2 * bytes)) reducer.stream(access.operands(first), env.size(), &to, 1, 0, n);
    else reducer.combine(access.operands(first), env.size(), to, n);
    co_await access.final_barrier();
    if (to != result) std::memmove(result, to, bytes);
}

extern constinit const Algorithm<ReduceScatterArgs> direct_algorithm = {
    "direct",
    "every rank reduces its share directly from all buffers",
    Family::tutti,
    "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_kernels | requires_loadable_buffers,
    {},
    TUTTI_SHM_ONLY(direct),
    {"(p + 1)*s"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
