// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) on several nodes: each node's parts go to its master through shared memory, and as one message with their
// sizes to the root, which is its own node's master. Where a node has large parts its ranks send theirs to the root
// themselves, node after node. One step between N nodes, N − 1 messages; the root's link carries every part once.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes); that sizes
// travel with the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::gather {
namespace {

RootedArgs inside(RootedArgs const& a, int root) {
    RootedArgs args = a;
    args.root = root;
    args.equal = false;
    return args;
}

/// On a node without the root.
Task give(NetEnv& env, RootedArgs const& a) {
    NodeSizes node(env);
    co_await node.learn(a.mine);
    bool const together = node.largest() < a.parameters[0], master = env.rank() == env.map().master(env.map().mine());
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
    if (!together) co_await m.start(a.root, {a.mine, 0, a.mine.bytes()});
    co_await m.close();
}

/// What the root expects of a node.
struct Block : InPool {
    Block(NetEnv& env, RootedArgs const& a, int of) : ranks(env.map().members(of)), in(env) {
        std::size_t sum = 0;
        for (int r : ranks) sum += a.parts[r].bytes();
        sum = std::min(sum, std::min(sum, a.parameters[0]) * ranks.size());
        memory.emplace(env.frames(), ranks.size() * sizeof(std::uint64_t) + sum);
        in.begin(memory->data(), memory->bytes, ranks.front());
    }
    std::uint64_t size(std::size_t i) const {
        std::uint64_t n;
        std::memcpy(&n, memory->data() + i * sizeof n, sizeof n);
        return n;
    }
    std::span<int const> ranks;
    std::optional<Packed> memory;
    Arriving in;
};

/// Deals out what has come of a node; false: its ranks send their parts themselves.
bool deal_out(NetEnv& env, RootedArgs const& a, Block const& b, Truncation& truncation) {
    std::size_t at = b.ranks.size() * sizeof(std::uint64_t), largest = 0;
    std::size_t const end = std::min(b.in.bytes(), b.memory->bytes);
    for (std::size_t i = 0; i < b.ranks.size(); ++i) largest = std::max(largest, b.size(i));
    if (largest >= a.parameters[0]) return false;
    for (std::size_t i = 0; i < b.ranks.size(); ++i) {
        std::size_t const n = b.size(i), come = at < end ? std::min(n, end - at) : 0;
        deliver(env, a.parts[b.ranks[i]], 0, b.memory->data() + at, come, n, b.ranks[i], truncation);
        at += n;
    }
    return true;
}

Task take(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    PooledVector<std::unique_ptr<Block>> blocks(env.frames());
    for (int i = 1; i < map.count(); ++i)
        blocks.emplace_back(new (env.frames()) Block(env, a, (map.mine() + i) % map.count()));
    PartList const list(env.frames(), a.parts, map.members());
    RootedArgs args = inside(a, map.index_of(env.rank()));
    args.parts = list.parts();
    std::exception_ptr error;
    co_await on_node(env, Collective::gather, args, error);
    Messages<NetEnv> m(env);
    Truncation truncation;
    for (auto& b : blocks) {
        co_await env.over(b->in.op, b->ranks.front());
        if (deal_out(env, a, *b, truncation)) continue;
        co_await m.exchange_all(
            std::span<int const>(), b->ranks, [](int) -> MessagePart { return packed_part(nullptr, 0); },
            [&](int from) { return a.parts[from].bytes(); }, [&](int from) { return m.into(a.parts[from], 0); });
        for (int from : b->ranks) truncation.compare(from, m.received(from), a.parts[from].bytes());
    }
    if (error) std::rethrow_exception(error);
    truncation.check();
}

Task masters(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    if (env.rank() == a.root) co_await take(env, a);
    else if (map.of(a.root) != map.mine()) co_await give(env, a);
    else co_await on_node(env, Collective::gather, inside(a, map.index_of(a.root)));
}

std::uint64_t masters_operations(RootedArgs const&, Division const&) { return 2; }

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"direct", 131072, "bytes from which on the parts of a node go straight from their ranks to the root"}};
extern constinit const Algorithm<RootedArgs> masters_algorithm = {
    "masters",
    "each node's parts to its master, masters to the root",
    Family::tutti,
    "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009",
    requires_nothing,
    masters_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::gather
