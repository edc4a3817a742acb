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
    args.equal = false;
    return args;
}

/// On a node without the root: gathers the node's parts and sends them.
Task give(NetEnv& env, RootedArgs const& a) {
    NodeSizes node(env);
    co_await node.learn(a.mine);
    bool const together = node.largest() < carried_from(a, node.sizes.size());
    bool const master = env.rank() == env.map().master(env.map().mine());
    std::size_t const head = node.sizes.size() * sizeof(std::uint64_t);
    Messages<NetEnv> m(env);
    Packed block(env.frames(), master ? head + (together ? node.sum() : 0) : 0);
    if (master) std::memcpy(block.data(), node.sizes.data(), head);
    if (master && together && node.here()) node.put(block.data() + head);
    if (together && !node.here()) {
        PartList list(env.frames());
        std::size_t at = head;
        for (std::size_t i = 0; master && i < node.sizes.size(); at += node.sizes[i++])
            list.add(block.part(at, node.sizes[i]));
        RootedArgs args = inside(a, 0);
        if (master) args.parts = list.parts();
        co_await on_node(env, Collective::gather, args);
    }
    if (master) co_await m.start(a.root, {block.buffer(), 0, block.bytes});
    if (!together) {
        Division const& map = env.map();
        CarriedParts const parts(env.frames(), map.members(), node.sizes, a.parameters[1]);
        co_await parts.send(env, static_cast<std::size_t>(map.index_of(env.rank())), a.mine, a.root);
    }
    co_await m.close();
}

/// The message that the root expects from a node.
struct Block : InPool {
    Block(NetEnv& env, RootedArgs const& a, int of)
        : ranks(env.map().members(of)), memory(env.frames(), bytes_of(a, ranks)), in(env) {}
    static std::size_t bytes_of(RootedArgs const& a, std::span<int const> ranks) {
        std::size_t sum = 0;
        for (int r : ranks) sum += a.parts[r].bytes();
        sum = std::min(sum, std::min(sum, carried_from(a, ranks.size())) * ranks.size());
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
    Arriving in;
};

/// The state of the root.
class Collecting {
public:
    Collecting(NetEnv& env, RootedArgs const& a) : env_(env), a_(a), map_(env.map()), blocks_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        begin_blocks();
        PartList const list(frames(), a_.parts, map_.members());
        RootedArgs args = inside(a_, map_.index_of(env_.rank()));
        args.parts = list.parts();
        std::exception_ptr error;
        co_await on_node(env_, Collective::gather, args, error);
        for (; !blocks_.empty(); begin_blocks()) {
            Block const& b = *blocks_.front();
            co_await env_.over(b.in.op, b.ranks.front());
            if (large(b)) co_await take_pieces(b);
            else deal_out(b);
            used_ -= b.memory.bytes;
            blocks_.pop_front();
        }
        if (error) std::rethrow_exception(error);
        truncation_.check(env_);
    }

private:
    /// Starts receiving as many blocks as there is memory for, at least one.
    void begin_blocks() {
        for (; begun_ < map_.count(); ++begun_) {
            int const node = (map_.mine() + begun_) % map_.count();
            std::size_t const bytes = Block::bytes_of(a_, map_.members(node));
            if (!blocks_.empty() && used_ + bytes > a_.parameters[1]) return;
            used_ += bytes;
            blocks_.emplace_back(new (frames()) Block(env_, a_, node))->begin();
        }
    }
    bool large(Block const& b) const {
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < b.ranks.size(); ++i) largest = std::max(largest, b.size(i));
        return largest >= carried_from(a_, b.ranks.size());
    }
    void deal_out(Block const& b) {
        std::size_t at = b.ranks.size() * sizeof(std::uint64_t);
        std::size_t const end = std::min(b.in.bytes(), b.memory.bytes);
        for (std::size_t i = 0; i < b.ranks.size(); ++i) {
            std::size_t const n = b.size(i), come = at < end ? std::min(n, end - at) : 0;
            deliver(env_, a_.parts[b.ranks[i]], 0, b.memory.data() + at, come, n, b.ranks[i], truncation_);
            at += n;
        }
    }
    Task take_pieces(Block const& b) {
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
    Division const& map_;
    std::list<std::unique_ptr<Block>, Pooled<std::unique_ptr<Block>>> blocks_;   ///< in flight, node after node
    std::size_t used_ = 0;                                                       ///< bytes of their memory
    int begun_ = 1;   ///< nodes handled so far, counted from the root's own one
    Truncation truncation_;
};

Task masters(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    if (env.rank() == a.root) {
        Collecting all(env, a);
        co_await all.run();
    } else if (map.of(a.root) != map.mine()) {
        co_await give(env, a);
    } else {
        co_await on_node(env, Collective::gather, inside(a, map.index_of(a.root)));
    }
}

std::uint64_t masters_operations(RootedArgs const&, Division const&) { return 2; }

}   // namespace

extern constinit const Algorithm<RootedArgs> masters_algorithm = {
    "masters",
    "each node's parts to its master, masters to the root",
    Family::tutti,
    "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_nothing,
    carried_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::gather

// scatter/masters: the root, which acts as its own node's master, sends each other master the parts of its node with
// their sizes, and every master scatters them through shared memory; large parts are received in pieces by a few ranks
// of a node. One step between N nodes, N − 1 messages or twice as many; the root's link carries every part's bytes
// once. The root packs parts for as many nodes at a time as it has memory for.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009; sending sizes together with the parts is ours.

namespace tutti::coll::algorithms::scatter {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);

/// Bytes of a node's parts, with their heads, for which its master has room before it knows their number.
constexpr std::size_t few = 16384;

/// The head of each part: its size, and where the part is.
struct Head {
    enum Place : std::uint64_t { behind, in_next_message, in_pieces };

    explicit Head(std::uint64_t size, Place place) : word(size << 2 | place) {}
    explicit Head(std::byte const* from) { std::memcpy(&word, from, head); }
    void write(std::byte* to) const { std::memcpy(to, &word, head); }
    std::size_t size() const { return word >> 2; }
    Place place() const { return static_cast<Place>(word & 3); }
    std::size_t record() const { return head + (place() == behind ? size() : 0); }
    std::uint64_t word;
};

RootedArgs inside(RootedArgs const& a, int root) {
    RootedArgs args = a;
    args.root = root;
    args.equal = false;
    return args;
}

/// Returns only the heads of a node's parts.
Packed heads_of(NetEnv& env, RootedArgs const& a, std::span<int const> ranks, Head::Place place) {
    Packed heads(env.frames(), ranks.size() * head);
    std::byte* to = heads.data();
    for (int r : ranks) Head(a.parts[r].bytes(), place).write(to), to += head;
    return heads;
}

/// Returns the message for a node's master.
Packed packed_for(NetEnv& env, RootedArgs const& a, std::span<int const> ranks) {
    std::size_t largest = 0, sum = 0;
    for (int r : ranks) {
        largest = std::max(largest, a.parts[r].bytes());
        sum += a.parts[r].bytes();
    }
    if (largest >= carried_from(a, ranks.size())) return heads_of(env, a, ranks, Head::in_pieces);
    Packed block(env.frames(), ranks.size() * head + sum);
    std::size_t at = 0;
    for (int r : ranks) {
        Head const h(a.parts[r].bytes(), Head::behind);
        h.write(block.data() + at);
        env.load(block.data() + at + head, a.parts[r], 0, h.size());
        at += h.record();
    }
    return block;
}

/// The state of the root.
class DealingOut {
public:
    DealingOut(NetEnv& env, RootedArgs const& a)
        : env_(env), a_(a), map_(env.map()), flow_(env), leaving_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        std::exception_ptr error;
        bool inside_done = false;
        for (int i = 1; i < map_.count(); ++i) {
            auto const ranks = map_.members((map_.mine() + i) % map_.count());
            Packed block = packed_for(env_, a_, ranks);
            bool const full = used_ + block.bytes > a_.parameters[1];
            bool const pieces = Head(block.data()).place() == Head::in_pieces;
            if ((full || pieces) && !std::exchange(inside_done, true)) co_await inside_node(error);
            while (!leaving_.empty() && used_ + block.bytes > a_.parameters[1]) co_await one_left();
            if (block.bytes > few) send(heads_of(env_, a_, ranks, Head::in_next_message), ranks.front());
            send(std::move(block), ranks.front());
            if (pieces) co_await send_pieces(ranks);
        }
        if (!inside_done) co_await inside_node(error);
        while (!leaving_.empty()) co_await one_left();
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
        Packed const& m = leaving_.emplace_back(std::move(message));
        flow_.send({m.buffer(), 0, m.bytes}, to);
    }
    Task one_left() {
        co_await flow_.sent_one();
        used_ -= leaving_.front().bytes;
        leaving_.pop_front();
    }
    Task send_pieces(std::span<int const> ranks) {
        PooledVector<std::uint64_t> sizes(frames());
        for (int r : ranks) sizes.push_back(a_.parts[r].bytes());
        CarriedParts const parts(frames(), ranks, sizes, a_.parameters[1]);
        co_await parts.send_all(env_, a_.parts);
    }

    NetEnv& env_;
    RootedArgs const& a_;
    Division const& map_;
    NetFlow flow_;
    std::list<Packed, Pooled<Packed>> leaving_;   ///< in the order in which they are sent
    std::size_t used_ = 0;                        ///< bytes of their memory
};

/// The master's half of take(): receives the records of its node's ranks into `block`.
Task take_block(NetEnv& env, Messages<NetEnv>& m, int root, std::size_t ranks, Packed& block) {
    block = Packed(env.frames(), std::max(few, ranks * head));
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
    if (Head(block.data()).place() != Head::in_next_message) co_return;
    std::size_t bytes = ranks * head;
    for (std::size_t i = 0; i < ranks; ++i) bytes += Head(block.data() + i * head).size();
    block = Packed(env.frames(), bytes);
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
}

/// On a node without the root. Each rank receives its head and its part or, if parts are sent in pieces, the heads of
/// all ranks of the node.
Task take(NetEnv& env, RootedArgs const& a) {
    auto const ranks = env.map().members(env.map().mine());
    auto const index = static_cast<std::size_t>(env.map().index_of(env.rank()));
    bool const master = env.rank() == ranks.front();
    std::size_t const heads = ranks.size() * head, small = std::min(a.mine.bytes(), carried_from(a, ranks.size()));
    Packed const mine(env.frames(), std::max(heads, head + small));
    Packed block(env.frames(), 0);
    Messages<NetEnv> m(env);
    PartList list(env.frames());
    if (master) {
        co_await take_block(env, m, a.root, ranks.size(), block);
        bool const in_pieces = Head(block.data()).place() == Head::in_pieces;
        std::size_t at = 0;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            std::size_t const record = in_pieces ? heads : Head(block.data() + at).record();
            list.add(block.part(at, record));
            at += in_pieces ? 0 : record;
        }
    }
    RootedArgs args = inside(a, 0);
    if (master) args.parts = list.parts();
    args.mine = mine.buffer();
    Head(0, Head::behind).write(mine.data());
    std::exception_ptr error;
    co_await on_node(env, Collective::scatter, args, error);
    bool const in_pieces = Head(mine.data()).place() == Head::in_pieces;
    std::uint64_t const bytes = Head(mine.data() + (in_pieces ? index * head : 0)).size();
    Truncation truncation;
    truncation.compare(a.root, bytes, a.mine.bytes());
    // An error that only reports that the part is too long is left to the check below.
    if (error && (in_pieces || bytes <= a.mine.bytes())) std::rethrow_exception(error);
    if (in_pieces) {
        PooledVector<std::uint64_t> sizes(env.frames());
        for (std::size_t i = 0; i < ranks.size(); ++i) sizes.push_back(Head(mine.data() + i * head).size());
        CarriedParts const parts(env.frames(), ranks, sizes, a.parameters[1]);
        co_await parts.receive(env, index, a.mine, a.root);
    } else {
        deliver(env, a.mine, 0, mine.data() + head, bytes, bytes, a.root, truncation);
    }
    truncation.check(env);
}

Task masters(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    if (env.rank() == a.root) {
        DealingOut all(env, a);
        co_await all.run();
    } else if (map.of(a.root) != map.mine()) {
        co_await take(env, a);
    } else {
        co_await on_node(env, Collective::scatter, inside(a, map.index_of(a.root)));
    }
}

std::uint64_t masters_operations(RootedArgs const&, Division const&) { return 1; }

}   // namespace

extern constinit const Algorithm<RootedArgs> masters_algorithm = {"masters",
                                                                  "the root to masters, each master to its node",
                                                                  Family::tutti,
                                                                  "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
                                                                  requires_nothing,
                                                                  carried_parameters,
                                                                  TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::scatter
