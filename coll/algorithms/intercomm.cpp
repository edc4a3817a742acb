// SPDX-License-Identifier: BSD-3-Clause
// The collectives of intercommunicators: one algorithm for each, made of messages, so that it also runs between nodes.
// p ranks in this group, q in the other, s bytes; ranks are those of the union group. Reductions combine operands in
// rank order.
//
//   bcast                a binomial tree of the root and the other group: log2(q + 1) consecutive messages, q·s bytes
//   gather, scatter      one message between the root and each rank of the other group, all in flight at the same time
//   allgather, alltoall  one message to and from each rank of the other group, all in flight at the same time
//   reduce               each rank combines a slice of its group's operands for the root: two steps, q·s bytes
//   allreduce            each rank combines a slice of the other group's operands for its own group: two steps,
//                        (2q + p − 1)·s bytes
//   reduce_scatter       each rank gets its range of the other group's operands: two steps, (p + q)·s bytes
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/tree.hpp"
#include "coll/blocks/two_groups.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {
namespace {

/// Sends parts to the ranks `to` and receives parts from `from`, both in the other group, all at the same time.
template <class Env>
Task exchange_with(Env& env, IntercommGroups groups, std::vector<int> to, std::vector<int> from, Parts out, Parts in) {
    Messages<Env> m(env);
    Truncation truncation;
    co_await m.exchange_all(
        to, from,
        [&out](int peer) -> MessagePart {
            Buffer const part = out[peer];
            return {part, 0, part.bytes()};
        },
        [&in](int peer) { return in[peer].bytes(); }, [&](int peer) { return m.into(in[peer], 0); });
    for (int peer : from) truncation.compare(peer, m.received(peer), in[peer].bytes());
    co_await m.close();
    truncation.check(env);
}

template <class Env>
Task exchange_with_remote_group(Env& env, CommonArgs const& a, Parts out, Parts in) {
    IntercommGroups const groups(env, a);
    std::vector<int> const peers = groups.remote_ranks();
    return exchange_with(env, groups, peers, peers, out, in);
}

/// Bytes [first, first + bytes) of a packed operand.
struct GroupSlice {
    std::size_t first, bytes;
};

/// Returns the slice that `rank` of a group combines. All ranks compute the same result.
inline GroupSlice slice_of(ReduceArgs const& a, GroupRanks group, int rank, std::size_t smallest) {
    Share const share(a.bytes(), element_bytes(a), rank - group.first, group.size(), smallest);
    return {share.first, share.last - share.first};
}

/// The reduction of a slice over some ranks: a copy of the first rank's piece, combined with those of the others. This
/// rank's own operand, if it has one, is combined at its position in rank order.
struct SliceSum {
    SliceSum(FramePool& frames, std::size_t bytes, int first_rank) : packed(frames, bytes), first(first_rank) {}
    PooledBytes packed;
    int first;
    std::byte const* own = nullptr;   ///< this rank's operand; null: none
    int next = -1;                    ///< the rank whose piece follows this rank's operand
};

/// Exchanges slices of operands as messages and combines those received.
template <class Env>
class GroupFold {
public:
    GroupFold(Env& env, ReduceArgs const& args)
        : env_(env), args_(args), reducer_(env.traffic(), args),
          messages(env, {.grain = element_bytes(args), .direct = never, .cma = never}) {}

    FramePool& frames() { return env_.frames(); }

    /// Sends each of `peers` the slice part(peer) of this rank's operand, and adds the `bytes` bytes received from each
    /// of them to `sum`. Peers must be in rank order.
    template <class Part>
    Task exchange(std::span<int const> peers, Part part, std::size_t bytes, SliceSum& sum) {
        ConstBuffer const mine = operand(args_);
        co_await messages.exchange_all(
            peers, peers,
            [&](int to) -> MessagePart {
                GroupSlice const s = part(to);
                return {mine, s.first, s.bytes};
            },
            [bytes](int) { return bytes; },
            [&](int from) {
                return Accumulate{this, &sum, from};
            });
    }

    /// Computes out = in[0] op in[1] … op in[k − 1] for whole slices.
    void combine(void const* const* in, int k, void* out, std::size_t bytes) {
        reducer_.combine(in, k, out, bytes / reducer_.element_bytes());
    }

private:
    static constexpr std::size_t never = ~std::size_t{0};

    struct Accumulate {
        GroupFold* fold;
        SliceSum* sum;
        int from;
        void operator()(std::byte const* piece, std::size_t at, std::size_t n) const {
            if (n == 0) return;
            std::byte* const to = sum->packed.get() + at;
            if (from == sum->first) return fold->env_.copy(to, piece, n, 0);
            bool const own_first = from == sum->next;
            void const* const operands[] = {to, own_first ? sum->own + at : piece, piece};
            fold->combine(operands, own_first ? 3 : 2, to, n);
        }
    };

    Env& env_;
    ReduceArgs const& args_;
    Reducer reducer_;

public:
    Messages<Env> messages;
};

inline constexpr Parameter share_parameter = {"share", 1024, "bytes below which a rank's share is not divided further"};

template <class Env>
Task allreduce_by_slices(Env& env, ReduceArgs const& a, std::size_t smallest) {
    IntercommGroups const groups(env, a);
    GroupSlice const mine = slice_of(a, groups.local, env.rank(), smallest);
    std::vector<int> const others = groups.remote.all_but(-1), own = groups.local.all_but(env.rank());
    SliceSum sum(env.frames(), mine.bytes, others.front());
    GroupFold<Env> fold(env, a);
    co_await fold.exchange(
        others, [&](int to) { return slice_of(a, groups.remote, to, smallest); }, mine.bytes, sum);
    env.store(result(a), mine.first, sum.packed.get(), mine.bytes);
    co_await fold.messages.exchange_all(
        own, own, [&](int) { return packed_part(sum.packed.get(), mine.bytes); },
        [&](int from) { return slice_of(a, groups.local, from, smallest).bytes; },
        [&](int from) { return fold.messages.into(result(a), slice_of(a, groups.local, from, smallest).first); });
    co_await fold.messages.close();
}

template <class Env>
Task reduce_by_slices(Env& env, ReduceArgs const& a, std::size_t smallest) {
    IntercommGroups const groups(env, a);
    GroupFold<Env> fold(env, a);
    if (env.rank() == a.root) {
        for (int from = groups.remote.first; from < groups.remote.last; ++from) {
            GroupSlice const slice = slice_of(a, groups.remote, from, smallest);
            co_await fold.messages.receive(from, slice.bytes, fold.messages.into(result(a), slice.first));
        }
    } else if (groups.remote.contains(a.root)) {
        int const rank = env.rank();
        GroupSlice const mine = slice_of(a, groups.local, rank, smallest);
        std::vector<int> const own = groups.local.all_but(rank);
        bool const first = groups.group_rank() == 0, last = rank + 1 == groups.local.last;
        PooledBytes const here(env.frames(), first ? 0 : mine.bytes);
        SliceSum sum(env.frames(), mine.bytes, first ? rank : groups.local.first);
        env.load(first ? sum.packed.get() : here.get(), operand(a), mine.first, mine.bytes);
        if (!first) sum.own = here.get(), sum.next = rank + 1;
        co_await fold.exchange(
            own, [&](int to) { return slice_of(a, groups.local, to, smallest); }, mine.bytes, sum);
        void const* const operands[] = {sum.packed.get(), here.get()};
        if (last && !first) fold.combine(operands, 2, sum.packed.get(), mine.bytes);
        co_await fold.messages.send(a.root, packed_part(sum.packed.get(), mine.bytes));
    }
    co_await fold.messages.close();
}

/// Each rank first sends the other group the range of its result, because only its own group knows it.
template <class Env>
Task reduce_scatter_by_slices(Env& env, ReduceScatterArgs const& a) {
    IntercommGroups const groups(env, a);
    auto const count = a.counts.begin() + groups.group_rank();
    std::size_t const element = element_bytes(a);
    GroupSlice const mine{element * std::accumulate(a.counts.begin(), count, std::size_t{0}),
                          element * static_cast<std::size_t>(*count)};
    std::vector<int> const others = groups.remote.all_but(-1);
    SliceSum sum(env.frames(), mine.bytes, others.front());
    GroupFold<Env> fold(env, a);
    std::vector<GroupSlice> ranges(others.size());
    auto const range_of = [&](int peer) { return &ranges[static_cast<std::size_t>(peer - groups.remote.first)]; };
    co_await fold.messages.exchange_all(
        others, others, [&](int) { return packed_part(reinterpret_cast<std::byte const*>(&mine), sizeof mine); },
        [](int) { return sizeof(GroupSlice); },
        [&](int from) {
            return [to = range_of(from)](std::byte const* piece, std::size_t at, std::size_t n) {
                std::memcpy(reinterpret_cast<std::byte*>(to) + at, piece, n);
            };
        });
    co_await fold.exchange(
        others, [&](int to) { return *range_of(to); }, mine.bytes, sum);
    env.store(Buffer{a.out, *count, a.type}, 0, sum.packed.get(), mine.bytes);
    co_await fold.messages.close();
}

}   // namespace
}   // namespace tutti::coll

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task inter_binomial(Env& env, BcastArgs const& a) {
    IntercommGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.remote.contains(a.root)) co_return;
    GroupRanks const leaves = root ? groups.remote : groups.local;
    TreePosition const tree =
        binomial_tree(env.frames(), root ? 0 : 1 + groups.group_rank(), 1 + leaves.size()).renumbered([&](int vrank) {
            return vrank == 0 ? a.root : leaves.first + vrank - 1;
        });
    Messages<Env> m(env);
    Truncation truncation;
    if (!root) co_await receive_part(env, m, tree.parent, a.data, 0, truncation);
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
        co_await m.start(*child, {a.data, 0, a.data.bytes()});
    for (int child : tree.children) co_await m.finish(child);
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<BcastArgs> inter_binomial_algorithm = {
    "inter_binomial",
    "the root sends along a binomial tree of the other group",
    Family::baseline,
    "folklore",
    requires_intercommunicator,
    {},
    TUTTI_SHM_AND_NET(inter_binomial)};

}   // namespace tutti::coll::algorithms::bcast

namespace tutti::coll::algorithms::gather {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    IntercommGroups const groups(env, a);
    Parts const mine = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    if (groups.rank == a.root) return exchange_with(env, groups, {}, groups.counterparts(a.root), mine, a.parts);
    return exchange_with(env, groups, groups.counterparts(a.root), {}, mine, a.parts);
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear",
    "every rank of the other group sends to the root",
    Family::baseline,
    "folklore",
    requires_intercommunicator,
    {},
    TUTTI_SHM_AND_NET(inter_linear)};

}   // namespace tutti::coll::algorithms::gather

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    IntercommGroups const groups(env, a);
    Parts const mine = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    if (groups.rank == a.root) return exchange_with(env, groups, groups.counterparts(a.root), {}, a.parts, mine);
    return exchange_with(env, groups, {}, groups.counterparts(a.root), a.parts, mine);
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear",
    "the root sends to every rank of the other group",
    Family::baseline,
    "folklore",
    requires_intercommunicator,
    {},
    TUTTI_SHM_AND_NET(inter_linear)};

}   // namespace tutti::coll::algorithms::scatter

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task inter_linear(Env& env, AllgatherArgs const& a) {
    return exchange_with_remote_group(env, a, Parts::same(a.mine.address, a.mine.count, *a.mine.type), a.parts);
}

constexpr RecordHead inter_linear_head = {
    "inter_linear",
    "every rank exchanges messages with all ranks of the other group concurrently",
    Family::baseline,
    "folklore",
    requires_intercommunicator,
    {},
};
extern constinit const Algorithm<AllgatherArgs> inter_linear_algorithm = {inter_linear_head,
                                                                          TUTTI_SHM_AND_NET(inter_linear)};

}   // namespace tutti::coll::algorithms::allgather

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task inter_linear(Env& env, AlltoallArgs const& a) {
    return exchange_with_remote_group(env, a, a.send, a.receive);
}

extern constinit const Algorithm<AlltoallArgs> inter_linear_algorithm = {allgather::inter_linear_head,
                                                                         TUTTI_SHM_AND_NET(inter_linear)};

}   // namespace tutti::coll::algorithms::alltoall

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task inter_slices(Env& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await reduce_by_slices(env, a, a.parameters[0]);
}

constexpr Parameter inter_slices_parameters[] = {share_parameter};
constexpr RecordHead inter_slices_head = {
    "inter_slices",
    "each rank of the group combines a slice and sends it to the root",
    Family::tutti,
    "Tutti",
    requires_intercommunicator,
    inter_slices_parameters,
};
extern constinit const Algorithm<ReduceArgs> inter_slices_algorithm = {inter_slices_head,
                                                                       TUTTI_SHM_AND_NET(inter_slices)};

}   // namespace tutti::coll::algorithms::reduce

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task inter_slices(Env& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await allreduce_by_slices(env, a, a.parameters[0]);
}

extern constinit const Algorithm<ReduceArgs> inter_slices_algorithm = {
    reduce::inter_slices_head.described_as(
        "each rank combines a slice of the other group's operands for its own group"),
    TUTTI_SHM_AND_NET(inter_slices)};

}   // namespace tutti::coll::algorithms::allreduce

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task inter_slices(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() > 0) co_await reduce_scatter_by_slices(env, a);
}

extern constinit const Algorithm<ReduceScatterArgs> inter_slices_algorithm = {
    "inter_slices",
    "each rank gets its share of the other group's operands and combines it",
    Family::tutti,
    "Tutti",
    requires_intercommunicator,
    {},
    TUTTI_SHM_AND_NET(inter_slices)};

}   // namespace tutti::coll::algorithms::reduce_scatter
