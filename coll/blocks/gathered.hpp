// SPDX-License-Identifier: BSD-3-Clause
// Reductions of small messages over several nodes in which every rank receives all operands and combines those it
// needs, in rank order from the left: the result has the same bits wherever ranks run. Each node gathers at its master,
// the masters exchange what they have, and each master broadcasts all of it on its node. One step between N nodes, with
// N − 1 messages out and in; with p ranks, fewer than p·s bytes arrive and p·s are combined. The vector is cut into
// slices if a node has no memory for all operands at each of its ranks.
#pragma once

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/relay.hpp"
#include "coll/env/net_env.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// The slices of an operand that are combined at a time.
inline Segments gathered_slices(ReduceArgs const& a, NodePartition const& map, std::size_t memory) {
    std::size_t ranks = 0;
    for (int n = 0; n < map.count(); ++n) ranks += static_cast<std::size_t>(map.size(n));
    return {a.bytes(), element_of(a), bytes_per_piece(memory, ranks * static_cast<std::size_t>(map.largest()))};
}

/// Number of operations on the node that fold_gathered needs.
inline std::uint64_t gather_operations(ReduceArgs const& a, NodePartition const& map, std::size_t memory) {
    return 2 * gathered_slices(a, map, memory).count;
}

/// The packed operands of all ranks, node after node.
class GatheredOperands {
public:
    GatheredOperands(NetEnv& env, ReduceArgs const& a)
        : env_(env), a_(a), bytes_(a.bytes()), all_(env.frames(), bytes_ * static_cast<std::size_t>(env.size())),
          starts_(env.frames()) {
        NodePartition const& map = env.partition();
        for (int n = 0, ranks = 0; n < map.count(); ranks += map.size(n++)) starts_.push_back(ranks);
    }
    FramePool& frames() { return env_.frames(); }

    Task run() {
        NodePartition const& map = env_.partition();
        RootedArgs inside{};
        ConstBuffer const mine = operand(a_);
        inside.mine = {const_cast<void*>(mine.address), mine.count, mine.type};
        Buffer const part = packed_buffer(block(map.own_part()), bytes_);
        inside.parts = Parts::regular(part.address, part.count, *part.type);
        inside.root = 0;
        inside.max_part_bytes = bytes_;
        co_await on_node(env_, Collective::gather, inside);
        if (map.index_of(env_.rank()) == 0) {
            NetEnv team(env_, map.masters(frames()), env_.multi_node().masters);
            co_await exchange(team);
        }
        co_await on_node(env_, Collective::bcast,
                         bcast_bytes_args(all_.get(), bytes_ * static_cast<std::size_t>(env_.size()), 0));
    }

    /// The operand of a rank.
    std::byte const* operator[](int rank) const {
        NodePartition const& map = env_.partition();
        return all_.get() + bytes_ * static_cast<std::size_t>(starts_[static_cast<std::size_t>(map.part_of(rank))] +
                                                              map.index_of(rank));
    }

private:
    std::byte* block(int node) const {
        return all_.get() + bytes_ * static_cast<std::size_t>(starts_[static_cast<std::size_t>(node)]);
    }
    std::size_t block_bytes(int node) const { return bytes_ * static_cast<std::size_t>(env_.partition().size(node)); }

    Task exchange(NetEnv& team) {
        Messages<NetEnv> m(team);
        PooledVector<int> others(frames());
        for (int i = 1; i < team.size(); ++i) others.push_back((team.rank() + i) % team.size());
        co_await m.exchange_all(
            others, others, [&](int) { return packed_part(block(team.rank()), block_bytes(team.rank())); },
            [&](int from) { return block_bytes(from); },
            [&](int from) { return m.into(packed_buffer(block(from), block_bytes(from)), 0); });
        co_await m.close();
    }

    NetEnv& env_;
    ReduceArgs const& a_;
    std::size_t bytes_;
    PooledBytes all_;
    PooledVector<int> starts_;   ///< of each node, in operands
};

inline Task fold_slice(NetEnv& env, ReduceArgs const& a, int ranks) {
    GatheredOperands all(env, a);
    co_await all.run();
    if (ranks == 0) co_return;
    PooledVector<void const*> operands(env.frames());
    for (int r = 0; r < ranks; ++r) operands.push_back(all[r]);
    bool const dense = a.type->dense(a.count);
    PooledBytes const packed = dense ? PooledBytes() : PooledBytes(env.frames(), a.bytes());
    std::byte* const sum = dense ? first_byte(result(a)) : packed.get();
    Reducer reducer(env.traffic(), a);
    reducer.combine(operands.data(), ranks, sum, a.bytes() / reducer.element_bytes());
    if (!dense) env.store(result(a), 0, sum, a.bytes());
}

/// Combines the operands of the first `ranks` ranks into this rank's result; 0: the result is not modified. `memory`:
/// bytes that a node has for operands.
inline Task fold_gathered(NetEnv& env, ReduceArgs const& a, int ranks, std::size_t memory) {
    Segments const slices = gathered_slices(a, env.partition(), memory);
    for (std::uint64_t k = 0; k < slices.count; ++k) co_await fold_slice(env, slices.slice(a, k), ranks);
}

}   // namespace tutti::coll
