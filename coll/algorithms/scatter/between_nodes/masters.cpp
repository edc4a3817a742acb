// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) on several nodes: the root, its own node's master, sends each other master the parts of its node as one
// message, each with its size, and every master deals them out through shared memory; large parts go straight from the
// root to their ranks. One step between N nodes, N − 1 messages; the root's link carries every part's bytes once.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009; that sizes travel with the parts
// is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::scatter {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);

/// What stands before each part: its size, and whether it follows or comes by itself.
struct Head {
    explicit Head(std::uint64_t size, bool by_itself) : word(size << 1 | by_itself) {}
    explicit Head(std::byte const* from) { std::memcpy(&word, from, head); }
    std::size_t size() const { return word >> 1; }
    bool by_itself() const { return word & 1; }
    std::size_t record() const { return head + (by_itself() ? 0 : size()); }
    std::uint64_t word;
};

RootedArgs inside(RootedArgs const& a, int root) {
    RootedArgs args = a;
    args.root = root;
    args.equal = false;
    return args;
}

/// The message for a node's master.
Packed packed_for(NetEnv& env, RootedArgs const& a, std::span<int const> ranks) {
    std::size_t largest = 0, sum = 0;
    for (int r : ranks) {
        largest = std::max(largest, a.parts[r].bytes());
        sum += a.parts[r].bytes();
    }
    bool const by_themselves = largest >= a.parameters[0];
    Packed block(ranks.size() * head + (by_themselves ? 0 : sum));
    std::size_t at = 0;
    for (int r : ranks) {
        Head const h(a.parts[r].bytes(), by_themselves);
        std::memcpy(block.data() + at, &h.word, head);
        if (!by_themselves) env.load(block.data() + at + head, a.parts[r], 0, h.size());
        at += h.record();
    }
    return block;
}

Task give(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    Messages<NetEnv> m(env);
    std::vector<Packed> blocks;
    for (int i = 1; i < map.count(); ++i) {
        auto const ranks = map.members((map.mine() + i) % map.count());
        Packed const& block = blocks.emplace_back(packed_for(env, a, ranks));
        co_await m.start(ranks.front(), {block.buffer(), 0, block.bytes});
        if (Head(block.data()).by_itself())
            for (int r : ranks) co_await m.start(r, {a.parts[r], 0, a.parts[r].bytes()});
    }
    PartList const list(a.parts, map.members());
    RootedArgs args = inside(a, map.index_of(env.rank()));
    args.parts = list.parts();
    std::exception_ptr error;
    co_await on_node(env, Collective::scatter, args, error);
    co_await m.close();
    if (error) std::rethrow_exception(error);
}

/// On a node without the root: what comes for a rank is its head and the part, if that does not come by itself.
Task take(NetEnv& env, RootedArgs const& a) {
    auto const ranks = env.map().members(env.map().mine());
    bool const master = env.rank() == ranks.front();
    std::size_t const most = a.parameters[0];   // more than any part that does not come by itself
    Packed const mine(head + most), block(master ? ranks.size() * mine.bytes : 0);
    Messages<NetEnv> m(env);
    Truncation truncation;
    PartList list;
    if (master) {
        co_await m.receive(a.root, block.bytes, m.into(block.buffer(), 0));
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
    co_await on_node(env, Collective::scatter, args);
    Head const h(mine.data());
    if (h.by_itself()) co_await receive_part(env, m, a.root, a.mine, 0, truncation);
    else deliver(env, a.mine, 0, mine.data() + head, h.size(), h.size(), a.root, truncation);
    truncation.check();
}

Task masters(NetEnv& env, RootedArgs const& a) {
    Division const& map = env.map();
    if (env.rank() == a.root) co_await give(env, a);
    else if (map.of(a.root) != map.mine()) co_await take(env, a);
    else co_await on_node(env, Collective::scatter, inside(a, map.index_of(a.root)));
}

std::uint64_t masters_operations(RootedArgs const&, int) { return 1; }

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
