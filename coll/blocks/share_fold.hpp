// SPDX-License-Identifier: BSD-3-Clause
// Reductions in which every rank combines one share of all operands in a single pass, in rank order, with messages
// between all pairs: one step for a reduce_scatter, one more for an allreduce. Of s bytes, each rank sends and receives
// all but its own share, once or twice. Operators need not be commutative. Reduce_scatter and allgather (van de Geijn,
// InterCom, 1994) by direct exchanges, as DPML does in shared memory.
#pragma once

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/reducer.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

template <class Env>
class ShareFold {
public:
    /// starts[r] and starts[r + 1]: where the share of rank r begins and ends in the packed vector.
    ShareFold(Env& env, Messages<Env>& m, ReduceArgs const& a, PooledVector<std::size_t> starts)
        : env_(env), m_(m), reducer_(env.traffic(), a), starts_(std::move(starts)), rank_(env.rank()),
          size_(env.size()) {}
    FramePool& frames() { return env_.frames(); }

    std::size_t start(int rank) const { return starts_[static_cast<std::size_t>(rank)]; }
    std::size_t bytes(int rank) const { return start(rank + 1) - start(rank); }

    /// Reduces this rank's share of all vectors, of which `mine` is its own, to `sum`, packed.
    Task reduce(ConstBuffer mine, std::byte* sum) {
        std::size_t const share = bytes(rank_);
        PooledBytes const others(frames(), share * static_cast<std::size_t>(size_));
        auto const buffer_of = [&](int rank) { return others.get() + share * static_cast<std::size_t>(rank); };
        PooledVector<int> const to = ranks_with_shares(), from = other_ranks(share > 0);
        co_await m_.exchange_all(
            to, from,
            [&](int peer) -> MessagePart {
                return {mine, start(peer), bytes(peer)};
            },
            [&](int) { return share; }, [&](int peer) { return m_.into(packed_buffer(buffer_of(peer), share), 0); });
        if (share == 0) co_return;
        bool const direct = mine.type->dense(mine.count);
        if (!direct) env_.load(sum, mine, start(rank_), share);
        PooledVector<void const*> operands(frames());
        for (int r = 0; r < size_; ++r) operands.push_back(buffer_of(r));
        operands[static_cast<std::size_t>(rank_)] = direct ? first_byte(mine) + start(rank_) : sum;
        reducer_.combine(operands.data(), size_, sum, share / reducer_.element_bytes());
    }

    /// Sends this rank's share `sum` to all other ranks, and receives theirs into the result.
    Task gather(std::byte const* sum, Buffer result) {
        std::size_t const share = bytes(rank_);
        PooledVector<int> const from = ranks_with_shares(), to = other_ranks(share > 0);
        co_await m_.exchange_all(
            to, from, [&](int) { return packed_part(sum, share); }, [&](int peer) { return bytes(peer); },
            [&](int peer) { return m_.into(result, start(peer)); });
    }

private:
    /// All other ranks, in an order in which no two ranks begin with the same one.
    PooledVector<int> other_ranks(bool nonempty) {
        PooledVector<int> all(frames());
        for (int i = 1; nonempty && i < size_; ++i) all.push_back((rank_ + i) % size_);
        return all;
    }
    PooledVector<int> ranks_with_shares() {
        PooledVector<int> all = other_ranks(true);
        std::erase_if(all, [&](int rank) { return bytes(rank) == 0; });
        return all;
    }

    Env& env_;
    Messages<Env>& m_;
    Reducer reducer_;
    PooledVector<std::size_t> starts_;
    int rank_, size_;
};

template <class Env>
Task allreduce_by_shares(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    PooledVector<std::size_t> starts({0}, env.frames());
    for (int r = 0; r < env.size(); ++r) starts.push_back(Share(a.bytes(), element_bytes(a), r, env.size(), 1).last);
    Messages<Env> m(env, element_bytes(a));
    ShareFold<Env> fold(env, m, a, std::move(starts));
    std::size_t const first = fold.start(env.rank()), share = fold.bytes(env.rank());
    bool const dense = a.type->dense(a.count);
    PooledBytes const packed = dense ? PooledBytes() : PooledBytes(env.frames(), share);
    std::byte* const sum = dense ? first_byte(result(a)) + first : packed.get();
    co_await fold.reduce(operand(a), sum);
    if (!dense) env.store(result(a), first, sum, share);
    co_await fold.gather(sum, result(a));
    co_await m.close();
}

}   // namespace tutti::coll
