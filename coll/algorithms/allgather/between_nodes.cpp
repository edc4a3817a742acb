// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) between nodes.
//
// masters: allgather(v) on several nodes. The masters exchange the sizes of all parts, together with their nodes'
// blocks if these are small (one step of N − 1 messages), and each master broadcasts them on its node. Larger blocks
// travel along a ring in segments of bounded memory, N − 1 steps; the broadcasts of the segments on the nodes overlap
// with the ring, except the last one.
// Ring: Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather"; masters: Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009;
// sending sizes together with parts is ours.
#include <algorithm>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/node_block.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/relay.hpp"
#include "coll/env/net_env.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
/// Flag in the size of a node's first part: the master had no room for everything that the node's master sent.
constexpr std::uint64_t truncated_flag = 1ULL << 63;

enum Index : std::size_t { direct, segment, with_sizes, memory };   // of masters_parameters

/// Returns the size limit of node blocks that are sent directly to all masters, bounded by a master's memory.
std::size_t direct_limit(AllgatherArgs const& a, NodePartition const& map) {
    return std::min(a.parameters[direct], bytes_per_piece(a.parameters[memory], static_cast<std::size_t>(map.count())));
}

constexpr std::size_t slots =
    NetFlow::pipeline_depth + 1;   // buffers of a master for each direction; other ranks have one

/// Returns the bytes of a segment.
std::size_t segment_bytes(AllgatherArgs const& a, NodePartition const& map) {
    auto const ranks = static_cast<std::size_t>(map.largest());
    return std::clamp<std::size_t>(a.parameters[segment] * ranks, 1,
                                   bytes_per_piece(a.parameters[memory], ranks + 2 * slots));
}

/// Returns the number of segments of a node's large block, which is the same for all blocks, whatever their sizes.
std::size_t max_segments(AllgatherArgs const& a, NodePartition const& map, std::size_t largest) {
    std::size_t const bytes = largest * static_cast<std::size_t>(map.largest()), piece = segment_bytes(a, map);
    return std::max<std::size_t>(1, (bytes + piece - 1) / piece);
}

/// The state of one rank.
class NodeAllgather {
public:
    NodeAllgather(NetEnv& env, AllgatherArgs const& a)
        : env_(env), a_(a), map_(env.partition()), direct_(direct_limit(a, map_)),
          blocks_(static_cast<std::size_t>(map_.count()), env.frames()),
          sizes_and_parts_(env.frames(), word * static_cast<std::size_t>(env.size()) + a.parameters[with_sizes]) {}
    FramePool& frames() { return env_.frames(); }
    bool master() const { return env_.rank() == map_.master(map_.own_part()); }

    Task run() {
        co_await gather_own_block();
        PooledVector<Packed> messages(frames());
        if (master()) co_await exchange(messages);
        co_await on_node(env_, Collective::bcast, bcast_bytes_args(sizes_and_parts_.data(), sizes_and_parts_.bytes, 0));
        make_blocks();
        store_direct_blocks(messages);
        messages.clear();
        co_await run_ring();
        if (!fits_with_sizes()) co_await broadcast_row();
        Truncation truncation;
        for (auto& b : blocks_) b->unpack(env_, truncation);
        if (truncated_rank_ >= 0)
            truncation.record(truncated_rank_, block(map_.part_of(truncated_rank_))->bytes,
                              room(map_.part_of(truncated_rank_)));
        truncation.check(env_);
    }

private:
    std::optional<NodeBlock>& block(int node) { return blocks_[static_cast<std::size_t>(node)]; }
    std::optional<NodeBlock>& own() { return block(map_.own_part()); }
    /// Returns where the sizes of a node's parts are.
    std::byte* sizes_of(int node) {
        std::size_t before = 0;
        for (int n = 0; n < node; ++n) before += map_.members(n).size();
        return sizes_and_parts_.data() + before * word;
    }
    std::size_t header_bytes(int node) const { return map_.members(node).size() * word; }
    bool is_direct(int node) { return block(node)->bytes <= direct_; }
    std::size_t others() {
        std::size_t sum = 0;
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.own_part()) sum += block(n)->bytes;
        return sum;
    }

    /// Gathers the node's own block: only at the master, or at all ranks of the node if its bytes arrive there together
    /// with the sizes or if the block is large.
    Task gather_own_block() {
        AllgatherArgs const& a = a_;
        Buffer const mine = a.is_in_place ? a.parts[env_.rank()] : a.mine;
        NodeSizes node(env_);
        co_await node.exchange(mine);
        int const here = map_.own_part();
        std::memcpy(sizes_of(here), node.sizes.data(), header_bytes(here));
        largest_ = node.largest();
        NodeBlock& block = own().emplace(frames(), a, map_.members(here), node.sizes);
        at_all_ranks_ = node.has_parts() || !is_direct(here);
        if (node.has_parts()) {
            for (std::size_t i = 0; (master() || at_all_ranks_) && i < node.sizes.size(); ++i)
                env_.store(block.part(i), 0, node.bytes_of(i), node.sizes[i]);
            co_return;
        }
        bool const in_place = a.is_in_place && block.is_in_user_buffer();
        PartList list(frames());
        for (std::size_t i = 0; (master() || at_all_ranks_) && i < node.sizes.size(); ++i) list.add(block.part(i));
        if (at_all_ranks_) co_await gather_at_all_ranks(list, mine, in_place);
        else co_await gather_at_master(list, mine, in_place);
    }
    Task gather_at_all_ranks(PartList const& list, Buffer mine, bool in_place) {
        AllgatherArgs args{};
        args.parts = list.parts();
        args.max_part_bytes = largest_;
        args.is_in_place = in_place;
        args.mine = in_place ? args.parts[map_.index_of(env_.rank())] : mine;
        co_await on_node(env_, Collective::allgather, args);
    }
    Task gather_at_master(PartList const& list, Buffer mine, bool in_place) {
        RootedArgs args{};
        args.mine = mine;
        args.root = 0;
        args.equal_parts = false;
        if (master()) {
            args.parts = list.parts();
            args.in_place_at_root = in_place;
            if (in_place) args.mine = args.parts[0];
        }
        co_await on_node(env_, Collective::gather, args);
    }

    /// Limit in bytes of the parts of other nodes that are broadcast together with the sizes.
    std::size_t max_with_sizes() const { return a_.parameters[with_sizes]; }
    /// Exchanges sizes, and blocks if they are small, among all masters.
    Task exchange(PooledVector<Packed>& messages) {
        NodePartition const& map = map_;
        int const here = map.own_part();
        std::size_t const bytes = own()->bytes;
        Packed mine(frames(), header_bytes(here) + (bytes <= direct_ ? bytes : 0));
        std::memcpy(mine.data(), sizes_of(here), header_bytes(here));
        if (bytes <= direct_) own()->load(env_, mine.data() + header_bytes(here), 0, bytes);
        PooledVector<int> peers(frames());
        for (int i = 1; i < map.count(); ++i) peers.push_back(map.master((here + i) % map.count()));
        messages.reserve(static_cast<std::size_t>(map.count()));
        for (int n = 0; n < map.count(); ++n)
            messages.emplace_back(frames(), n == here ? 0 : header_bytes(n) + room(n));
        Messages<NetEnv> m(env_);
        auto const message = [&](int from) -> Packed& { return messages[static_cast<std::size_t>(map.part_of(from))]; };
        co_await m.exchange_all(
            peers, peers,
            [&](int) -> MessagePart {
                return {mine.buffer(), 0, mine.bytes};
            },
            [&](int from) { return message(from).bytes; }, [&](int from) { return m.into(message(from).buffer(), 0); });
        for (int from : peers) {
            int const node = map.part_of(from);
            std::memcpy(sizes_of(node), message(from).data(), header_bytes(node));
            if (m.received(from) > message(from).bytes) sizes_of(node)[word - 1] |= std::byte{0x80};
        }
        append_direct_blocks(messages);
    }
    /// Returns the number of bytes of a node's parts that are sent together with the sizes, as far as this rank expects
    /// them.
    std::size_t room(int node) const {
        std::size_t sum = 0;
        for (int r : map_.members(node)) sum += a_.parts[r].bytes();
        return std::min(sum, direct_);
    }
    /// Returns the parts of a node that were received together with their sizes, as far as there was room.
    std::span<std::byte const> parts_of(PooledVector<Packed> const& messages, int node) {
        Packed const& message = messages[static_cast<std::size_t>(node)];
        return {message.data() + header_bytes(node), std::min(block(node)->bytes, message.bytes - header_bytes(node))};
    }

    /// Appends the blocks of the other nodes to the sizes if all of them together are small.
    void append_direct_blocks(PooledVector<Packed> const& messages) {
        make_blocks();
        std::byte* to = sizes_and_parts_.data() + sizes_and_parts_.bytes - max_with_sizes();
        for (int n = 0; fits_with_sizes() && n < map_.count(); ++n) {
            if (n == map_.own_part()) continue;
            auto const parts = parts_of(messages, n);
            copy_bytes(to, parts.data(), parts.size());
            to += block(n)->bytes;
        }
    }
    void make_blocks() {
        for (int n = 0; n < map_.count(); ++n) {
            if (block(n)) continue;
            PooledVector<std::uint64_t> sizes(map_.members(n).size(), frames());
            std::memcpy(sizes.data(), sizes_of(n), header_bytes(n));
            if (sizes.front() & truncated_flag)
                sizes.front() &= ~truncated_flag, truncated_rank_ = map_.members(n).front();
            largest_ = std::max(largest_, std::ranges::max(sizes));
            block(n).emplace(frames(), a_, map_.members(n), sizes);
        }
    }
    /// True if the blocks of all other nodes are broadcast together with the sizes. This node's own block may
    /// nevertheless be large and travel along the ring.
    bool fits_with_sizes() {
        bool all = at_all_ranks_ && others() <= max_with_sizes();
        for (int n = 0; n < map_.count(); ++n) all &= n == map_.own_part() || is_direct(n);
        return all;
    }
    /// Stores the blocks that were sent directly: at all ranks if broadcast with the sizes, otherwise at the master.
    void store_direct_blocks(PooledVector<Packed> const& messages) {
        std::byte const* from = sizes_and_parts_.data() + sizes_and_parts_.bytes - max_with_sizes();
        for (int n = 0; n < map_.count(); ++n) {
            if (n == map_.own_part() || !is_direct(n)) continue;
            if (fits_with_sizes()) {
                block(n)->store(env_, 0, from, block(n)->bytes);
                from += block(n)->bytes;
            } else if (master()) {
                auto const parts = parts_of(messages, n);
                block(n)->store(env_, 0, parts.data(), parts.size());
            }
        }
    }

    /// Iterates over the segments that move along the ring: the large blocks of `nodes` nodes, from `first` backwards.
    class RingSegments {
    public:
        RingSegments(NodeAllgather& g, int first, int nodes)
            : g_(g), node_(first), left_(nodes), slots_(g.master() ? slots : 1) {
            skip();
        }
        bool more() const { return left_ > 0; }
        NodeBlock const& block() const { return *g_.block(node_); }
        std::size_t at() const { return at_; }
        std::size_t bytes() const { return std::min(length_, block().bytes - at_); }
        void next() {
            at_ += bytes();
            ++number_;
            if (at_ < block().bytes) return;
            at_ = 0;
            step();
            skip();
        }
        /// Returns the segment in the user's buffer or, if it is not contiguous there, in a buffer in `memory`.
        Piece piece(PooledBytes const& memory) const {
            std::byte* const there = block().address(at_);
            return {packed_buffer(there ? there : memory.get() + number_ % slots_ * g_.piece(), bytes()), 0, bytes()};
        }

    private:
        void step() { node_ = (node_ + g_.map_.count() - 1) % g_.map_.count(), --left_; }
        void skip() {
            while (left_ > 0 && g_.is_direct(node_)) step();
            if (left_ == 0) return;
            std::size_t const segments = max_segments(g_.a_, g_.map_, g_.largest_);
            length_ = std::max<std::size_t>(1, (block().bytes + segments - 1) / segments);
        }
        NodeAllgather& g_;
        int node_, left_;
        std::size_t slots_, at_ = 0, length_ = 0, number_ = 0;
    };
    std::size_t piece() const { return segment_bytes(a_, map_); }
    /// Allocates memory for this number of segments if some block is not contiguous.
    PooledBytes memory_for(std::size_t pieces) {
        bool any = false;
        for (auto& b : blocks_) any |= b->bytes > 0 && !b->address(0);
        return any ? PooledBytes(frames(), pieces * piece()) : PooledBytes();
    }

    /// The ring: large blocks travel from node to node, and each is broadcast to the ranks of the node. The node's own
    /// block is sent, and every block that arrives is forwarded except the last.
    Task run_ring() {
        int const nodes = map_.count(), here = map_.own_part();
        RingSegments in(*this, (here + nodes - 1) % nodes, nodes - 1), posted(in), out(*this, here, nodes - 1);
        bool const is_master = master(), own_first = !is_direct(here);
        int const next = map_.master((here + 1) % nodes), last = map_.master((here + nodes - 1) % nodes);
        PooledBytes const arriving = in.more() ? memory_for(is_master ? slots : 1) : PooledBytes();
        PooledBytes const leaving = is_master && out.more() ? memory_for(slots) : PooledBytes();
        NetFlow flow(env_);
        auto const send = [&] {
            if (!is_master || !out.more()) return;
            Piece const piece = out.piece(leaving);
            if (!out.block().address(0)) out.block().load(env_, piece.address(), out.at(), piece.bytes);
            flow.send(piece, next);
            out.next();
        };
        auto const post_next = [&] {
            if (!is_master || !posted.more()) return;
            flow.expect(posted.piece(arriving), last);
            posted.next();
        };
        for (std::size_t k = 0; k < NetFlow::pipeline_depth; ++k) post_next();
        while (in.more() || (is_master && out.more())) {
            if (own_first) send();
            co_await flow.wait_sends(NetFlow::pipeline_depth);
            if (!in.more()) continue;
            Piece const piece = in.piece(arriving);
            if (is_master) co_await flow.wait_oldest_receive();
            bool const contiguous = in.block().address(0);
            if (!contiguous && is_master) in.block().store(env_, in.at(), piece.address(), piece.bytes);
            if (!own_first) send();
            post_next();
            co_await broadcast(piece.address(), piece.bytes);
            if (!contiguous && !is_master) in.block().store(env_, in.at(), piece.address(), piece.bytes);
            in.next();
        }
        co_await flow.wait_sends();
    }
    Task broadcast(std::byte* data, std::size_t bytes) {
        co_await on_node(env_, Collective::bcast, bcast_bytes_args(data, bytes, 0));
    }

    /// Broadcasts the blocks that the master received together with the sizes, and the node's own block if it is as
    /// small, as one row.
    Task broadcast_row() {
        std::byte* first = nullptr;
        std::size_t bytes = 0;
        bool adjacent = true;
        for (int n = 0; n < map_.count(); ++n) {
            if (!is_direct(n) || block(n)->bytes == 0) continue;
            if (bytes == 0) first = block(n)->address(0);
            adjacent = adjacent && first && block(n)->address(0) == first + bytes;
            bytes += block(n)->bytes;
        }
        Segments const s(bytes, 1, piece());
        PooledBytes const memory = adjacent ? PooledBytes() : PooledBytes(frames(), s.length);
        for (std::uint64_t k = 0; k < s.count; ++k) {
            std::byte* const data = adjacent ? first + s.at(k) : memory.get();
            auto const load = [&](NodeBlock const& b, std::size_t at, std::size_t n, std::size_t to) {
                b.load(env_, data + to, at, n);
            };
            auto const store = [&](NodeBlock const& b, std::size_t at, std::size_t n, std::size_t from) {
                b.store(env_, at, data + from, n);
            };
            if (!adjacent && master()) each_in_row(s.at(k), s.bytes(k), load);
            co_await broadcast(data, s.bytes(k));
            if (!adjacent && !master()) each_in_row(s.at(k), s.bytes(k), store);
        }
    }
    /// Calls f(block, offset in it, bytes, offset in the piece) for the bytes [at, at + bytes) of the row.
    template <class F>
    void each_in_row(std::size_t at, std::size_t bytes, F f) {
        std::size_t start = 0, done = 0;
        for (int n = 0; n < map_.count() && done < bytes; ++n) {
            if (!is_direct(n)) continue;
            std::size_t const end = start + block(n)->bytes;
            if (at + done < end) {
                std::size_t const length = std::min(bytes - done, end - at - done);
                f(*block(n), at + done - start, length, done);
                done += length;
            }
            start = end;
        }
    }

    NetEnv& env_;
    AllgatherArgs const& a_;
    NodePartition const& map_;
    std::size_t const direct_;                        ///< limit in bytes of a block that is sent directly to masters
    PooledVector<std::optional<NodeBlock>> blocks_;   ///< indexed by node
    std::uint64_t largest_ = 0;                       ///< size of the largest part that is known so far
    bool at_all_ranks_ = false;                       ///< all ranks of the node already have its own block
    int truncated_rank_ = -1;                         ///< a rank of a node whose parts are incomplete; -1: none
    Packed sizes_and_parts_;                          ///< all sizes, node after node, followed by a few bytes of parts
};

Task masters(NetEnv& env, AllgatherArgs const& a) {
    NodeAllgather g(env, a);
    co_await g.run();
}

std::uint64_t masters_operations(AllgatherArgs const& a, NodePartition const& map) {
    auto const nodes = static_cast<std::size_t>(map.count()), ranks = static_cast<std::size_t>(map.largest());
    std::size_t const row = nodes * std::min(direct_limit(a, map), ranks * a.max_part_bytes),
                      piece = segment_bytes(a, map);
    return 3 + (row + piece - 1) / piece + (nodes - 1) * max_segments(a, map, a.max_part_bytes);
}

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"direct", 65536, "largest block of a node's parts, in bytes, that is sent directly to all other masters"},
    {"segment", 65536, "bytes of each rank's part per segment on the ring"},
    {"with_sizes", 2040, "maximum bytes of the other nodes' parts that are broadcast together with their sizes"},
    memory_parameter,
};
extern constinit const Algorithm<AllgatherArgs> masters_algorithm = {
    "masters",
    "nodes gather, masters exchange blocks directly or around a ring, and each node broadcasts",
    Family::tutti,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather; Zhu and others, EuroPVM/MPI 2009",
    requires_nothing,
    masters_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::allgather
