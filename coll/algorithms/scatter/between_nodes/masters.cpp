// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) on several nodes: the root, its own node's master, sends each other master its node's parts with their
// sizes, and every master deals them out through shared memory; large parts come in pieces by a few of a node's ranks.
// One step between N nodes, N − 1 messages or twice as many; the root's link carries every part's bytes once. It packs
// parts for as many nodes as it has memory for. Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009; sizes are ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/carried_parts.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::scatter {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);

/// Bytes of a node's parts, with their heads, that its master has room for before it knows how many there are.
constexpr std::size_t few = 16384;

/// What stands before each part: its size, and where the part is.
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

/// The heads of a node's parts alone.
Packed heads_of(NetEnv& env, RootedArgs const& a, std::span<int const> ranks, Head::Place place) {
    Packed heads(env.frames(), ranks.size() * head);
    std::byte* to = heads.data();
    for (int r : ranks) Head(a.parts[r].bytes(), place).write(to), to += head;
    return heads;
}

/// What goes to a node's master.
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

/// The root's view.
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
    std::list<Packed, Pooled<Packed>> leaving_;   ///< in the order in which they leave
    std::size_t used_ = 0;                        ///< their memory
};

/// The master's half of take(): `block` becomes the records of its node's ranks.
Task take_block(NetEnv& env, Messages<NetEnv>& m, int root, std::size_t ranks, Packed& block) {
    block = Packed(env.frames(), std::max(few, ranks * head));
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
    if (Head(block.data()).place() != Head::in_next_message) co_return;
    std::size_t bytes = ranks * head;
    for (std::size_t i = 0; i < ranks; ++i) bytes += Head(block.data() + i * head).size();
    block = Packed(env.frames(), bytes);
    co_await m.receive(root, block.bytes, m.into(block.buffer(), 0));
}

/// On a node without the root: what comes for a rank is its head and the part, or, where parts come in pieces, the
/// heads of all ranks of the node.
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
    if (error && (in_pieces || bytes <= a.mine.bytes())) std::rethrow_exception(error);   // not that it is too long
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
