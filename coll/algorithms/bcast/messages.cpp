// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts by messages, in shared memory and between nodes: binomial, knomial, binary, split_binary, chain,
// linear, mpich_hierarchical, scatter_allgather.
//
// binomial: whole messages along a binomial tree; in each step the number of ranks that have the data doubles. ⌈log2 p⌉
// consecutive messages. Bytes: s per receiver by single copy, otherwise 2s.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Broadcast" (short messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/ordinary.hpp"
#include "coll/blocks/tree_flow.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task binomial(Env& env, BcastArgs const& a) {
    return binomial_bcast(env, a);
}

extern constinit const Algorithm<BcastArgs> binomial_algorithm = {
    "binomial",
    "each rank that has the data sends it to the root of the next smaller subtree",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Broadcast",
    requires_nothing,
    {},
    TUTTI_SHM_AND_NET(binomial),
    {"(p - 1)*(2*s + staged(s))", "log2(p)*t(s)"}};

// knomial: like binomial, but the number of ranks that have the data grows by the factor `radix` in each step, in which
// each of them sends to radix − 1 others; whole messages, or segments in a pipeline. (radix − 1)·⌈log_radix p⌉
// consecutive messages at the root, ⌈log_radix p⌉ at a rank farthest from it. Bytes: s per receiver by single copy,
// otherwise 2s. With radix 4 these are the messages of Open MPI's component tuned that XHC's Table II counts.
// Folklore; Open MPI's coll/tuned, as measured by Katevenis, Ploumidis, Marazakis (XHC, CLUSTER 2022), Table II.

namespace {

/// Passes the message down a tree. `position` is that of this rank's vrank, its distance from the root in a circle.
template <class Env>
Task pass_down(Env& env, BcastArgs const& a, TreePosition position, std::size_t segment) {
    Messages<Env> m(env);
    auto const rank_at = [&](int vrank) { return (vrank + a.root) % env.size(); };
    PassDown<Env> down(env, m, a.data, std::move(position).renumbered(rank_at), Segments(a.data.bytes(), 1, segment));
    co_await down.all();
    co_await m.close();
}

}   // namespace

template <class Env>
Task knomial(Env& env, BcastArgs const& a) {
    int const size = env.size(), radix = static_cast<int>(std::max<std::size_t>(2, a.parameters[0]));
    int const vrank = (env.rank() - a.root + size) % size;
    return pass_down(env, a, tree_of_groups(env.frames(), vrank, size, radix), a.parameters[1]);
}

constexpr Parameter knomial_parameters[] = {
    {"radix", 4, "factor by which the ranks that have the data multiply in a step; at least 2", ParameterKind::number},
    {"segment", 1 << 30, "bytes forwarded at a time"},
};
extern constinit const Algorithm<BcastArgs> knomial_algorithm = {
    "knomial",
    "each rank that has the data sends it to the roots of several smaller subtrees",
    Family::baseline,
    "folklore; Open MPI's coll/tuned, counted in XHC (Katevenis and others, CLUSTER 2022), Table II",
    requires_nothing,
    knomial_parameters,
    TUTTI_SHM_AND_NET(knomial),
    {"(p - 1)*(2*s + staged(s, segment))"}};

// binary: along a binary tree, in segments if asked for. ⌊log2 p⌋ + s/segment steps of at most two messages. Bytes: s
// per receiver by single copy, otherwise 2s.
// Pjesivac-Grbovic and others, "Performance analysis of MPI collective operations", Cluster Computing 2007.

template <class Env>
Task binary(Env& env, BcastArgs const& a) {
    int const size = env.size(), vrank = (env.rank() - a.root + size) % size;
    return pass_down(env, a, binary_tree(env.frames(), vrank, size), a.parameters[0]);
}

constexpr Parameter binary_parameters[] = {{"segment", 1 << 30, "bytes forwarded at a time"}};
extern constinit const Algorithm<BcastArgs> binary_algorithm = {
    "binary",
    "each rank that has the data sends it to at most two others",
    Family::baseline,
    "Pjesivac-Grbovic and others, Cluster Computing 2007",
    requires_nothing,
    binary_parameters,
    TUTTI_SHM_AND_NET(binary),
    {"(p - 1)*(2*s + staged(s, segment))"}};

// split_binary: the message is cut into two halves, and the ranks below the root into two subtrees of a binary tree.
// Each half passes down one of them in segments, so that the root sends every byte once; then each rank exchanges its
// half for that of a rank in the other subtree. If the first subtree has one rank more, its last rank gets the second
// half from the root. ⌊log2 p⌋ + s/(2·segment) steps, and one message of s/2 bytes in each direction. Bytes: s per
// receiver by single copy, otherwise 2s.
// Pjesivac-Grbovic and others, "Performance analysis of MPI collective operations", Cluster Computing 2007; Open MPI's
// coll/tuned uses it for messages of middle size.

template <class Env>
Task split_binary(Env& env, BcastArgs const& a) {
    int const size = env.size(), vrank = (env.rank() - a.root + size) % size;
    int const left = size / 2, right = size - 1 - left;   // ranks in the subtrees, which begin at 1 and at 1 + left
    auto const rank_at = [&](int v) { return (v + a.root) % size; };
    std::size_t const bytes = a.data.bytes(), middle = (bytes + 1) / 2;
    MessagePart const halves[] = {{a.data, 0, middle}, {a.data, middle, bytes - middle}};
    Messages<Env> m(env);
    TreePosition position = position_under(env.frames(), binary_tree, a.root, env.rank(), size);
    if (vrank == 0) {
        std::vector<PassDown<Env>> down;
        for (std::size_t i = 0; i < position.children.size(); ++i) {
            TreePosition one(env.frames());
            one.children.push_back(position.children[i]);
            down.emplace_back(env, m, a.data, std::move(one), Segments(halves[i].bytes, 1, a.parameters[0]),
                              halves[i].at);
        }
        std::uint64_t const count = Segments(middle, 1, a.parameters[0]).count;   // the first half is not shorter
        for (std::uint64_t k = 0; k < count; ++k)
            for (auto& half : down) co_await half.segment(k);
        for (auto& half : down) co_await half.finish();
        if (left > right) co_await m.send(rank_at(left), halves[1]);
    } else {
        bool const in_left = vrank <= left;
        MessagePart const &mine = halves[in_left ? 0 : 1], &other = halves[in_left ? 1 : 0];
        PassDown<Env> down(env, m, a.data, std::move(position), Segments(mine.bytes, 1, a.parameters[0]), mine.at);
        co_await down.all();
        auto use = m.into(a.data, other.at);
        int const peer = in_left ? vrank + left : vrank - left;
        if (peer == size) co_await m.receive(a.root, other.bytes, use);
        else co_await m.exchange(rank_at(peer), mine, rank_at(peer), other.bytes, use);
    }
    co_await m.close();
}

constexpr Parameter split_binary_parameters[] = {{"segment", 16384, "bytes forwarded at a time"}};
extern constinit const Algorithm<BcastArgs> split_binary_algorithm = {
    "split_binary",
    "each half passes down one subtree of a binary tree, then pairs exchange halves",
    Family::baseline,
    "Pjesivac-Grbovic and others, Cluster Computing 2007; Open MPI's coll/tuned",
    requires_nothing,
    split_binary_parameters,
    TUTTI_SHM_AND_NET(split_binary),
    {"h = ceil(s/2); g = s - h; t = floor(p/2); u = p - 1 - t; "
     "2*(p - 1)*s + t*(staged(h, segment) + staged(g)) + u*(staged(g, segment) + staged(h))"}};

// chain: segments along a chain of all ranks, beginning at the root. A rank receives segment k while it sends segment
// k − 1. p − 2 + s/segment steps. Bytes: s per receiver by single copy, otherwise 2s.

template <class Env>
Task chain(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), vrank = (env.rank() - a.root + size) % size;
    int const previous = (env.rank() + size - 1) % size, next = (env.rank() + 1) % size;
    bool const receives = vrank > 0, sends = vrank + 1 < size;
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(size);
    std::size_t const segment = std::max<std::size_t>(1, a.parameters[0]);
    MessagePart out{a.data, 0, 0}, in{a.data, 0, std::min(segment, bytes)};
    while (out.bytes + in.bytes > 0) {
        auto use = m.into(a.data, in.at, working_set);
        bool const sending = sends && out.bytes > 0, receiving = receives && in.bytes > 0;
        if (sending && receiving) co_await m.exchange(next, out, previous, in.bytes, use);
        else if (sending) co_await m.send(next, out);
        else if (receiving) co_await m.receive(previous, in.bytes, use);
        if (receiving) truncation.compare(previous, m.received(previous), in.bytes);
        out = in;
        in.at += in.bytes;
        in.bytes = std::min(segment, bytes - in.at);
    }
    co_await m.close();
    truncation.check(env);
}

constexpr Parameter chain_parameters[] = {{"segment", 65536, "bytes forwarded at a time"}};
extern constinit const Algorithm<BcastArgs> chain_algorithm = {
    "chain",
    "every rank forwards segments to the next rank",
    Family::baseline,
    "folklore; Pjesivac-Grbovic and others, Cluster Computing 2007",
    requires_nothing,
    chain_parameters,
    TUTTI_SHM_AND_NET(chain),
    {"(p - 1)*(2*s + staged(s, segment))"}};

// linear: a message from the root to each other rank, all in flight at the same time. One step for the receivers, p − 1
// for the root if the message is staged. Bytes: s per receiver by single copy, otherwise 2s.

template <class Env>
Task linear(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(env.size());
    if (env.rank() == a.root) {
        co_await start_all(env, m, [&](int) -> MessagePart { return {a.data, 0, bytes}; });
        co_await finish_all(env, m);
    } else {
        co_await receive_part(env, m, a.root, a.data, working_set, truncation);
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<BcastArgs> linear_algorithm = {"linear",
                                                                "the root sends to every other rank",
                                                                Family::baseline,
                                                                "folklore",
                                                                requires_nothing,
                                                                {},
                                                                TUTTI_SHM_AND_NET(linear),
                                                                {"(p - 1)*(2*s + staged(s))"}};

// mpich_hierarchical: broadcast with a master per node, in one of two forms. With N nodes of c ranks:
//
// pipelined: the root sends to its node's master, the masters forward along a binary tree, and each master to its
// node's ranks along a binomial tree, in segments. At most 2 ⌊log2 N⌋ + ⌈log2 c⌉ + 1 + s/segment consecutive messages;
// (p − 1)·s bytes copied once if messages are read in the sender's buffer, otherwise twice.
//
// whole: MPICH's ordinary broadcast (coll/blocks/ordinary.hpp) on the root's node if the root is not its master, then
// among the masters, then on the other nodes. If it is binomial, 2 ⌈log2 c⌉ + ⌈log2 N⌉ consecutive messages at most and
// the same bytes. Ranks on one node broadcast without masters.
//
// Time: section 3.1 for the pipelined form: (1 + α) log N messages between nodes and log c inside if there is a single
// segment; if there are several, every byte once between nodes and once inside. Whole: the ordinary broadcasts' times,
// which for a single segment differ in the tree among the masters only. The model leaves out a root that is no master.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1: "pipelined" and "non-pipelined".

namespace {

/// Returns this rank's position in the tree. A root that is not its node's master sends everything to the master of its
/// node, which is then at the top.
TreePosition position_of(FramePool& frames, Partition const& nodes, int rank, int root) {
    int const master = nodes.master(nodes.part_of(root));
    TreePosition t(frames);
    if (rank == root && rank != master) {
        t.children.push_back(master);
        return t;
    }
    std::vector<int> receivers;   // ranks of this node that receive from its master
    int const node = nodes.part_of(rank);
    for (int r : nodes.members(node))
        if (r == nodes.master(node) || r != root) receivers.push_back(r);
    auto const index = std::lower_bound(receivers.begin(), receivers.end(), rank) - receivers.begin();
    t = binomial_tree(frames, static_cast<int>(index), static_cast<int>(receivers.size())).renumbered([&](int p) {
        return receivers[static_cast<std::size_t>(p)];
    });
    if (t.parent >= 0) return t;
    TreePosition const b = position_of_master(frames, nodes, node, master, binary_tree);
    t.parent = b.parent >= 0 ? b.parent : root != rank ? root : -1;
    t.children.insert(t.children.end(), b.children.begin(), b.children.end());
    return t;
}

template <class Env>
Task bcast_segments(Env& env, BcastArgs const& a) {
    TreePosition position = position_of(env.frames(), env.nodes(), env.rank(), a.root);
    Segments const segments(a.data.bytes(), 1, a.parameters[1]);
    Messages<Env> m(env);
    PassDown<Env> down(env, m, a.data, std::move(position), segments);
    co_await down.all();
    co_await m.close();
}

/// Each step is a broadcast in a phase of its own.
template <class Env>
Task bcast_in_steps(Env& env, BcastArgs const& a, BcastSizes sizes) {
    Partition const& nodes = env.nodes();
    int const mine = nodes.part_of(env.rank()), top = nodes.part_of(a.root);
    bool const from_root = mine == top && nodes.master(top) != a.root;
    Team<Env> node(env, ranks_of_node(env.frames(), nodes, mine));
    BcastArgs inside = a, among = a;
    inside.root = from_root ? nodes.index_of(a.root) : 0;
    among.root = top;
    PhaseClock clock(env);
    if (from_root) co_await ordinary_bcast(node, inside, sizes);
    clock.end_before();
    env.begin_phase();
    if (env.rank() == nodes.master(mine)) {
        Team<Env> masters(env, nodes.masters(env.frames()));
        co_await ordinary_bcast(masters, among, sizes);
        clock.end_between();
    }
    env.begin_phase();
    if (!from_root) co_await ordinary_bcast(node, inside, sizes);
    clock.end_after();
}

}   // namespace

template <class Env>
Task mpich_hierarchical(Env& env, BcastArgs const& a) {
    BcastSizes const sizes{a.parameters[3], a.parameters[4], a.parameters[5]};
    if (a.parameters[2] == 0) return bcast_segments(env, a);
    if (env.nodes().count() == 1) return ordinary_bcast(env, a, sizes);
    return bcast_in_steps(env, a, sizes);
}

constexpr Parameter mpich_hierarchical_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes forwarded at a time if pipelined"},
    {"form", 0, "in segments along a binary tree of masters, or whole by ordinary broadcasts", ParameterKind::keyword,
     "pipelined|whole"},
    scatter_parameter,
    ring_parameter,
    few_parameter,
};
extern constinit const Algorithm<BcastArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "the root sends to its master, masters forward between nodes, each master to its node",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.1",
    requires_nothing,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"form < 1 ? (p - 1)*(2*s + staged(s, segment)) : "
     "teams(allgather = s < ring ? power(n, 2) < n ? 0 : 1 : 0; "
     "s < scatter ? bcast_binomial(n) : n < few ? bcast_binomial(n) : bcast_scatter_allgather(n))",
     "form < 1 ? segment < s ? phases(min(1, log2(n))*beta*s) : phases((1 + alpha*top)*log2(n)*t(s)) : "
     "phases(allgather = s < ring ? power(n, 2) < n ? 0 : 1 : 0; "
     "s < scatter ? bcast_binomial(n) : n < few ? bcast_binomial(n) : bcast_scatter_allgather(n))"}};

// scatter_allgather: for long messages. p blocks are scattered along a binomial tree and then allgathered, along a ring
// or by recursive doubling. ⌈log2 p⌉ + p − 1 consecutive messages with the ring, about 2 log2 p with doubling; each
// rank sends and receives at most about 2s·(p − 1)/p bytes instead of s·log2 p.
// Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, "Interprocessor collective communication library", SHPCC 1994;
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Broadcast" (long messages).

template <class Env>
Task scatter_allgather(Env& env, BcastArgs const& a) {
    return scatter_allgather_bcast(env, a, a.parameters[0] == 0);
}

constexpr Parameter scatter_allgather_parameters[] = {
    {"allgather", 0, "how the blocks are allgathered: around a ring or by recursive doubling", ParameterKind::keyword,
     "ring|doubling"}};
extern constinit const Algorithm<BcastArgs> scatter_allgather_algorithm = {
    "scatter_allgather",
    "blocks are scattered along a binomial tree, then allgathered",
    Family::baseline,
    "van de Geijn and others, SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 2005, Broadcast",
    requires_nothing,
    scatter_allgather_parameters,
    TUTTI_SHM_AND_NET(scatter_allgather),
    {"b = 64*ceil(s/p/64); q = power(p, 2); r = p - q; "
     "2*(p - 1)*s + doubling(d, p, sum(j, floor((p - 1 + d)/d/2), v = d*(2*j + 1); "
     "n = min(s, min(p, v + d)*b) - min(s, v*b); 2*n + staged(n))) + "
     "(allgather < 1 ? (p - 1)*staged(s, b) : "
     "sum(j, r, v = 2*j + 1; staged(min(s, (v + 1)*b) - min(s, v*b)) + staged(min(s, v*b)) + "
     "staged(s - min(s, (v + 1)*b))) + "
     "doubling(d, q, d*sum(g, q/d, v = (g + 1)*d; u = g*d; "
     "staged(min(s, (v + min(v, r))*b) - min(s, (u + min(u, r))*b)))))",
     "(log2(p) + (allgather < 1 ? p - 1 : log2(p)))*latency + 2*(p - 1)/p*s*beta"}};

}   // namespace tutti::coll::algorithms::bcast
