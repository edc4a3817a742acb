// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's component coll/sm, the rival of XHC (section V.C): collectives that copy fragments through shared memory
// along an n-ary tree, whatever the machine's levels. The component's data structures are kept where they determine the
// cost: an atomic counter says when a group of segments is not in use any more, and another one counts the arrivals at
// a barrier; everything else is a flag that one rank writes. XHC's section V.D.1 measures what such a counter costs.
//
// Segments: fragment k of a rank is in segment k mod `segments` of its staging memory. Two groups of them alternate:
// group j begins when all ranks have ended group j − 2.
#include <algorithm>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/message_parts.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/tree.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {
namespace {

constexpr Parameter sm_parameters[] = {
    {"fragment", 8192, "bytes copied at a time"},
    {"segments", 8, "fragments in each rank's shared memory, in two groups", ParameterKind::number},
    {"degree", 4, "children of a rank in the tree", ParameterKind::number},
};
enum SmParameter : std::size_t { sm_fragment, sm_segments, sm_degree };
constexpr char const* sm_source = "Open MPI's coll/sm, in XHC (Katevenis and others, CLUSTER 2022), section V.C";

/// The fragments of a message, and where they are in shared memory.
template <class Env>
class SharedSegments {
public:
    SharedSegments(Env& env, CommonArgs const& a, std::size_t bytes, std::size_t element)
        : fragments(bytes, element, a.parameters[sm_fragment]), env_(env),
          group_length_(std::max<std::size_t>(1, a.parameters[sm_segments] / 2)),
          stride_((std::min(fragments.length, bytes) + cache_line - 1) / cache_line * cache_line) {
        env.reserve_staging(2 * group_length_ * stride_);
        env.add_staging();
    }

    /// Returns where fragment k of a rank is. The rank must have exposed its memory; counts no message.
    std::byte* of(int rank, std::uint64_t k) const { return env_.staging_of(rank) + k % (2 * group_length_) * stride_; }
    std::uint64_t group(std::uint64_t k) const { return k / group_length_; }
    bool begins_group(std::uint64_t k) const { return k % group_length_ == 0; }
    bool ends_group(std::uint64_t k) const { return begins_group(k + 1) || k + 1 == fragments.count; }

    Segments const fragments;

private:
    Env& env_;
    std::uint64_t const group_length_;
    std::size_t const stride_;
};

/// A rank's position in the tree of this degree under `root`.
template <class Env>
TreePosition sm_position(Env& env, std::size_t degree, int root) {
    int const n = env.size();
    return n_ary_tree(env.frames(), (env.rank() - root + n) % n, n, static_cast<int>(degree))
        .renumbered([=](int vrank) { return (vrank + root) % n; });
}

// The fan-out of fragments. The root copies a fragment into its segment and notifies its children; a rank with children
// copies it from its parent's segment to its own, notifies them, and copies it out from there; the others copy it out
// of their parent's segment. Counters: sent: fragments, to each child; ack[0]: 1 when a child reads its parent's memory
// no more. In-use counters of the groups with even and with odd numbers: the words of the root and of the next rank;
// each rank but the root adds 1 when it has ended a group, and none begins a group before the root has seen the sum of
// the one before the last.
template <class Env>
Task sm_fan_out(Env& env, CommonArgs const& a, Buffer data, int root) {
    if (env.size() == 1 || data.bytes() == 0) co_return;
    SharedSegments<Env> const shared(env, a, data.bytes(), 1);
    Segments const& fragments = shared.fragments;
    TreePosition const t = sm_position(env, a.parameters[sm_degree], root);
    bool const is_root = env.rank() == root;
    std::uint64_t const others = static_cast<std::uint64_t>(env.size() - 1);
    auto const counter_of = [&](std::uint64_t group) { return (root + static_cast<int>(group % 2)) % env.size(); };
    if (is_root)
        for (std::uint64_t group : {0, 1}) env.begin_count(counter_of(group));
    for (std::uint64_t k = 0; k < fragments.count; ++k) {
        std::size_t const at = fragments.at(k), n = fragments.bytes(k);
        std::uint64_t const group = shared.group(k);
        std::byte const* from = nullptr;
        if (is_root) {
            if (shared.begins_group(k) && group >= 2) co_await env.until_count(counter_of(group), group / 2 * others);
            env.stage(shared.of(root, k), data, at, n);
        } else {
            co_await env.until_sent(t.parent, k + 1);
            env.count_message(t.parent);
            from = shared.of(t.parent, k);
            if (!t.leaf()) {
                env.copy(shared.of(env.rank(), k), from, n, 0);
                from = shared.of(env.rank(), k);
            }
        }
        for (int child : t.children) env.sent(child, k + 1);
        if (is_root) continue;
        env.store(data, at, from, n);
        if (shared.ends_group(k)) env.count_up(counter_of(group), 1);
    }
    env.ack(0, 1);
    co_await await_acks(env, t.children, 0, 1);
}

// The reduction of fragments. All ranks copy a fragment into their segments and notify the root, which combines them in
// rank order. Counters: ready[0]: fragments in this rank's segment; ack[0] of the root: groups that it has combined.
template <class Env>
class SmReduction {
public:
    SmReduction(Env& env, ReduceArgs const& args, int root)
        : env_(env), a_(args), root_(root), reducer_(env.traffic(), args),
          shared_(env, args, args.bytes(), element_of(args)) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        Segments const& fragments = shared_.fragments;
        bool const is_root = env_.rank() == root_, dense = a_.type->dense(a_.count);
        // The result may be built in place unless that overwrites an operand which is combined later.
        if (is_root && !(dense && (a_.in != in_place || root_ == 0)))
            own_sum_ = PooledBytes(frames(), fragments.length);
        if (is_root && !dense) own_operand_ = PooledBytes(frames(), fragments.length);
        for (std::uint64_t k = 0; k < fragments.count; ++k) {
            if (is_root) {
                co_await combine(k);
                if (shared_.ends_group(k)) env_.ack(0, shared_.group(k) + 1);
                continue;
            }
            std::uint64_t const group = shared_.group(k);
            if (shared_.begins_group(k) && group >= 2) co_await env_.until_ack(root_, 0, group - 1);
            env_.stage(shared_.of(env_.rank(), k), operand(a_), fragments.at(k), fragments.bytes(k));
            env_.ready(0, k + 1);
        }
        if (!is_root && fragments.count > 0) co_await env_.until_ack(root_, 0, shared_.group(fragments.count - 1) + 1);
    }

private:
    Task combine(std::uint64_t k) {
        std::size_t const at = shared_.fragments.at(k), n = shared_.fragments.bytes(k), elements = n / element_of(a_);
        std::byte* const sum = own_sum_ ? own_sum_.get() : first_byte(result(a_)) + at;
        std::byte const* own = own_operand_.get();
        if (own_operand_) env_.load(own_operand_.get(), operand(a_), at, n);
        else own = first_byte(operand(a_)) + at;
        std::byte const* first = nullptr;
        for (int rank = 0; rank < env_.size(); ++rank) {
            if (rank != root_) {
                co_await env_.until_ready(rank, 0, k + 1);
                env_.count_message(rank);
            }
            std::byte const* const next = rank == root_ ? own : shared_.of(rank, k);
            void const* const operands[] = {first, next};
            if (first) reducer_.combine(operands, 2, sum, elements);
            first = first ? sum : next;
        }
        if (first != sum) env_.copy(sum, first, n, 0);   // the only rank
        if (own_sum_) env_.store(result(a_), at, sum, n);
    }

    Env& env_;
    ReduceArgs const& a_;
    int root_;
    Reducer reducer_;
    SharedSegments<Env> shared_;
    PooledBytes own_sum_, own_operand_;   ///< of the root, a fragment each; null: in the user's memory
};

template <class Env>
Task sm_reduce(Env& env, ReduceArgs const& a, int root) {
    SmReduction<Env> reduction(env, a, root);
    co_await reduction.run();
}

}   // namespace
}   // namespace tutti::coll

// bcast/sm: fan-out. Fragments in a pipeline: depth of the tree + s/fragment steps; each rank with children copies the
// message once more: 2 s·(p − 1) bytes copied out, and 2 s by the root and by each other rank with children.
// Open MPI's coll/sm, as described by Katevenis, Ploumidis, Marazakis (XHC, CLUSTER 2022), section V.C.

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task sm(Env& env, BcastArgs const& a) {
    return sm_fan_out(env, a, a.data, a.root);
}

extern constinit const Algorithm<BcastArgs> sm_algorithm = {
    "sm",
    "fragments are copied through shared memory down an n-ary tree, with atomic counters of segments in use",
    Family::baseline,
    sm_source,
    requires_nothing,
    sm_parameters,
    TUTTI_SHM_ONLY(sm),
    {"2*s*(inner(p, degree) + p - 1)"}};

}   // namespace tutti::coll::algorithms::bcast

// reduce/sm: fan-in at the root. s/fragment steps, in each of which the root combines the fragments of all ranks, two
// at a time: 2 s·(p − 1) bytes copied in and 3 s·(p − 1) combined.
// Open MPI's coll/sm, as described by Katevenis, Ploumidis, Marazakis (XHC, CLUSTER 2022), section V.C.

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task sm(Env& env, ReduceArgs const& a) {
    return sm_reduce(env, a, a.root);
}

extern constinit const Algorithm<ReduceArgs> sm_algorithm = {
    "sm",
    "all ranks copy fragments into shared memory, and the root combines them in rank order",
    Family::baseline,
    sm_source,
    requires_nothing,
    {sm_parameters, sm_degree},
    TUTTI_SHM_ONLY(sm),
    {"5*s*(p - 1)"}};

}   // namespace tutti::coll::algorithms::reduce

// allreduce/sm: reduce/sm at rank 0, then bcast/sm from it.
// Open MPI's coll/sm, as described by Katevenis, Ploumidis, Marazakis (XHC, CLUSTER 2022), section V.C.

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task sm(Env& env, ReduceArgs const& a) {
    co_await sm_reduce(env, a, 0);
    env.begin_phase();
    co_await sm_fan_out(env, a, result(a), 0);
}

extern constinit const Algorithm<ReduceArgs> sm_algorithm = {
    "sm",
    "rank 0 combines the fragments of all ranks in shared memory, then they pass down an n-ary tree",
    Family::baseline,
    sm_source,
    requires_nothing,
    sm_parameters,
    TUTTI_SHM_ONLY(sm),
    {"5*s*(p - 1) + 2*s*(inner(p, degree) + p - 1)"}};

}   // namespace tutti::coll::algorithms::allreduce

// barrier/sm: fan-in by an atomic counter at each rank with children, fan-out by flags, along an n-ary tree. 3 steps
// per level of the tree: a rank first announces that its counter has begun, because counters belong to an operation.
// Open MPI's coll/sm, as described by Katevenis, Ploumidis, Marazakis (XHC, CLUSTER 2022), section V.C.

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task sm(Env& env, BarrierArgs const& a) {
    TreePosition const t = sm_position(env, a.parameters[0], 0);
    if (!t.leaf()) {
        env.begin_count(env.rank());
        env.ready(0, 1);
        co_await env.until_count(env.rank(), t.children.size());
    }
    if (t.parent >= 0) {
        co_await env.until_ready(t.parent, 0, 1);
        env.count_up(t.parent, 1);
        co_await env.until_sent(t.parent, 1);
    }
    for (int child : t.children) env.sent(child, 1);
}

extern constinit const Algorithm<BarrierArgs> sm_algorithm = {
    "sm",
    "children count up an atomic counter of their parent, and releases return down the tree",
    Family::baseline,
    sm_source,
    requires_nothing,
    {sm_parameters + sm_degree, 1},
    TUTTI_SHM_ONLY(sm),
    {"0"}};

}   // namespace tutti::coll::algorithms::barrier
