// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) and scatter(v) between nodes, both named masters.
//
// gather/masters: each node's parts are gathered at its master through shared memory, and the master sends them as one
// message with their sizes to the root, which acts as its own node's master and receives as many messages at a time as
// it has memory for. Large parts go directly to their destination, in pieces sent by a few ranks of a node. One step of
// N − 1 messages; each part is sent once.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes); sending sizes
// together with the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/relay.hpp"

namespace tutti::coll::algorithms::gather {
namespace {

RootedArgs inside(RootedArgs const& a, int root) {
    RootedArgs args = a;
    args.root = root;
    args.equal_parts = false;
    return args;
}

/// On a node without the root: gathers the node's parts and sends them.
Task send_node_parts(NetEnv& env, RootedArgs const& a) {
    NodeSizes node(env);
    co_await node.exchange(a.mine);
    bool const together = node.largest() < carry_threshold(a, node.sizes.size());
    bool const master = env.rank() == env.partition().master(env.partition().own_part());
    std::size_t const header_bytes = node.sizes.size() * sizeof(std::uint64_t);
    Messages<NetEnv> m(env);
    Packed block(env.frames(), master ? header_bytes + (together ? node.sum() : 0) : 0);
    if (master) std::memcpy(block.data(), node.sizes.data(), header_bytes);
    if (master && together && node.has_parts()) node.copy_parts(block.data() + header_bytes);
    if (together && !node.has_parts()) {
        PartList list(env.frames());
        std::size_t at = header_bytes;
        for (std::size_t i = 0; master && i < node.sizes.size(); at += node.sizes[i++])
            list.add(block.part(at, node.sizes[i]));
        RootedArgs args = inside(a, 0);
        if (master) args.parts = list.parts();
        co_await on_node(env, Collective::gather, args);
    }
    if (master) co_await m.start(a.root, {block.buffer(), 0, block.bytes});
    if (!together) {
        NodePartition const& map = env.partition();
        CarriedParts const parts(env.frames(), map.members(), node.sizes, a.parameters[1]);
        co_await parts.send(env, static_cast<std::size_t>(map.index_of(env.rank())), a.mine, a.root);
    }
    co_await m.close();
}

/// The message that the root expects from a node.
struct NodeMessage : InPool {
    NodeMessage(NetEnv& env, RootedArgs const& a, int of)
        : ranks(env.partition().members(of)), memory(env.frames(), bytes_of(a, ranks)), in(env) {}
    static std::size_t bytes_of(RootedArgs const& a, std::span<int const> ranks) {
        std::size_t sum = 0;
        for (int r : ranks) sum += a.parts[r].bytes();
        sum = std::min(sum, std::min(sum, carry_threshold(a, ranks.size())) * ranks.size());
        return ranks.size() * sizeof(std::uint64_t) + sum;
    }
    void begin() { in.begin(memory.data(), memory.bytes, ranks.front()); }
    std::uint64_t size(std::size_t i) const {
        std::uint64_t n;
        std::memcpy(&n, memory.data() + i * sizeof n, sizeof n);
        return n;
    }
    std::span<int const> ranks;
    Packed memory;
    PendingReceive in;
};

/// The state of the root.
class RootGather {
public:
    RootGather(NetEnv& env, RootedArgs const& a) : env_(env), a_(a), map_(env.partition()), messages_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        post_receives();
        PartList const list(frames(), a_.parts, map_.members());
        RootedArgs args = inside(a_, map_.index_of(env_.rank()));
        args.parts = list.parts();
        std::exception_ptr error;
        co_await on_node(env_, Collective::gather, args, error);
        for (; !messages_.empty(); post_receives()) {
            NodeMessage const& b = *messages_.front();
            co_await env_.completion(b.in.op, b.ranks.front());
            if (is_carried(b)) co_await receive_pieces(b);
            else store_block(b);
            used_ -= b.memory.bytes;
            messages_.pop_front();
        }
        if (error) std::rethrow_exception(error);
        truncation_.check(env_);
    }

private:
    /// Starts receiving as many blocks as there is memory for, at least one.
    void post_receives() {
        for (; posted_nodes_ < map_.count(); ++posted_nodes_) {
            int const node = (map_.own_part() + posted_nodes_) % map_.count();
            std::size_t const bytes = NodeMessage::bytes_of(a_, map_.members(node));
            if (!messages_.empty() && used_ + bytes > a_.parameters[1]) return;
            used_ += bytes;
            messages_.emplace_back(new (frames()) NodeMessage(env_, a_, node))->begin();
        }
    }
    bool is_carried(NodeMessage const& b) const {
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < b.ranks.size(); ++i) largest = std::max(largest, b.size(i));
        return largest >= carry_threshold(a_, b.ranks.size());
    }
    void store_block(NodeMessage const& b) {
        std::size_t at = b.ranks.size() * sizeof(std::uint64_t);
        std::size_t const end = std::min(b.in.bytes(), b.memory.bytes);
        for (std::size_t i = 0; i < b.ranks.size(); ++i) {
            std::size_t const n = b.size(i), arrived = at < end ? std::min(n, end - at) : 0;
            deliver(env_, a_.parts[b.ranks[i]], 0, b.memory.data() + at, arrived, n, b.ranks[i], truncation_);
            at += n;
        }
    }
    Task receive_pieces(NodeMessage const& b) {
        PooledVector<std::uint64_t> sizes(frames());
        for (std::size_t i = 0; i < b.ranks.size(); ++i) {
            sizes.push_back(b.size(i));
            truncation_.compare(b.ranks[i], sizes[i], a_.parts[b.ranks[i]].bytes());
        }
        CarriedParts const parts(frames(), b.ranks, sizes, a_.parameters[1]);
        co_await parts.receive_all(env_, a_.parts);
    }

    NetEnv& env_;
    RootedArgs const& a_;
    NodePartition const& map_;
    std::list<std::unique_ptr<NodeMessage>, Pooled<std::unique_ptr<NodeMessage>>>
        messages_;           ///< in flight, node after node
    std::size_t used_ = 0;   ///< bytes of their memory
    int posted_nodes_ = 1;   ///< nodes handled so far, counted from the root's own one
    Truncation truncation_;
};

Task masters(NetEnv& env, RootedArgs const& a) {
    NodePartition const& map = env.partition();
    if (env.rank() == a.root) {
        RootGather all(env, a);
        co_await all.run();
    } else if (map.part_of(a.root) != map.own_part()) {
        co_await send_node_parts(env, a);
    } else {
        co_await on_node(env, Collective::gather, inside(a, map.index_of(a.root)));
    }
}

std::uint64_t masters_operations(RootedArgs const&, NodePartition const&) { return 2; }

}   // namespace

extern constinit const Algorithm<RootedArgs> masters_algorithm = {
    "masters",
    "masters gather their nodes' parts and send them to the root",
    Family::tutti,
    "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_nothing,
    carried_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::gather

// scatter/masters: the root, which acts as its own node's master, sends each other master the parts of its node with
// their sizes, and every master scatters them through shared memory; large parts are received in pieces by a few ranks
// of a node. One step between N nodes, N − 1 messages or twice as many; the root's link carries every part's bytes
// once. The root packs parts for as many nodes at a time as it has memory for.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009; sending sizes together with the parts is ours.

namespace tutti::coll::algorithms::scatter {
namespace {

constexpr std::size_t header_bytes = sizeof(std::uint64_t);

/// Bytes of a node's parts, with their heads, for which its master has room before it knows their number.
constexpr std::size_t max_first_message = 16384;

/// The head of each part: its size, and where the part is.
struct PartHeader {
    enum Location : std::uint64_t { follows, in_next_message, carried };

    explicit PartHeader(std::uint64_t size, Location location) : word(size << 2 | location) {}
    explicit PartHeader(std::byte const* from) { std::memcpy(&word, from, header_bytes); }
    void write(std::byte* to) const { std::memcpy(to, &word, header_bytes); }
    std::size_t size() const { return word >> 2; }
    Location location() const { return static_cast<Location>(word & 3); }
    std::size_t record() const { return header_bytes + (location() == follows ? size() : 0); }
    std::uint64_t word;
};

RootedArgs inside(RootedArgs const& a, int root) {
    RootedArgs args = a;
    args.root = root;
    args.equal_parts = false;
    return args;
}

/// Returns only the heads of a node's parts.
Packed headers_of(NetEnv& env, RootedArgs const& a, std::span<int const> ranks, PartHeader::Location location) {
    Packed headers(env.frames(), ranks.size() * header_bytes);
    std::byte* to = headers.data();
    for (int r : ranks) PartHeader(a.parts[r].bytes(), location).write(to), to += header_bytes;
    return headers;
}

/// Returns the message for a node's master.
Packed message_for(NetEnv& env, RootedArgs const& a, std::span<int const> ranks) {
    std::size_t largest = 0, sum = 0;
    for (int r : ranks) {
        largest = std::max(largest, a.parts[r].bytes());
        sum += a.parts[r].bytes();
    }
    if (largest >= carry_threshold(a, ranks.size())) return headers_of(env, a, ranks, PartHeader::carried);
    Packed block(env.frames(), ranks.size() * header_bytes + sum);
    std::size_t at = 0;
    for (int r : ranks) {
        PartHeader const h(a.parts[r].bytes(), PartHeader::follows);
        h.write(block.data() + at);
        env.load(block.data() + at + header_bytes, a.parts[r], 0, h.size());
        at += h.record();
    }
    return block;
}

/// The state of the root.
class RootScatter {
public:
    RootScatter(NetEnv& env, RootedArgs const& a)
        : env_(env), a_(a), map_(env.partition()), flow_(env), outgoing_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        std::exception_ptr error;
        bool inside_done = false;
        for (int i = 1; i < map_.count(); ++i) {
            auto const ranks = map_.members((map_.own_part() + i) % map_.count());
            Packed block = message_for(env_, a_, ranks);
            bool const full = used_ + block.bytes > a_.parameters[1];
            bool const pieces = PartHeader(block.data()).location() == PartHeader::carried;
            if ((full || pieces) && !std::exchange(inside_done, true)) co_await inside_node(error);
            while (!outgoing_.empty() && used_ + block.bytes > a_.parameters[1]) co_await wait_oldest();
            if (block.bytes > max_first_message)
                send(headers_of(env_, a_, ranks, PartHeader::in_next_message), ranks.front());
            send(std::move(block), ranks.front());
            if (pieces) co_await send_pieces(ranks);
        }
        if (!inside_done) co_await inside_node(error);
        while (!outgoing_.empty()) co_await wait_oldest();
        if (error) std::rethrow_exception(error);
    }

private:
    Task inside_node(std::exception_ptr& error) {
        PartList const list(frames(), a_.parts, map_.members());
        RootedArgs args = inside(a_, map_.index_of(env_.rank()));
        args.parts = list.parts();
        co_await on_node(env_, Collective::scatter, args, error);
    }
    void send(Packed message, int to) {
        used_ += message.bytes;
        Packed const& m = outgoing_.emplace_back(std::move(message));
        flow_.send({m.buffer(), 0, m.bytes}, to);
    }
    Task wait_oldest() {
        co_await flow_.wait_oldest_send();
        used_ -= outgoing_.front().bytes;
        outgoing_.pop_front();
    }
    Task send_pieces(std::span<int const> ranks) {
        PooledVector<std::uint64_t> sizes(frames());
        for (int r : ranks) sizes.push_back(a_.parts[r].bytes());
        CarriedParts const parts(frames(), ranks, sizes, a_.parameters[1]);
        co_await parts.send_all(env_, a_.parts);
    }

    NetEnv& env_;
    RootedArgs const& a_;
    NodePartition const& map_;
    NetFlow flow_;
    std::list<Packed, Pooled<Packed>> outgoing_;   ///< in the order in which they are sent
    std::size_t used_ = 0;                         ///< bytes of their memory
};

/// The master's half of receive_parts(): receives the records of its node's ranks into `block`.
Task receive_block(NetEnv& env, Messages<NetEnv>& m, int root, std::size_t ranks, Packed& block) {
    block = Packed(env.frames(), std::max(max_first_message, ranks * header_bytes));
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
    if (PartHeader(block.data()).location() != PartHeader::in_next_message) co_return;
    std::size_t bytes = ranks * header_bytes;
    for (std::size_t i = 0; i < ranks; ++i) bytes += PartHeader(block.data() + i * header_bytes).size();
    block = Packed(env.frames(), bytes);
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
}

/// On a node without the root. Each rank receives its head and its part or, if parts are sent in pieces, the heads of
/// all ranks of the node.
Task receive_parts(NetEnv& env, RootedArgs const& a) {
    auto const ranks = env.partition().members(env.partition().own_part());
    auto const index = static_cast<std::size_t>(env.partition().index_of(env.rank()));
    bool const master = env.rank() == ranks.front();
    std::size_t const headers = ranks.size() * header_bytes,
                      small = std::min(a.mine.bytes(), carry_threshold(a, ranks.size()));
    Packed const mine(env.frames(), std::max(headers, header_bytes + small));
    Packed block(env.frames(), 0);
    Messages<NetEnv> m(env);
    PartList list(env.frames());
    if (master) {
        co_await receive_block(env, m, a.root, ranks.size(), block);
        bool const carried = PartHeader(block.data()).location() == PartHeader::carried;
        std::size_t at = 0;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            std::size_t const record = carried ? headers : PartHeader(block.data() + at).record();
            list.add(block.part(at, record));
            at += carried ? 0 : record;
        }
    }
    RootedArgs args = inside(a, 0);
    if (master) args.parts = list.parts();
    args.mine = mine.buffer();
    PartHeader(0, PartHeader::follows).write(mine.data());
    std::exception_ptr error;
    co_await on_node(env, Collective::scatter, args, error);
    bool const carried = PartHeader(mine.data()).location() == PartHeader::carried;
    std::uint64_t const bytes = PartHeader(mine.data() + (carried ? index * header_bytes : 0)).size();
    Truncation truncation;
    truncation.compare(a.root, bytes, a.mine.bytes());
    // An error that only reports that the part is too long is left to the check below.
    if (error && (carried || bytes <= a.mine.bytes())) std::rethrow_exception(error);
    if (carried) {
        PooledVector<std::uint64_t> sizes(env.frames());
        for (std::size_t i = 0; i < ranks.size(); ++i)
            sizes.push_back(PartHeader(mine.data() + i * header_bytes).size());
        CarriedParts const parts(env.frames(), ranks, sizes, a.parameters[1]);
        co_await parts.receive(env, index, a.mine, a.root);
    } else {
        deliver(env, a.mine, 0, mine.data() + header_bytes, bytes, bytes, a.root, truncation);
    }
    truncation.check(env);
}

Task masters(NetEnv& env, RootedArgs const& a) {
    NodePartition const& map = env.partition();
    if (env.rank() == a.root) {
        RootScatter all(env, a);
        co_await all.run();
    } else if (map.part_of(a.root) != map.own_part()) {
        co_await receive_parts(env, a);
    } else {
        co_await on_node(env, Collective::scatter, inside(a, map.index_of(a.root)));
    }
}

std::uint64_t masters_operations(RootedArgs const&, NodePartition const&) { return 1; }

}   // namespace

extern constinit const Algorithm<RootedArgs> masters_algorithm = {
    "masters",
    "the root sends to the masters, and each master scatters on its node",
    Family::tutti,
    "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_nothing,
    carried_parameters,
    TUTTI_NET_ONLY(masters)};

}   // namespace tutti::coll::algorithms::scatter
