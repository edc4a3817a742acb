// SPDX-License-Identifier: BSD-3-Clause
// Building blocks of algorithms between nodes: the tree with a master per node, streams of pieces between nodes
// (NetFlow), and lists and sizes of the parts of a node's ranks.
//
// The tree: binomial within a node, up to its master, and of a selectable shape among the masters. It combines in rank
// order if nodes hold consecutive ranks and node 0 is at the top: a master's own operand, then those of its node, then
// those of the nodes below it in the tree, whose ranks are higher. Zhu, Goodell, Gropp, Thakur, "Hierarchical
// collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.
#pragma once

#include <climits>
#include <cstring>
#include <list>
#include <memory>

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/tree.hpp"
#include "coll/env/group_layout.hpp"
#include "coll/env/net_env.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// A rank's position within its node; a master has no parent there.
inline TreePosition position_in_node(FramePool& frames, Partition const& nodes, int rank) {
    std::span<int const> const node = nodes.members(nodes.part_of(rank));
    return binomial_tree(frames, nodes.index_of(rank), static_cast<int>(node.size())).renumbered([=](int vrank) {
        return node[static_cast<std::size_t>(vrank)];
    });
}

/// The position of a node's master among the masters, under the master of `top`'s node, which is `top` itself.
inline TreePosition position_of_master(FramePool& frames, Partition const& nodes, int node, int top, TreeShape shape) {
    return position_under(frames, shape, nodes.part_of(top), node, nodes.count()).renumbered([&](int n) {
        return nodes.master(n, top);
    });
}

/// A rank's position in the whole tree, under the master of `top_node`.
inline TreePosition position_under_master(FramePool& frames, Partition const& nodes, int rank, int top_node,
                                          TreeShape between) {
    TreePosition t = position_in_node(frames, nodes, rank);
    TreePosition const b = position_of_master(frames, nodes, nodes.part_of(rank), nodes.master(top_node), between);
    t.depth += b.depth;
    if (t.parent >= 0) return t;
    t.parent = b.parent;
    t.children.insert(t.children.end(), b.children.begin(), b.children.end());
    return t;
}

// Pieces of data on their way between nodes, several at a time: receives are posted before the data is needed, so that
// it arrives directly in place while this rank is busy with other ranks or within its node; sends are in flight at the
// same time. Two ranks that exchange pieces must cut their data at the same positions.

/// Packed bytes [at, at + bytes) of a buffer. If the buffer has gaps they are copied on the way.
struct Piece {
    Buffer buffer;
    std::size_t at, bytes;

    std::byte* address() const { return buffer.type->dense(buffer.count) ? first_byte(buffer) + at : nullptr; }
};

class NetFlow {
public:
    static constexpr std::size_t pipeline_depth = 4;   ///< pieces that a stream should have in flight in each direction

    explicit NetFlow(NetEnv& env) : env_(env), in_(env.frames()), out_(env.frames()) {}
    ~NetFlow() {
        for (auto& op : out_) delete_when_finished(std::move(op));
    }
    NetFlow(NetFlow const&) = delete;
    NetFlow& operator=(NetFlow const&) = delete;
    FramePool& frames() { return env_.frames(); }

    /// Posts the receive of a piece. Its memory must not be accessed until it has arrived.
    void expect(Piece const& piece, int from) {
        in_.emplace_back(env_, piece, from).message.begin(piece.address(), piece.bytes, from);
    }
    /// Waits for the oldest posted receive that has not completed.
    Task wait_oldest_receive() {
        List<Expected> first(frames());
        first.splice(first.end(), in_, in_.begin());
        auto const& [message, piece, from] = first.front();
        co_await env_.completion(message.op, from);
        truncation_.compare(from, message.bytes(), piece.bytes);
        if (std::byte const* const packed = message.op.packed.get())
            env_.store(piece.buffer, piece.at, packed, message.op.status.bytes);
    }

    /// Waits until at most `left` posted receives have not completed.
    Task wait_receives(std::size_t left = 0) {
        while (in_.size() > left) co_await wait_oldest_receive();
    }

    /// Sends a piece to a rank; it must not change until it is sent, unless it is copied.
    void send(Piece const& piece, int to, bool copied = false) {
        begin_send(env_, out_, {piece.buffer, piece.at, piece.bytes}, to, copied);
    }
    /// Like send, if the receiver has many senders and posts a few receives at a time: other pieces wait at their
    /// senders.
    void send_synchronous(Piece const& piece, int to) {
        begin_send(env_, out_, {piece.buffer, piece.at, piece.bytes}, to, false, p2p::Mode::synchronous);
    }
    /// Waits for the oldest send in flight.
    Task wait_oldest_send() {
        co_await env_.completion(*out_.front());
        std::unique_ptr<Outgoing> op = std::move(out_.front());
        out_.pop_front();
        finish_send(std::move(op));
    }
    /// Waits until at most `left` sends are in flight.
    Task wait_sends(std::size_t left = 0) {
        while (out_.size() > left) co_await wait_oldest_send();
    }
    /// Throws if a piece was larger than its buffer.
    void check() const { truncation_.check(env_); }

private:
    struct Expected {
        Expected(NetEnv& env, Piece const& p, int source) : message(env), piece(p), from(source) {}
        PendingReceive message;
        Piece piece;
        int from;
    };

    NetEnv& env_;
    // Lists: most ranks of an operation store nothing there, and operations in flight must not move.
    template <class T>
    using List = std::list<T, Pooled<T>>;
    List<Expected> in_;
    List<std::unique_ptr<Outgoing>> out_;
    Truncation truncation_;
};

// What movements across nodes share: the parts of some ranks as the parts of a communicator of these ranks only; the
// sizes that the ranks of a node exchange before their master sends. The sender always communicates the size: ranks
// need not know each other's sizes, and the receiver detects a part that is too long, which delays no other rank.

/// A list of buffers for the ranks 0, 1, … of a communicator; must live as long as the parts are used.
class PartList {
public:
    explicit PartList(FramePool& frames) : counts_(frames), at_(frames), types_(frames), large_(frames) {}
    /// The parts of `ranks` among `all`.
    PartList(FramePool& frames, Parts const& all, std::span<int const> ranks) : PartList(frames) {
        for (int r : ranks) add(all[r]);
    }
    void add(Buffer part) {
        if (part.count > INT_MAX) {   // one element of a larger type
            large_.push_back(TypeBuilder::contiguous(part.count, *part.type));
            part = {part.address, 1, large_.back().get()};
        }
        if (counts_.empty()) base_ = part.address;
        counts_.push_back(static_cast<int>(part.count));
        types_.push_back(part.type);
        at_.push_back(static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(part.address) -
                                                  reinterpret_cast<std::uintptr_t>(base_)));
    }
    Parts parts() const { return Parts::typed(base_, counts_.data(), at_.data(), types_.data()); }

private:
    void* base_ = nullptr;
    PooledVector<int> counts_;
    PooledVector<std::ptrdiff_t> at_;
    PooledVector<Datatype const*> types_;
    PooledVector<Ref<Datatype>> large_;
};

/// The parts of an alltoall between ranks of this node. Takes one operation on the node.
inline Task alltoall_within_node(NetEnv& env, AlltoallArgs const& a, std::exception_ptr& error) {
    auto const ranks = env.partition().members();
    PartList const send(env.frames(), a.send, ranks), receive(env.frames(), a.receive, ranks);
    AlltoallArgs inside = a;
    inside.send = send.parts();
    inside.receive = receive.parts();
    co_await on_node(env, Collective::alltoall, inside, error);
}

/// Private memory of an algorithm, not touched before it is written.
struct Packed {
    Packed(FramePool& frames, std::size_t n) : bytes(n), memory(frames, n) {}
    std::byte* data() const { return memory.get(); }
    Buffer buffer() const { return packed_buffer(memory.get(), bytes); }
    Buffer part(std::size_t at, std::size_t n) const { return packed_buffer(memory.get() + at, n); }
    std::size_t bytes;
    PooledBytes memory;
};

/// The number of bytes that each rank of this node sends, and the bytes themselves if no rank sends more than
/// `max_inline_part`.
class NodeSizes {
public:
    static constexpr std::size_t max_inline_part = 248;

    explicit NodeSizes(NetEnv& env) : sizes(env.frames()), env_(env) {}
    FramePool& frames() { return env_.frames(); }

    /// Exchanges sizes and small parts. Takes one operation on the node.
    Task exchange(ConstBuffer mine) {
        std::uint64_t const bytes = mine.bytes();
        std::size_t const ranks = env_.partition().members(env_.partition().own_part()).size();
        records_ = PooledBytes(frames(), (ranks + 1) * record);
        std::byte* const own = records_.get() + ranks * record;
        std::memcpy(own, &bytes, sizeof bytes);
        if (bytes <= max_inline_part) env_.load(own + sizeof bytes, mine, 0, bytes);
        AllgatherArgs args{};
        args.mine = packed_buffer(own, record);
        args.parts = Parts::regular(records_.get(), record, *args.mine.type);
        args.max_part_bytes = record;
        co_await on_node(env_, Collective::allgather, args);
        sizes.reserve(ranks);
        for (std::size_t i = 0; i < ranks; ++i) {
            sizes.emplace_back();
            std::memcpy(&sizes.back(), records_.get() + i * record, sizeof bytes);
        }
    }
    std::uint64_t sum() const {
        std::uint64_t all = 0;
        for (std::uint64_t n : sizes) all += n;
        return all;
    }
    std::uint64_t largest() const { return *std::ranges::max_element(sizes); }
    /// True if the bytes are here, too.
    bool has_parts() const { return largest() <= max_inline_part; }
    std::byte const* bytes_of(std::size_t index) const {
        return records_.get() + index * record + sizeof(std::uint64_t);
    }
    /// Copies the parts one after the other; they must be here.
    void copy_parts(std::byte* to) const {
        for (std::size_t i = 0; i < sizes.size(); to += sizes[i++]) std::memcpy(to, bytes_of(i), sizes[i]);
        env_.count(sum(), sum());
    }

    PooledVector<std::uint64_t> sizes;   ///< by index on the node

private:
    static constexpr std::size_t record = sizeof(std::uint64_t) + max_inline_part;
    NetEnv& env_;
    PooledBytes records_;
};

}   // namespace tutti::coll
