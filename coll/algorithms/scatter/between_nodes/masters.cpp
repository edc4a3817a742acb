// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) on several nodes: the root, its own node's master, sends each other master its node's parts with their
// sizes, which go before where the parts are many bytes, and every master deals them out through shared memory; large
// parts go straight from the root to their ranks. One step between N nodes, N − 1 messages or twice as many; the root's
// link carries every part's bytes once. Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI
// 2009; that sizes travel with the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::scatter {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);

/// Bytes of a node's parts, with their heads, that its master has room for before it knows how many there are.
constexpr std::size_t few = 16384;

/// What stands before each part: its size, and where the part is.
struct Head {
    enum Place : std::uint64_t { behind, in_next_message, by_itself };

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
    if (largest >= a.parameters[0]) return heads_of(env, a, ranks, Head::by_itself);
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

Task give(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    Messages<NetEnv> m(env);
    PooledVector<Packed> blocks(env.frames());
    blocks.reserve(2 * static_cast<std::size_t>(map.count()));
    for (int i = 1; i < map.count(); ++i) {
        auto const ranks = map.members((map.mine() + i) % map.count());
        Packed const& block = blocks.emplace_back(packed_for(env, a, ranks));
        if (block.bytes > few) {
            Packed const& heads = blocks.emplace_back(heads_of(env, a, ranks, Head::in_next_message));
            co_await m.start(ranks.front(), {heads.buffer(), 0, heads.bytes});
        }
        co_await m.start(ranks.front(), {block.buffer(), 0, block.bytes});
        if (Head(block.data()).place() == Head::by_itself)
            for (int r : ranks) co_await m.start(r, {a.parts[r], 0, a.parts[r].bytes()});
    }
    PartList const list(env.frames(), a.parts, map.members());
    RootedArgs args = inside(a, map.index_of(env.rank()));
    args.parts = list.parts();
    std::exception_ptr error;
    co_await on_node(env, Collective::scatter, args, error);
    co_await m.close();
    if (error) std::rethrow_exception(error);
}

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

/// On a node without the root: what comes for a rank is its head and the part, if that does not come by itself.
Task take(NetEnv& env, RootedArgs const& a) {
    auto const ranks = env.map().members(env.map().mine());
    bool const master = env.rank() == ranks.front();
    Packed const mine(env.frames(), head + a.mine.bytes());
    Packed block(env.frames(), 0);
    Messages<NetEnv> m(env);
    Truncation truncation;
    PartList list(env.frames());
    if (master) {
        co_await take_block(env, m, a.root, ranks.size(), block);
        std::size_t at = 0;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            std::size_t const record = Head(block.data() + at).record();
            list.add(block.part(at, record));
            at += record;
        }
    }
    RootedArgs args = inside(a, 0);
    if (master) args.parts = list.parts();
    args.mine = mine.buffer();
    Head(0, Head::behind).write(mine.data());
    std::exception_ptr error;
    co_await on_node(env, Collective::scatter, args, error);
    Head const h(mine.data());
    bool const too_long = h.place() == Head::behind && h.size() > a.mine.bytes();   // which deliver notes
    if (error && !too_long) std::rethrow_exception(error);
    if (h.place() == Head::by_itself) co_await receive_part(env, m, a.root, a.mine, 0, truncation);
    else deliver(env, a.mine, 0, mine.data() + head, h.size(), h.size(), a.root, truncation);
    truncation.check();
}

Task masters(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    if (env.rank() == a.root) co_await give(env, a);
    else if (map.of(a.root) != map.mine()) co_await take(env, a);
    else co_await on_node(env, Collective::scatter, inside(a, map.index_of(a.root)));
}

std::uint64_t masters_operations(RootedArgs const&, Division const&) { return 1; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"direct", 131072, "bytes from which on the parts of a node go straight from the root to their ranks"}};
extern constinit const Algorithm<RootedArgs> masters_algorithm = {"masters",
                                                                  "the root to masters, each master to its node",
                                                                  Family::tutti,
                                                                  "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
                                                                  requires_nothing,
                                                                  masters_parameters,
                                                                  TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::scatter
