// SPDX-License-Identifier: BSD-3-Clause
// Broadcast with a master per node: the root hands to its node's master, masters to masters, each master to its node's
// ranks along a binomial tree; in segments, along a binary tree of masters, or whole, along a binomial one.
// With N nodes of c ranks: at most 2 ⌊log2 N⌋ + ⌈log2 c⌉ + s/segment messages in a row; (p − 1)·s copied once where
// messages are read where they lie, twice where not.
// Zhu, Goodell, Gropp, Thakur, section 3.1: "non-pipelined" and "pipelined".
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/tree_flow.hpp"
#include "coll/blocks/nodes/master_tree.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

/// A root that is not its node's master hands everything to the master of its node, which is then at the top.
TreePlace place_of(FramePool& frames, Division const& nodes, int rank, int root, TreeShape between) {
    int const master = nodes.master(nodes.of(root));
    TreePlace t(frames);
    if (rank == root && rank != master) {
        t.children.push_back(master);
        return t;
    }
    std::vector<int> waiting;   // of this node, for its master
    for (int r : nodes.members())
        if (r == nodes.members().front() || r != root) waiting.push_back(r);
    auto const place = std::lower_bound(waiting.begin(), waiting.end(), rank) - waiting.begin();
    t = binomial_tree(frames, static_cast<int>(place), static_cast<int>(waiting.size())).named([&](int p) {
        return waiting[static_cast<std::size_t>(p)];
    });
    if (t.parent >= 0) return t;
    TreePlace const b = place_of_master(frames, nodes, nodes.mine(), master, between);
    t.parent = b.parent >= 0 ? b.parent : root != rank ? root : -1;
    t.children.insert(t.children.end(), b.children.begin(), b.children.end());
    return t;
}

}   // namespace

template <class Env>
Task mpich_hierarchical(Env& env, BcastArgs const& a) {
    bool const pipelined = a.parameters[2] == 0;
    Division const nodes(env.hierarchy(), env.rank());
    TreePlace place = place_of(env.frames(), nodes, env.rank(), a.root, pipelined ? binary_tree : binomial_tree);
    Segments const segments(a.data.bytes(), 1, pipelined ? a.parameters[1] : whole);
    Messages<Env> m(env);
    PassDown<Env> down(env, m, a.data, std::move(place), segments);
    for (std::uint64_t k = 0; k < segments.count; ++k) co_await down.segment(k);
    co_await down.finish();
    co_await m.close();
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes that are passed on at a time when pipelined"},
    {"form", 0, "in segments along a binary tree of masters, or whole along a binomial one", ParameterKind::word,
     "pipelined|whole"},
};
extern constinit const Algorithm<BcastArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "root to master, master to masters, each master to its node, with messages",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1",
    requires_nothing,
    mpich_hierarchical_parameters,
    TUTTI_RUNS_ANYWHERE(mpich_hierarchical)};

}   // namespace tutti::coll::algorithms::bcast
