// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter between nodes.
//
// reduce_scatter(_block)/masters: each node reduces the whole vector to its master through shared memory; each master
// gets the others' partial results of its node's share, combines them in the order of nodes, and scatters the result on
// its node. Shares of any sizes. One step between N nodes, in which s bytes less one share leave and N − 1 such shares
// enter; if a node has no memory for the whole vector, this is repeated for slices of every node's share.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3;
// coll/blocks/share_fold.hpp.
//
// In place, the result of a slice overwrites operands, but only those of earlier slices: an element with index x in the
// vector has at most index x in its node's share, and its index in its node's share is at least that in its rank's
// share.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/gathered.hpp"
#include "coll/blocks/halving.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/relay.hpp"
#include "coll/blocks/share_fold.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll::algorithms::reduce_scatter {
namespace {

std::size_t share_of_node(ReduceScatterArgs const& a, NodePartition const& map, int node) {
    std::size_t elements = 0;   // may exceed an int, as the number of all ranks' elements may
    for (int r : map.members(node)) elements += static_cast<std::size_t>(a.counts[static_cast<std::size_t>(r)]);
    return elements * static_cast<std::size_t>(a.type->size());
}

/// Determines the slices of the nodes' shares; the share of a node is those of its ranks, one after the other. A master
/// has memory for a slice's partial result, for as much again received from the other nodes, and for reordering it if
/// ranks are not consecutive; in that case its ranks also pack their operands for one node.
Segments slices_of(ReduceScatterArgs const& a, NodePartition const& map) {
    std::size_t largest = 0;
    for (int n = 0; n < map.count(); ++n) largest = std::max(largest, share_of_node(a, map, n));
    std::size_t const pieces = static_cast<std::size_t>(4 * map.count() + map.largest());
    return {largest, element_of(a), bytes_per_piece(a.parameters[0], pieces)};
}

/// The state of one rank.
class ShareSlices {
public:
    ShareSlices(NetEnv& env, ReduceScatterArgs const& a)
        : env_(env), a_(a), map_(env.partition()), shares_(a, env.frames()), slices_(slices_of(a, map_)),
          in_order_(map_.is_consecutive()), starts_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }
    bool master() const { return map_.index_of(env_.rank()) == 0; }

    Task run() {
        for (std::uint64_t k = 0; k < slices_.count; ++k) co_await run_slice(k);
    }

private:
    Task run_slice(std::uint64_t k) {
        cut(k);
        std::size_t const mine = starts_[static_cast<std::size_t>(map_.own_part())];
        std::size_t const share = starts_[static_cast<std::size_t>(map_.own_part()) + 1] - mine;
        TypedBuffer const sum = master_buffer(starts_.back()), part = master_buffer(share);
        if (slices_.count == 1) co_await reduce(operand(a_), sum.origin());
        else co_await reduce_slice(sum.origin());
        Buffer const result = buffer(part.origin(), share);
        if (master()) co_await among_masters(buffer(sum.origin(), starts_.back()), result);
        co_await scatter_result(result);
    }
    /// Determines where slice k begins in the nodes' shares, and where each node's piece of it begins among the pieces
    /// of all.
    void cut(std::uint64_t k) {
        first_ = slices_.at(k);
        std::size_t const end = first_ + slices_.length;
        starts_.assign(1, 0);
        for (int n = 0; n < map_.count(); ++n) {
            std::size_t const share = share_of_node(a_, map_, n);
            starts_.push_back(starts_.back() + std::min(end, share) - std::min(first_, share));
        }
    }
    /// Calls f(rank, offset in its share, bytes) for the parts of the slice that belong to a node's ranks.
    template <class F>
    void each_part(int node, F f) const {
        std::size_t at = 0;
        for (int r : map_.members(node)) {
            std::size_t const end = at + shares_.bytes(r), from = std::clamp(first_, at, end);
            f(r, from - at, std::clamp(first_ + slices_.length, at, end) - from);
            at = end;
        }
    }
    std::int64_t elements(std::size_t bytes) const { return static_cast<std::int64_t>(bytes) / a_.type->size(); }
    std::int64_t distance(std::size_t bytes) const { return elements(bytes) * a_.type->extent(); }
    Buffer buffer(std::byte* origin, std::size_t bytes) const { return {origin, elements(bytes), a_.type}; }
    /// Allocates memory at the master; an empty object at other ranks.
    TypedBuffer master_buffer(std::size_t bytes) {
        return master() ? TypedBuffer(*a_.type, elements(bytes), &frames()) : TypedBuffer();
    }

    Task reduce(ConstBuffer mine, std::byte* sum) {
        ReduceArgs inside = a_;
        inside.root = 0;
        inside.in = mine.address;
        inside.count = mine.count;
        inside.out = sum;
        co_await on_node(env_, Collective::reduce, inside);
    }
    /// Reduces each node's piece, in the order of nodes.
    Task reduce_slice(std::byte* sum) {
        for (int n = 0; n < map_.count(); ++n) {
            auto const i = static_cast<std::size_t>(n);
            std::size_t const bytes = starts_[i + 1] - starts_[i];
            if (bytes == 0) continue;
            TypedBuffer const packed = in_order_ ? TypedBuffer() : TypedBuffer(*a_.type, elements(bytes), &frames());
            std::byte* const to = master() ? sum + distance(starts_[i]) : nullptr;
            co_await reduce({operand_of(n, packed.origin()), elements(bytes), a_.type}, to);
        }
    }
    /// Returns the operand for a node's piece, in the user's buffer or packed.
    void const* operand_of(int node, std::byte* packed) {
        auto const* const all = static_cast<std::byte const*>(operand(a_).address);
        if (in_order_) return all + distance(shares_.start(map_.members(node).front()) + first_);
        std::int64_t at = 0;
        each_part(node, [&](int r, std::size_t from, std::size_t bytes) {
            ConstBuffer const part{all + distance(shares_.start(r) + from), elements(bytes), a_.type};
            copy_between(env_, buffer(packed + at, bytes), part, 0, bytes);
            at += distance(bytes);
        });
        return packed;
    }

    /// Combines the share of this master's node over all nodes into `share`.
    Task among_masters(Buffer sum, Buffer share) {
        NetEnv team(env_, map_.masters(frames()), env_.multi_node().masters);
        PooledBytes ordered;
        if (slices_.count == 1 && !in_order_) {   // the whole vector, in the order of its ranks
            ordered = PooledBytes(frames(), sum.bytes());
            std::byte* to = ordered.get();
            for (int n = 0; n < map_.count(); ++n)
                for (int r : map_.members(n)) {
                    env_.load(to, sum, shares_.start(r), shares_.bytes(r));
                    to += shares_.bytes(r);
                }
            sum = packed_buffer(ordered.get(), sum.bytes());
        }
        Messages<NetEnv> m(team, element_bytes(a_));
        ShareFold<NetEnv> fold(team, m, a_, starts_);
        PooledBytes const packed(frames(), share.bytes());
        co_await fold.reduce(sum, packed.get());
        env_.store(share, 0, packed.get(), share.bytes());
        co_await m.close();
    }

    Task scatter_result(Buffer share) {
        RootedArgs scatter_args{};
        PartList parts(frames());
        auto* part = static_cast<std::byte*>(share.address);
        each_part(map_.own_part(), [&](int r, std::size_t from, std::size_t bytes) {
            if (master()) parts.add(buffer(part, bytes));
            if (master()) part += distance(bytes);
            if (r == env_.rank()) scatter_args.mine = buffer(static_cast<std::byte*>(a_.out) + distance(from), bytes);
        });
        scatter_args.parts = parts.parts();
        scatter_args.root = 0;
        scatter_args.equal_parts = false;
        co_await on_node(env_, Collective::scatter, scatter_args);
    }

    NetEnv& env_;
    ReduceScatterArgs const& a_;
    NodePartition const& map_;
    Shares const shares_;
    Segments const slices_;
    bool const in_order_;                ///< the ranks of each node are consecutive
    std::size_t first_ = 0;              ///< where the current slice begins in each node's share
    PooledVector<std::size_t> starts_;   ///< where the slice's pieces begin, node after node
};

Task masters(NetEnv& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    ShareSlices slices(env, a);
    co_await slices.run();
}

std::uint64_t masters_operations(ReduceScatterArgs const& a, NodePartition const& map) {
    if (a.bytes() == 0) return 0;
    std::uint64_t const slices = slices_of(a, map).count;
    return slices == 1 ? 2 : slices * (static_cast<std::uint64_t>(map.count()) + 1);
}

}   // namespace

constexpr Parameter masters_parameters[] = {memory_parameter};
extern constinit const Algorithm<ReduceScatterArgs> masters_algorithm = {
    "masters",
    "nodes reduce to their masters, which exchange their nodes' shares and scatter them",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3",
    requires_commutative_or_consecutive | requires_reassociation,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::reduce_scatter
