// SPDX-License-Identifier: BSD-3-Clause
// Broadcast with a master per node: the root hands to its node's master, masters to masters, each master to its node's
// ranks along a binomial tree; in segments, along a binary tree of masters, or whole, along a binomial one.
// With N nodes of c ranks: at most 2 ⌊log2 N⌋ + ⌈log2 c⌉ + s/segment messages in a row; (p − 1)·s copied once where
// messages are read where they lie, twice where not.
// Zhu, Goodell, Gropp, Thakur, section 3.1: "non-pipelined" and "pipelined".
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/nodes/master_nodes.hpp"
#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

/// Whom this rank has it from, and whom it hands it to: other nodes before its own, large subtrees before small ones.
struct Neighbours {
    Neighbours(MasterNodes const& nodes, int rank, int root, Branch (*between)(int, int)) {
        std::span<int const> const node = nodes.ranks_with(rank);
        int const master = node.front();
        if (rank == master) {
            MasterBranch const b(nodes, nodes.node_of(rank), nodes.node_of(root), between);
            parent = b.parent >= 0 ? b.parent : root != rank ? root : -1;
            children.assign(b.children.rbegin(), b.children.rend());
        } else if (rank == root) {
            children.push_back(master);
            return;
        }
        std::vector<int> ranks;   // of the node that wait for its master
        for (int r : node)
            if (r == master || r != root) ranks.push_back(r);
        auto const place = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
        Branch const b = binomial_branch(static_cast<int>(place), static_cast<int>(ranks.size()));
        if (b.parent >= 0) parent = ranks[static_cast<std::size_t>(b.parent)];
        for (auto child = b.children.rbegin(); child != b.children.rend(); ++child)
            children.push_back(ranks[static_cast<std::size_t>(*child)]);
    }
    int parent = -1;
    std::vector<int> children;
};

}  // namespace

template <class Env>
Task mpich_hierarchical(Env& env, BcastArgs const& a) {
    bool const pipelined = a.parameters[2] == 0;
    Neighbours const near(MasterNodes(env.hierarchy()), env.rank(), a.root,
                          pipelined ? binary_branch : binomial_branch);
    Segments const segments(a.data.bytes(), 1, pipelined ? a.parameters[1] : whole);
    Messages<Env> m(env);
    PassDown<Env> down(env, m, a.data, near.parent, near.children, segments);
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
    "mpich_hierarchical", "root to master, master to masters, each master to its node, with messages", Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1", requires_nothing, mpich_hierarchical_parameters,
    TUTTI_RUNS_ANYWHERE(mpich_hierarchical)};

}  // namespace tutti::coll::algorithms::bcast
