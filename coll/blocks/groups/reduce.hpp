// SPDX-License-Identifier: BSD-3-Clause
// Reductions between two groups by messages, where buffers cannot be reached: every rank gets one slice of everybody's
// operand, combines it in rank order, and passes the sum on. Messages are copied in and out piece by piece, so the
// pieces at one place come in the order of the ranks, and a slice is combined while the rest of it is on its way.
#pragma once

#include <cstring>
#include <vector>

#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Bytes [first, first + bytes) of a packed operand.
struct GroupSlice {
    std::size_t first, bytes;
};

/// The slice of one of the ranks of a group that shares the work; every rank finds the same.
inline GroupSlice slice_of(ReduceArgs const& a, Ranks group, int rank, std::size_t smallest) {
    Share const share(a.bytes(), element_bytes(a), rank - group.first, group.size(), smallest);
    return {share.first, share.last - share.first};
}

/// The sum of a slice over some ranks: the first one's piece is laid down, the others' are combined with it. With an
/// operand of this rank's own, that one comes in at its place.
struct SliceSum {
    SliceSum(FramePool& frames, std::size_t bytes, int first_rank) : packed(frames, bytes), first(first_rank) {}
    PooledBytes packed;
    int first;
    std::byte const* own = nullptr;   ///< it comes before the piece of
    int next = -1;                    ///< this rank
};

template <class Env>
class GroupFold {
public:
    GroupFold(Env& env, ReduceArgs const& args)
        : env_(env), args_(args), reducer_(env.traffic(), args), messages(env, element_bytes(args), never, never) {}

    FramePool& frames() { return env_.frames(); }

    /// Sends each of `peers` the slice of this rank's operand that `part(peer)` names, and adds what they send, `bytes`
    /// bytes each, to `sum`. Peers are in rank order.
    template <class Part>
    Task exchange(std::span<int const> peers, Part part, std::size_t bytes, SliceSum& sum) {
        ConstBuffer const mine = operand(args_);
        co_await messages.exchange_all(
            peers,
            [&](int to) -> MessagePart {
                GroupSlice const s = part(to);
                return {mine, s.first, s.bytes};
            },
            [bytes](int) { return bytes; },
            [&](int from) {
                return Add{this, &sum, from};
            });
    }

    /// inout = in[0] op in[1] … op in[k − 1], of whole slices.
    void combine(void const* const* in, int k, void* out, std::size_t bytes) {
        reducer_.combine(in, k, out, bytes / reducer_.element_bytes());
    }

private:
    static constexpr std::size_t never = ~std::size_t{0};

    struct Add {
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

/// Each rank combines its slice of the other group's operands and sends the sum to its own group.
template <class Env>
Task allreduce_by_slices(Env& env, ReduceArgs const& a, std::size_t smallest) {
    TwoGroups const groups(env, a);
    GroupSlice const mine = slice_of(a, groups.own, env.rank(), smallest);
    std::vector<int> const others = groups.other.all_but(-1), own = groups.own.all_but(env.rank());
    SliceSum sum(env.frames(), mine.bytes, others.front());
    GroupFold<Env> fold(env, a);
    co_await fold.exchange(
        others, [&](int to) { return slice_of(a, groups.other, to, smallest); }, mine.bytes, sum);
    env.store(result(a), mine.first, sum.packed.get(), mine.bytes);
    co_await fold.messages.exchange_all(
        std::span<int const>(own), [&](int) { return packed_part(sum.packed.get(), mine.bytes); },
        [&](int from) { return slice_of(a, groups.own, from, smallest).bytes; },
        [&](int from) { return fold.messages.into(result(a), slice_of(a, groups.own, from, smallest).first); });
    co_await fold.messages.close();
}

/// The operands' group combines slices among itself, each rank one, and all send theirs to the root.
template <class Env>
Task reduce_by_slices(Env& env, ReduceArgs const& a, std::size_t smallest) {
    TwoGroups const groups(env, a);
    GroupFold<Env> fold(env, a);
    if (env.rank() == a.root) {
        for (int from = groups.other.first; from < groups.other.last; ++from) {
            GroupSlice const slice = slice_of(a, groups.other, from, smallest);
            co_await fold.messages.receive(from, slice.bytes, fold.messages.into(result(a), slice.first));
        }
    } else if (groups.other.has(a.root)) {
        int const rank = env.rank();
        GroupSlice const mine = slice_of(a, groups.own, rank, smallest);
        std::vector<int> const own = groups.own.all_but(rank);
        bool const first = groups.place() == 0, last = rank + 1 == groups.own.last;
        PooledBytes const here(env.frames(), first ? 0 : mine.bytes);
        SliceSum sum(env.frames(), mine.bytes, first ? rank : groups.own.first);
        env.load(first ? sum.packed.get() : here.get(), operand(a), mine.first, mine.bytes);
        if (!first) sum.own = here.get(), sum.next = rank + 1;
        co_await fold.exchange(
            own, [&](int to) { return slice_of(a, groups.own, to, smallest); }, mine.bytes, sum);
        void const* const operands[] = {sum.packed.get(), here.get()};
        if (last && !first) fold.combine(operands, 2, sum.packed.get(), mine.bytes);
        co_await fold.messages.send(a.root, packed_part(sum.packed.get(), mine.bytes));
    }
    co_await fold.messages.close();
}

/// Each rank tells the other group which elements it wants, and combines what they send of them.
template <class Env>
Task reduce_scatter_by_slices(Env& env, ReduceScatterArgs const& a) {
    TwoGroups const groups(env, a);
    auto const count = a.counts.begin() + groups.place();
    std::size_t const element = element_bytes(a);
    GroupSlice const mine{element * std::accumulate(a.counts.begin(), count, std::size_t{0}),
                          element * static_cast<std::size_t>(*count)};
    std::vector<int> const others = groups.other.all_but(-1);
    SliceSum sum(env.frames(), mine.bytes, others.front());
    GroupFold<Env> fold(env, a);
    std::vector<GroupSlice> wanted(others.size());
    auto const wish = [&](int peer) { return &wanted[static_cast<std::size_t>(peer - groups.other.first)]; };
    co_await fold.messages.exchange_all(
        std::span<int const>(others),
        [&](int) { return packed_part(reinterpret_cast<std::byte const*>(&mine), sizeof mine); },
        [](int) { return sizeof(GroupSlice); },
        [&](int from) {
            return [to = wish(from)](std::byte const* piece, std::size_t at, std::size_t n) {
                std::memcpy(reinterpret_cast<std::byte*>(to) + at, piece, n);
            };
        });
    co_await fold.exchange(
        others, [&](int to) { return *wish(to); }, mine.bytes, sum);
    env.store(Buffer{a.out, *count, a.type}, 0, sum.packed.get(), mine.bytes);
    co_await fold.messages.close();
}

}   // namespace tutti::coll
