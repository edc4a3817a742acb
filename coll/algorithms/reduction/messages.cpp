// SPDX-License-Identifier: BSD-3-Clause
// Reductions by messages, in shared memory and between nodes: allreduce (rank_order, ring), reduce (rank_order),
// reduce_scatter (pairwise, rank_order, ring).
//
// rank_order: along a chain of all ranks in their order, each rank adds its operand to the partial result of all ranks
// before it, so that operands are grouped from the left as on one node, whatever the placement. The last rank has the
// result. In segments, p − 1 + s/segment consecutive messages; with consecutive ranks on N nodes, N − 1 messages per
// segment between nodes.
#include "coll/blocks/messages.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/sliced.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

inline constexpr Parameter rank_order_parameters[] = {{"segment", 32768, "bytes forwarded at a time"}};

/// Returns a rank's position in the chain of n ranks, with the last one at the top.
inline TreePosition rank_order_position(FramePool& frames, int rank, int n) {
    TreePosition t = chain_tree(frames, n - 1 - rank, n).renumbered([n](int position) { return n - 1 - position; });
    t.before.swap(t.children);
    return t;
}

}   // namespace tutti::coll

// allreduce/rank_order: along all ranks in their order, in segments, and back; the result has the same bits whatever
// the placement. 2 (p − 1) + s/segment consecutive messages. The definition, MPI 3.1, section 5.9.6.

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task rank_order(Env& env, ReduceArgs const& a) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[0]);
    TreePosition position = rank_order_position(env.frames(), env.rank(), env.size());
    CombineUp<Env> up(env, m, a, position, segments, position.parent < 0);
    position.children.swap(position.before);   // on the way down there is no order to keep
    PassDown<Env> down(env, m, result(a), position, segments);
    co_await flow(env, up, &down, segments.count, 2 * static_cast<std::uint64_t>(position.depth));
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> rank_order_algorithm = {
    "rank_order",
    "partial results move along all ranks in rank order, and the result returns",
    Family::baseline,
    "the definition, MPI 3.1, section 5.9.6",
    requires_nothing,
    rank_order_parameters,
    TUTTI_SHM_AND_NET(rank_order),
    {"(p - 1)*(5*s + 2*staged(s, segment))"}};

}   // namespace tutti::coll::algorithms::allreduce

// The reduction on a ring of messages, for reduce_scatter and allreduce: in step j rank r sends its partial result of
// slice r − 1 − j to rank r + 1, receives that of slice r − 2 − j from rank r − 1, and adds its own operand, in pieces,
// so that received data is still in cache. After p − 1 steps slice r is complete at rank r.
// Patarasuk and Yuan, JPDC 2009; message by message as in Thakur, Rabenseifner and Gropp, IJHPCA 2005.

namespace tutti::coll {

template <class Env, class Args>
class RingReduction {
public:
    RingReduction(Env& env, Args const& args, Receives receives)
        : env_(env), call_{args, receives}, slices_(args, env.size(), one_round), reducer_(env.traffic(), args),
          messages_(env, slices_.element()), byte_(TypeBuilder::predefined(Basic::byte_)) {
        for (auto& s : sums_) s = PooledBytes(env.frames(), slices_.elements() * slices_.element());
        if (!call_.dense()) packed_.resize(slices_.elements() * slices_.element());
    }

    Slices const& slices() const { return slices_; }
    Messages<Env>& messages() { return messages_; }
    int slice(int back) const { return (env_.rank() + 2 * env_.size() - back) % env_.size(); }
    int right() const { return slice(-1); }
    int left() const { return slice(1); }

    FramePool& frames() { return env_.frames(); }
    /// Reduces slice r into this rank's result.
    Task run() {
        int const steps = env_.size() - 1;
        for (int j = 0; j < steps; ++j) {
            int const incoming = slice(2 + j);
            bool const last = j + 1 == steps;
            auto use = [this, incoming, j, last](std::byte const* from, std::size_t at, std::size_t n) {
                combine(incoming, j, last, from, at, n);
            };
            co_await messages_.exchange(right(), outgoing(j), left(), slices_.bytes(incoming, 0), use);
        }
        finish();
    }

private:
    static constexpr std::size_t one_round = ~std::size_t{0};

    /// Returns the message of step j: the user's own slice first, then what was received in the previous step.
    MessagePart outgoing(int j) {
        int const slice = this->slice(1 + j);
        std::size_t const n = slices_.bytes(slice, 0);
        if (j == 0) return {operand(call_.args), slices_.position(slice, 0), n};
        return {{sum(j - 1), static_cast<std::int64_t>(n), byte_.get()}, 0, n};
    }
    std::byte* sum(int j) { return sums_[j % 2].get(); }

    void combine(int slice, int j, bool last, std::byte const* from, std::size_t at, std::size_t n) {
        constexpr std::size_t piece = 16384;
        std::size_t const element = slices_.element(), max_bytes = std::max<std::size_t>(1, piece / element) * element;
        for (std::size_t end = at + n; at < end; at += max_bytes) {
            std::size_t const bytes = std::min(max_bytes, end - at);
            env_.copy(sum(j) + at, from, bytes, 0);
            from += bytes;
            if (!last || !defers_last_combination()) add_own(slice, j, at, bytes, last);
        }
    }
    /// In place, the result may be where the neighbour still reads: the last combination waits until it has finished.
    bool defers_last_combination() const { return !call_.args.in && call_.receives == Receives::own; }
    bool is_direct() const { return call_.dense() && !call_.overlaps(slices_, env_.rank(), 0); }
    std::byte* my_result() {
        return first_byte(call_.result(env_.rank())) + call_.result_position(slices_, env_.rank(), 0);
    }

    void add_own(int slice, int j, std::size_t at, std::size_t bytes, bool last) {
        void const* own = packed_.data();
        std::size_t const position = slices_.position(slice, 0) + at;
        if (call_.dense()) own = first_byte(operand(call_.args)) + position;
        else env_.load(packed_.data(), operand(call_.args), position, bytes);
        void const* two[] = {own, sum(j) + at};
        reducer_.combine(two, 2, last && is_direct() ? my_result() + at : sum(j) + at, bytes / slices_.element());
    }

    void finish() {
        int const me = env_.rank(), last = env_.size() - 2;
        std::size_t const n = slices_.bytes(me, 0);
        std::size_t const at = call_.result_position(slices_, me, 0);
        if (last < 0) return env_.size() == 1 ? finish_single_rank(n) : void();
        if (defers_last_combination()) add_own(me, last, 0, n, true);
        if (!is_direct()) env_.store(call_.result(me), at, sum(last), n);
    }
    /// A single rank: its operand is the result.
    void finish_single_rank(std::size_t n) {
        if (!call_.args.in) return;
        env_.load(sum(0), operand(call_.args), 0, n);
        env_.store(call_.result(0), 0, sum(0), n);
    }

    Env& env_;
    SlicedCall<Args> call_;
    Slices slices_;
    Reducer reducer_;
    Messages<Env> messages_;
    Ref<Datatype> byte_;
    PooledBytes sums_[2];
    std::vector<std::byte> packed_;   ///< of an operand with gaps
};

}   // namespace tutti::coll

// allreduce/ring: the reduction on a ring, then an allgather in which the results travel along the ring. 2 (p − 1)
// steps; 7 (p − 1)·s bytes if messages take one copy: YHCCL (Peng et al., SC 2023), table 2. Patarasuk and Yuan, 2009.

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task ring(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    RingReduction<Env, ReduceArgs> reduction(env, a, Receives::all);
    co_await reduction.run();
    Slices const& slices = reduction.slices();
    Messages<Env>& messages = reduction.messages();
    for (int j = 0; j + 1 < env.size(); ++j) {
        int const outgoing_slice = reduction.slice(j), incoming = reduction.slice(j + 1);
        co_await messages.exchange(
            reduction.right(), {result(a), slices.position(outgoing_slice, 0), slices.bytes(outgoing_slice, 0)},
            reduction.left(), slices.bytes(incoming, 0), messages.into(result(a), slices.position(incoming, 0)));
    }
    co_await messages.close();
}

extern constinit const Algorithm<ReduceArgs> ring_algorithm = {
    "ring",
    "slices move around a ring of all ranks, first to be reduced, then to be gathered",
    Family::baseline,
    "ring (Patarasuk and Yuan, JPDC 2009)",
    requires_commutative_operator | requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(ring),
    {"(p - 1)*(7*s + 2*p*staged(s/p))"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/rank_order: along all ranks in their order, in segments, and from the last one to the root; the result has the
// same bits whatever the placement. p + s/segment consecutive messages. The definition, MPI 3.1, section 5.9.1.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task rank_order(Env& env, ReduceArgs const& a) {
    return reduce_to_root(env, a, rank_order_position(env.frames(), env.rank(), env.size()), env.size() - 1,
                          a.parameters[0]);
}

extern constinit const Algorithm<ReduceArgs> rank_order_algorithm = {
    "rank_order",
    "partial results move along all ranks in rank order",
    Family::baseline,
    "the definition, MPI 3.1, section 5.9.1",
    requires_nothing,
    rank_order_parameters,
    TUTTI_SHM_AND_NET(rank_order),
    {"(p - 1)*(3*s + staged(s, segment)) + (root < p - 1 ? 2*s + staged(s, segment) : 0)"}};

}   // namespace tutti::coll::algorithms::reduce

// reduce_scatter(_block)/pairwise: in step i each rank sends its operand of the share of rank + i and combines the
// operand received from rank − i. Shares of any sizes; only operands are sent. p − 1 steps; each rank sends and
// combines s (p − 1)/p. Operands arrive in rotated order, so operators must commute.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005.

namespace tutti::coll::algorithms::reduce_scatter {

/// In place, the result is where others still read, so the partial result is kept in other memory.
template <class Env>
Task pairwise(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    int const size = env.size(), rank = env.rank();
    Shares const shares(a, env.frames());
    Reducer reducer(env.traffic(), a);
    std::size_t const element = reducer.element_bytes(), mine = shares.bytes(rank);
    bool const direct = a.in && a.type->dense(a.count);
    PooledBytes const buffer = direct ? PooledBytes() : PooledBytes(env.frames(), mine);
    std::byte* const sum = direct ? first_byte(shares.result(rank)) : buffer.get();
    std::byte const* current = direct ? first_byte(operand(a)) + shares.start(rank) : sum;
    if (!direct) env.load(sum, operand(a), shares.start(rank), mine);
    auto const add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {current + at, from};
        reducer.combine(operands, 2, sum + at, n / element);
    };
    Messages<Env> m(env, element);
    for (int i = 1; i < size; ++i) {
        int const to = (rank + i) % size, from = (rank - i + size) % size;
        MessagePart const sent{operand(a), shares.start(to), shares.bytes(to)};
        co_await m.exchange(to, sent, from, mine, add);
        current = sum;
    }
    shares.deliver(env, current);
    co_await m.close();
}

extern constinit const Algorithm<ReduceScatterArgs> pairwise_algorithm = {
    "pairwise",
    "in each of p − 1 steps, a rank receives and combines its share from one more rank",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_commutative_operator | requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(pairwise),
    {"(p - 1)*(3*s + p*staged(s/p))"}};

// reduce_scatter(_block)/rank_order: along all ranks in their order, in segments, and from the last one to each rank
// its share; the result has the same bits whatever the placement, and operators need not commute. p + s/segment
// consecutive messages. The last rank keeps the result of one slice at a time. In place, a rank's share of a slice
// overwrites only operands of earlier slices. The definition, MPI 3.1, section 5.10.

/// Reduces the elements of `slice`, which begin at packed byte `start` of the vector.
template <class Env>
Task rank_order_slice(Env& env, Messages<Env>& m, ReduceScatterArgs const& a, Shares const& shares, ReduceArgs slice,
                      std::size_t start) {
    int const rank = env.rank(), last = env.size() - 1;
    std::size_t const end = start + slice.bytes();
    TypedBuffer const sum = rank == last ? TypedBuffer(*a.type, slice.count, &env.frames()) : TypedBuffer();
    slice.out = sum.origin();
    Segments const segments(slice.bytes(), element_of(a), a.parameters[0]);
    CombineUp<Env> up(env, m, slice, rank_order_position(env.frames(), rank, env.size()), segments, rank == last);
    co_await flow<Env>(env, up, nullptr, segments.count, 0);
    auto const from = [&](int r) { return std::clamp(shares.start(r), start, end); };
    auto const bytes = [&](int r) { return std::clamp(shares.end(r), start, end) - from(r); };
    if (rank == last) {
        for (int to = 0; to < last; ++to) co_await m.start(to, {result(slice), from(to) - start, bytes(to)});
        PooledBytes const mine(env.frames(), bytes(last));
        env.load(mine.get(), result(slice), from(last) - start, bytes(last));
        env.store(shares.result(last), from(last) - shares.start(last), mine.get(), bytes(last));
        for (int to = 0; to < last; ++to) co_await m.finish(to);
    } else {   // even if empty, so that no rank is ahead of the others by more than a slice
        co_await m.receive(last, bytes(rank), m.into(shares.result(rank), from(rank) - shares.start(rank)));
    }
}

template <class Env>
Task rank_order(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    Shares const shares(a, env.frames());
    Messages<Env> m(env, element_of(a));
    ReduceArgs whole_vector = a;
    whole_vector.in = operand(a).address;
    Segments const slices(a.bytes(), element_of(a), a.parameters[1] / 2);
    for (std::uint64_t k = 0; k < slices.count; ++k)
        co_await rank_order_slice(env, m, a, shares, slices.slice(whole_vector, k), slices.at(k));
    co_await m.close();
}

constexpr Parameter rank_order_in_slices_parameters[] = {
    rank_order_parameters[0], {"memory", 8 << 20, "memory of the last rank, in bytes, for partial results in flight"}};
extern constinit const Algorithm<ReduceScatterArgs> rank_order_algorithm = {
    "rank_order",
    "partial results move along all ranks in rank order, and the last one scatters the result",
    Family::baseline,
    "the definition, MPI 3.1, section 5.10",
    requires_nothing,
    rank_order_in_slices_parameters,
    TUTTI_SHM_AND_NET(rank_order),
    {"h = memory/2; (3*p - 1)*s + 2*s/p + sum(k, ceil(s/h), (p - 1)*staged(min(h, s - k*h), segment) + "
     "sum(j, p - 1, staged(max(0, min((k + 1)*h, (j + 1)*s/p) - max(k*h, j*s/p)))))"}};

// reduce_scatter(_block)/ring: the reduction on a ring; each slice ends at the rank whose share it is. p − 1 steps; 5
// (p − 1)·s bytes loaded and stored by all ranks together if messages take one copy.
// The volume: YHCCL (Peng et al., SC 2023), table 1.

template <class Env>
Task ring(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    RingReduction<Env, ReduceScatterArgs> reduction(env, a, Receives::own);
    co_await reduction.run();
    co_await reduction.messages().close();
}

extern constinit const Algorithm<ReduceScatterArgs> ring_algorithm = {
    "ring",
    "each slice moves around a ring of all ranks, and each rank combines its operand",
    Family::baseline,
    "ring (Patarasuk and Yuan, JPDC 2009)",
    requires_commutative_operator | requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(ring),
    {"(p - 1)*(5*s + p*staged(s/p))"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
