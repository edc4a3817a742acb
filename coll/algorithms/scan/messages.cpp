// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan by messages, in shared memory and between nodes: linear, mpich_hierarchical and recursive_doubling
// for each, and binomial for scan.
//
// exscan/linear: whole messages along the ranks; each rank receives from the previous one, and sends the combination
// with its own operand to the next. p − 1 consecutive messages of s bytes, read in the sender's buffer or staged once.
// The definition, MPI 3.1, section 5.11.
#include <numeric>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/prefix.hpp"
#include "coll/env/net_env.hpp"
#include "coll/env/team.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task linear(Env& env, ReduceArgs const& a) {
    return prefix_linear(env, a, false);
}

constexpr RecordHead linear_head = {
    "linear",         "the prefix moves from rank to rank as one message",
    Family::baseline, "the definition, MPI 3.1, section 5.11",
    requires_nothing, {},
};
extern constinit const Algorithm<ReduceArgs> linear_algorithm = {
    linear_head, TUTTI_SHM_AND_NET(linear), {"(5*p - 8)*s + (p - 1)*staged(s)"}};

}   // namespace tutti::coll::algorithms::exscan

// The prefix with a master per node, which scan and exscan share: (1) recursive doubling on each node, after which the
// first rank, the master, has the node's total; (2) an exclusive prefix among the masters by recursive doubling; (3)
// each master sends the total of all earlier nodes along a binomial tree to the other ranks of its node. In segments,
// step 3 of a segment follows step 1 of the next one, while masters are in step 2; the paper has no segments. With N
// nodes of c ranks: 2 ⌈log2 c⌉ + ⌈log2 N⌉ consecutive messages of s bytes, read in the sender's buffer or staged once.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.5, for scan.

namespace tutti::coll {

/// Recursive doubling among all ranks.
template <class Env>
Task prefix_by_doubling(Env& env, ReduceArgs const& a, bool inclusive) {
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), one_segment);
    PrefixBuffers<Env> buffers(env, a, segments, inclusive);
    std::vector<int> ranks(static_cast<std::size_t>(env.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    PrefixDoubling<Env> all(env, m, a, ranks, env.rank(), segments.length);
    for (std::uint64_t k = 0; k < segments.count; ++k) {
        std::byte const* own = buffers.begin_segment(k);
        co_await all.run(own, buffers.prefix(k), segments.bytes(k), inclusive);
        buffers.finish_segment(k);
    }
    co_await m.close();
}

/// Distributes the total of all earlier nodes from the master to the other ranks of its node.
template <class Env>
class EarlierNodesTotal {
public:
    EarlierNodesTotal(Env& env, Messages<Env>& m, ReduceArgs const& a, TreePosition position, std::size_t max_bytes,
                      bool inclusive)
        : env_(env), m_(m), reducer_(env.traffic(), a), element_(element_of(a)), position_(std::move(position)),
          combines_(inclusive || position_.parent >= 0) {
        bool const forwards = position_.parent < 0 || !position_.children.empty();
        if (forwards) before_ = PooledBytes(env.frames(), max_bytes);
    }
    FramePool& frames() { return env_.frames(); }

    /// Where the master stores it.
    std::byte* memory() { return before_.get(); }

    /// Sends `bytes` bytes of it down the tree and combines them with `prefix`.
    Task run(std::byte* prefix, std::size_t bytes) {
        auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
            if (combines_) reducer_.accumulate(from, prefix + at, n / element_);
            else env_.copy(prefix + at, from, n, 0);
        };
        if (!before_) {
            co_await m_.receive(position_.parent, bytes, add);
            co_return;
        }
        auto keep = [&](std::byte const* from, std::size_t at, std::size_t n) {
            env_.copy(before_.get() + at, from, n, 0);
        };
        if (position_.parent >= 0) co_await m_.receive(position_.parent, bytes, keep);
        for (auto child = position_.children.rbegin(); child != position_.children.rend(); ++child)
            co_await m_.start(*child, packed_part(before_.get(), bytes));
        add(before_.get(), 0, bytes);
        for (int child : position_.children) co_await m_.finish(child);
    }

private:
    Env& env_;
    Messages<Env>& m_;
    Reducer reducer_;
    std::size_t element_;
    TreePosition position_;
    bool combines_;        ///< false: a master's exclusive prefix, which is empty
    PooledBytes before_;   ///< at ranks that forward it
};

inline constexpr Parameter prefix_by_nodes_parameters[] = {
    hierarchy_parameter,
    {"segment", 5120, "bytes per segment if pipelined"},
    {"form", 1, "in segments, or whole", ParameterKind::keyword, "pipelined|whole"},
};

/// By the model of the paper's section 3.1; in segments, a master is in its phases for one segment after the other.
inline constexpr char prefix_by_nodes_time[] =
    "k = form < 1 ? min(s, segment) : s; "
    "ceil(s/max(1, k))*phases((top < 1 ? N < 2 ? 1 : 2 : 1)*log2(n)*t(k))";

template <class Env>
Task prefix_by_nodes(Env& env, ReduceArgs const& a, bool inclusive) {
    std::size_t const segment = a.parameters[2] == 0 ? a.parameters[1] : one_segment;
    Partition const& nodes = env.nodes();
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), segment);
    PrefixBuffers<Env> buffers(env, a, segments, inclusive);
    int const index = nodes.index_of(env.rank()), my_node = nodes.part_of(env.rank());
    bool const master = index == 0 && nodes.count() > 1;
    PooledVector<int> const masters = nodes.masters(env.frames());
    PrefixDoubling<Env> inside(env, m, a, nodes.members(my_node), index, segments.length);
    PrefixDoubling<Env> among(env, m, a, masters, my_node, master ? segments.length : 0);
    EarlierNodesTotal<Env> before(env, m, a, position_in_node(env.frames(), nodes, env.rank()), segments.length,
                                  inclusive);

    PhaseClock clock(env);
    for (std::uint64_t k = 0; k < segments.count + 1; ++k) {
        std::byte const* own = k < segments.count ? buffers.begin_segment(k) : nullptr;
        if (own) co_await inside.run(own, buffers.prefix(k), segments.bytes(k), inclusive);
        if (own && my_node == 0) buffers.finish_segment(k);
        clock.end_before();
        if (k > 0 && my_node > 0) {
            co_await before.run(buffers.prefix(k - 1), segments.bytes(k - 1));
            buffers.finish_segment(k - 1);
            clock.end_after();
        }
        if (own && master) {
            co_await among.run(inside.total(), before.memory(), segments.bytes(k), false);
            clock.end_between();
        }
    }
    co_await m.close();
}

}   // namespace tutti::coll

// exscan/mpich_hierarchical: the prefix with a master per node, above.

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    return prefix_by_nodes(env, a, false);
}

constexpr RecordHead mpich_hierarchical_head = {
    "mpich_hierarchical",
    "prefixes on each node, among the masters, then combined on each node, by messages",
    Family::mpich,
    "after Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5",
    requires_reassociation | requires_consecutive_teams,
    prefix_by_nodes_parameters,
};
extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    mpich_hierarchical_head,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"u = form < 1 ? staged(s, segment) : staged(s); "
     "teams(c = doubling(d, n, floor(n/d/2)*d + max(0, mod(n, 2*d) - d)); "
     "(9*c - 4*n + 4)*s + 2*c*u + (i < 1 ? 0 : (n - 1)*(3*s + u) + 2*max(1, floor(n/2))*s))",
     prefix_by_nodes_time}};

// exscan/recursive_doubling: exchanges with ranks 1, 2, 4, … away (coll/blocks/prefix.hpp). ⌈log2 p⌉ consecutive
// messages of s bytes, read in the sender's buffer or staged once.
// Hillis, Steele, "Data parallel algorithms", CACM 29 (1986), with exchanges as in Zhu, Goodell, Gropp, Thakur, 3.5.

template <class Env>
Task recursive_doubling(Env& env, ReduceArgs const& a) {
    return prefix_by_doubling(env, a, false);
}

constexpr RecordHead recursive_doubling_head = {
    "recursive_doubling",
    "ranks exchange the sums of blocks of 1, 2, 4, … ranks",
    Family::baseline,
    "after Hillis, Steele, CACM 29 (1986); exchanges as in Zhu and others, EuroPVM/MPI 2009, section 3.5",
    requires_reassociation,
    {}};
extern constinit const Algorithm<ReduceArgs> recursive_doubling_algorithm = {
    recursive_doubling_head,
    TUTTI_SHM_AND_NET(recursive_doubling),
    {"c = doubling(d, p, floor(p/d/2)*d + max(0, mod(p, 2*d) - d)); (9*c - 4*p + 4)*s + 2*c*staged(s)",
     "log2(p)*t(s)"}};

}   // namespace tutti::coll::algorithms::exscan

// scan/binomial: along binomial trees. On the way up, rank r collects the total of the 2^k ranks that end with r, where
// 2^k is the lowest bit of r + 1; on the way down, it gets the prefix of the rank before these and sends its own prefix
// to ranks at decreasing distances. At most 2 ⌈log2 p⌉ consecutive messages of s bytes, fewer than 2 p in all, read in
// the sender's buffer or staged once.
// Sanders, Träff, "Parallel prefix (scan) algorithms for MPI", EuroPVM/MPI 2006, binomial tree.

namespace tutti::coll::algorithms::scan {

template <class Env>
Task binomial(Env& env, ReduceArgs const& a) {
    std::size_t const element = element_of(a), bytes = a.bytes();
    Messages<Env> m(env, element);
    Reducer reducer(env.traffic(), a);
    PrefixBuffers<Env> buffers(env, a, Segments(bytes, element, one_segment), true);
    if (bytes == 0) co_return;
    std::byte const* own = buffers.own_operand(0);   // or the total, once there is one
    std::byte* sum = buffers.prefix(0);
    if (env.rank() == 0 && own != sum) env.copy(sum, own, bytes, 0);
    int const rank = env.rank(), reach = (rank + 1) & -(rank + 1);
    auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {from, own + at};
        reducer.combine(operands, 2, sum + at, n / element);
    };
    for (int bit = 1; bit < reach; bit *= 2, own = sum) co_await m.receive(rank - bit, bytes, add);
    if (rank + reach < env.size()) co_await m.send(rank + reach, packed_part(own, bytes));
    if (rank >= reach) co_await m.receive(rank - reach, bytes, add);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (rank + bit < env.size()) co_await m.start(rank + bit, packed_part(sum, bytes));
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (rank + bit < env.size()) co_await m.finish(rank + bit);
    buffers.finish_segment(0);
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> binomial_algorithm = {
    "binomial",
    "sums move up a binomial tree, and prefixes move down",
    Family::baseline,
    "Sanders, Träff, EuroPVM/MPI 2006",
    requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(binomial),
    {"2*s + (doubling(d, p, floor(p/d/2)) + p - 1 - log(p, 2))*(3*s + staged(s))"}};

// scan/linear: the same steps and messages as exscan/linear.
// The definition, MPI 3.1, section 5.11.

template <class Env>
Task linear(Env& env, ReduceArgs const& a) {
    return prefix_linear(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> linear_algorithm = {
    exscan::linear_head, TUTTI_SHM_AND_NET(linear), {"(3*p - 1)*s + (p - 1)*staged(s)"}};

// scan/mpich_hierarchical: the prefix with a master per node, above.

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    return prefix_by_nodes(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    exscan::mpich_hierarchical_head.from("Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5"),
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"u = form < 1 ? staged(s, segment) : staged(s); "
     "teams(c = doubling(d, n, floor(n/d/2)*d + max(0, mod(n, 2*d) - d)); "
     "(1 < m*top ? 9*c - 4*n + 4 : 9*c - n + 3)*s + 2*c*u + "
     "(i < 1 ? 0 : (n - 1)*(3*s + u) + (2*max(1, floor(n/2)) + 1)*s))",
     prefix_by_nodes_time}};

// scan/recursive_doubling: the same steps and messages as exscan/recursive_doubling.

template <class Env>
Task recursive_doubling(Env& env, ReduceArgs const& a) {
    return prefix_by_doubling(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> recursive_doubling_algorithm = {
    exscan::recursive_doubling_head,
    TUTTI_SHM_AND_NET(recursive_doubling),
    {"c = doubling(d, p, floor(p/d/2)*d + max(0, mod(p, 2*d) - d)); (9*c - p + 3)*s + 2*c*staged(s)", "log2(p)*t(s)"}};

}   // namespace tutti::coll::algorithms::scan
