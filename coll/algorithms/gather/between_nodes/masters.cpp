// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) on several nodes: each node's parts go to its master through shared memory, and as one message with their
// sizes to the root, which is its own node's master and expects as many at a time as it has memory for; large parts go
// straight to their place, in pieces by a few ranks of a node. One step of N − 1 messages, each part once.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009 (master processes); that sizes
// travel with the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/nodes/carried_parts.hpp"
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

/// What the root expects of a node.
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

/// The root's view.
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
    /// As many as there is memory for, and one at least.
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
    std::list<std::unique_ptr<Block>, Pooled<std::unique_ptr<Block>>> blocks_;   ///< under way, node after node
    std::size_t used_ = 0;                                                       ///< their memory
    int begun_ = 1;                                                              ///< nodes, behind the root's own
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
