// SPDX-License-Identifier: BSD-3-Clause
// YHCCL's reductions: allreduce (movement_avoiding, multi_node, socket_aware, yhccl), reduce and reduce_scatter
// (movement_avoiding, socket_aware, yhccl).
//
// The reduction is that of coll/blocks/chain_reduction.hpp.
// movement_avoiding takes all ranks as one socket; socket_aware has p/m + 1 steps per round. In the allreduce all ranks
// copy all slices into their results, in the reduce the root does; in the reduce_scatter the last combination of a
// slice writes into the rank's result. Bytes loaded and stored by all ranks together, and the paper's section:
//                       allreduce                 reduce                    reduce_scatter
//   movement_avoiding   (5p − 1)·s, 3.4           (3p + 1)·s, 3.5           (3p − 1)·s, 3.3
//   socket_aware        (5p + 2m − 3)·s, 3.4      (3p + 2m − 1)·s, 3.5      (3p + 2m − 3)·s, 3.3
// yhccl runs dpml_two_level (coll/algorithms/reduction/dpml.cpp) for messages that are too small to profit, and
// socket_aware for larger ones (5.1). What differs from the paper is stated in coll/blocks/sliced.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/chain_reduction.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/multi_leader.hpp"

namespace tutti::coll {

/// Runs the reduction with all ranks in one socket.
template <class Env, class Args>
Task reduce_by_chain(Env& env, Args const& a, Receives receives) {
    MovementAvoiding<Env, Args> reduction(env, env.one_team(), a, receives, a.parameters[0], ~std::size_t{0},
                                          static_cast<CopyMode>(a.parameters[1]));
    co_await reduction.run();
}

inline constexpr Parameter socket_aware_parameters[] = {
    largest_slice_parameter,
    {"piece", 16384, "bytes that are combined at a time between sockets"},
    copy_parameter,
    hierarchy_parameter};
/// Of `a.parameters`, `first` and the two after it are slice, piece and copy.
template <class Env, class Args>
Task reduce_by_chains_of_sockets(Env& env, Args const& a, Receives receives, std::size_t first = 0) {
    MovementAvoiding<Env, Args> reduction(env, env.hierarchy(), a, receives, a.parameters[first],
                                          a.parameters[first + 1], static_cast<CopyMode>(a.parameters[first + 2]));
    co_await reduction.run();
}

/// YHCCL as it is used: the two-level parallel reduction for small messages, the socket-aware one above.
inline constexpr Parameter yhccl_parameters[] = {
    {"small", 262144, "largest message, in bytes, that the two-level parallel reduction reduces"},
    largest_slice_parameter,
    {"piece", 8192, "bytes that are reduced at a time in small messages, and between sockets"},
    copy_parameter,
    hierarchy_parameter};
template <class Env, class Args>
Task reduce_by_size(Env& env, Args const& a, Receives receives) {
    constexpr std::size_t slice = 1;   // index of the first parameter of both
    return a.bytes() <= a.parameters[0] ? reduce_by_leaders_of_sockets(env, a, receives, slice)
                                        : reduce_by_chains_of_sockets(env, a, receives, slice);
}

}   // namespace tutti::coll

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task movement_avoiding(Env& env, ReduceArgs const& a) {
    return reduce_by_chain(env, a, Receives::all);
}

constexpr Parameter movement_avoiding_parameters[] = {largest_slice_parameter, copy_parameter};
constexpr RecordHead movement_avoiding_head = {
    "movement_avoiding",
    "each slice passes through all ranks, which combine it in place in shared memory",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 3.4",
    requires_commutative_operator,
    movement_avoiding_parameters,
};
extern constinit const Algorithm<ReduceArgs> movement_avoiding_algorithm = {
    movement_avoiding_head, TUTTI_SHM_ONLY(movement_avoiding), {"(5*p - 1)*s"}};

// allreduce/multi_node: YHCCL's allreduce between nodes, run on one node with sockets in place of nodes: a
// movement-avoiding reduce_scatter in each, a ring allreduce by messages of each slice among the ranks that hold it,
// one in each, and an allgather in each, with adaptive copies. A round has as many slices (l) as the smallest node has
// ranks. With m nodes of n ranks: n + 2 (m − 1) steps per round of l slices; each node loads and stores (3n − 1)·s +
// 2n·s bytes, as in movement_avoiding, and sends and receives 2 (m − 1)/m·s bytes, all ranks concurrently.
// YHCCL (Peng et al., SC 2023), section 5.5, multi-node.
//
// A slice is in its first writer's staging memory, two rounds deep, before the part used by messages. Counters, which
// are read within the node only: ready[in_socket] steps done; ready[complete] rounds in which this rank's slice is
// complete; ack[0] rounds that this rank has finished. A first writer begins round k when all ranks of its node have
// acknowledged round k − 2.

namespace {

template <class Env>
class Nodes {
public:
    Nodes(Env& env, ReduceArgs const& args)
        : env_(env), a_(args), nodes_(env.hierarchy(), env.rank()), slice_count_(nodes_.smallest()),
          member_count_(nodes_.size(nodes_.own_part())), member_index_(nodes_.index_of(env.rank())),
          slices_(args, slice_count_, args.parameters[0]), copy_(static_cast<CopyMode>(args.parameters[1])),
          working_set_(working_set_of_chains(args.bytes(), Receives::all, static_cast<std::size_t>(env.size()), 1,
                                             args.parameters[0])),
          reducer_(env.traffic(), args),
          messages_(env, {.grain = slices_.element(), .reserved = depth * slices_.stride()}),
          own_(env, args, slices_.elements() * slices_.element()) {}

    FramePool& frames() { return env_.frames(); }
    Task run() {
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await await_acks(env_, nodes_.members(), 0, k - depth + 1);
            co_await run_chain_round(env_, nodes_.members(), member_index_, in_socket, k, [this, k](int slice, int j) {
                if (slice < slice_count_) step(slice, k, j);
            });
            if (member_index_ < slice_count_) {
                co_await exchange_between_nodes(k);
                env_.ready(complete, k + 1);
            }
            co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await await_acks(env_, nodes_.members(), 0, slices_.rounds());
        co_await messages_.close();
    }

private:
    static constexpr std::uint64_t depth = 2;
    enum Level { in_socket, complete };

    int member(int index) const {
        return nodes_.members()[static_cast<std::size_t>((index + member_count_) % member_count_)];
    }
    /// Returns the rank that has this rank's slices in another node.
    int counterpart(int node) const {
        int const m = nodes_.count();
        return nodes_.members((node + m) % m)[static_cast<std::size_t>(member_index_)];
    }
    /// Returns where a slice is reduced in this node: in the memory of the member before the one that finishes it.
    std::byte* slice_memory(int slice, std::uint64_t k) {
        return env_.staging(member(slice - 1)) + k % depth * slices_.stride();
    }

    void step(int slice, std::uint64_t k, int j) {
        std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
        std::byte* const sum = slice_memory(slice, k);
        if (j == 0) return env_.stage(sum, operand(a_), at, bytes, copy_);
        reducer_.accumulate(own_.at(at, bytes), sum, slices_.of(slice, k).count);
    }

    /// Returns part `part` of m of this rank's slice, in bytes of the slice.
    Slice part(int part, std::uint64_t k) const {
        std::size_t const all = slices_.of(member_index_, k).count, m = static_cast<std::size_t>(nodes_.count()),
                          each = (all + m - 1) / m, element = slices_.element();
        std::size_t const first = std::min(all, each * (static_cast<std::size_t>(part) % m));
        return {first * element, (std::min(all, first + each) - first) * element};
    }

    /// Between nodes: the parts of this rank's slice travel along the ring, first to be reduced, then to be gathered.
    Task exchange_between_nodes(std::uint64_t k) {
        int const m = nodes_.count(), me = nodes_.own_part();
        std::byte* const slice = slice_memory(member_index_, k);
        for (int j = 0; j < 2 * (m - 1); ++j) {
            bool const reduces = j < m - 1;
            Slice const out = part(me + 2 * m - j, k), in = part(me + 2 * m - j - 1, k);
            std::byte* const to = slice + in.first;
            auto use = [this, reduces, to](std::byte const* from, std::size_t at, std::size_t bytes) {
                if (reduces) reducer_.accumulate(from, to + at, bytes / slices_.element());
                else env_.copy(to + at, from, bytes, 0, copy_);
            };
            MessagePart const outgoing = packed_part(slice + out.first, out.count);
            co_await messages_.exchange(counterpart(me + 1), outgoing, counterpart(me - 1), in.count, use);
        }
    }

    Task collect(std::uint64_t k) {
        for (int j = 0; j < slice_count_; ++j) {
            int const slice = (member_index_ + j) % slice_count_;
            if (member(slice) != env_.rank()) co_await env_.until_ready(member(slice), complete, k + 1);
            std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
            copy_out(env_, result(a_), at, slice_memory(slice, k), bytes, working_set_, copy_);
        }
    }

    Env& env_;
    ReduceArgs const& a_;
    NodePartition nodes_;
    int slice_count_, member_count_,
        member_index_;   ///< slices of a round; ranks of this node; this rank's index in it
    Slices slices_;
    CopyMode copy_;
    std::size_t working_set_;
    Reducer reducer_;
    Messages<Env> messages_;
    PackedOperand<Env, ReduceArgs> own_;
};

}   // namespace

template <class Env>
Task multi_node(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Nodes<Env> all(env, a);
    co_await all.run();
}

constexpr Parameter multi_node_parameters[] = {largest_slice_parameter, copy_parameter, hierarchy_parameter};
extern constinit const Algorithm<ReduceArgs> multi_node_algorithm = {
    "multi_node",
    "sockets act as nodes: slices are reduced inside, in rings between, and gathered inside",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.5, multi-node",
    requires_commutative_operator,
    multi_node_parameters,
    TUTTI_SHM_ONLY(multi_node),
    {"b = 64*floor(slice/64); c = min(64*ceil(s/l/64), b); k = ceil(s/l/c) - 1; n = s - k*l*c; "
     "w = min(64*ceil(n/l/64), b); r = mod(n, w); "
     "(5*p + 4*m - 5)*s + 2*(m - 1)*(k*l*staged(c, e*ceil(c/e/m)) + floor(n/w)*staged(w, e*ceil(w/e/m)) + "
     "staged(r, e*ceil(r/e/m)))"}};

template <class Env>
Task socket_aware(Env& env, ReduceArgs const& a) {
    return reduce_by_chains_of_sockets(env, a, Receives::all);
}

constexpr RecordHead socket_aware_head = {
    "socket_aware",
    "each slice passes through every socket, then its rank combines the sockets' results",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 3.4, socket-aware",
    requires_commutative_operator,
    socket_aware_parameters,
};
extern constinit const Algorithm<ReduceArgs> socket_aware_algorithm = {
    socket_aware_head, TUTTI_SHM_ONLY(socket_aware), {"(5*p + 2*m - 3)*s"}};

template <class Env>
Task yhccl(Env& env, ReduceArgs const& a) {
    return reduce_by_size(env, a, Receives::all);
}

constexpr RecordHead yhccl_head = {
    "yhccl",
    "small messages as dpml_two_level, larger ones as socket_aware",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.1 and figure 4",
    requires_commutative_operator,
    yhccl_parameters,
};
extern constinit const Algorithm<ReduceArgs> yhccl_algorithm = {
    yhccl_head, TUTTI_SHM_ONLY(yhccl), {"small < s ? (5*p + 2*m - 3)*s : (7*p - 3 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::allreduce

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task movement_avoiding(Env& env, ReduceArgs const& a) {
    return reduce_by_chain(env, a, Receives::root);
}

extern constinit const Algorithm<ReduceArgs> movement_avoiding_algorithm = {
    allreduce::movement_avoiding_head.from("YHCCL (Peng et al., SC 2023), section 3.5"),
    TUTTI_SHM_ONLY(movement_avoiding),
    {"(3*p + 1)*s"}};

template <class Env>
Task socket_aware(Env& env, ReduceArgs const& a) {
    return reduce_by_chains_of_sockets(env, a, Receives::root);
}

extern constinit const Algorithm<ReduceArgs> socket_aware_algorithm = {
    allreduce::socket_aware_head.from("YHCCL (Peng et al., SC 2023), section 3.5, socket-aware"),
    TUTTI_SHM_ONLY(socket_aware),
    {"(3*p + 2*m - 1)*s"}};

template <class Env>
Task yhccl(Env& env, ReduceArgs const& a) {
    return reduce_by_size(env, a, Receives::root);
}

extern constinit const Algorithm<ReduceArgs> yhccl_algorithm = {
    allreduce::yhccl_head, TUTTI_SHM_ONLY(yhccl), {"small < s ? (3*p + 2*m - 1)*s : (5*p - 1 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::reduce

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task movement_avoiding(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_chain(env, a, Receives::own);
}

extern constinit const Algorithm<ReduceScatterArgs> movement_avoiding_algorithm = {
    allreduce::movement_avoiding_head.from("YHCCL (Peng et al., SC 2023), section 3.3"),
    TUTTI_SHM_ONLY(movement_avoiding),
    {"(3*p - 1)*s"}};

template <class Env>
Task socket_aware(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_chains_of_sockets(env, a, Receives::own);
}

extern constinit const Algorithm<ReduceScatterArgs> socket_aware_algorithm = {
    allreduce::socket_aware_head.from("YHCCL (Peng et al., SC 2023), section 3.3, socket-aware"),
    TUTTI_SHM_ONLY(socket_aware),
    {"(3*p + 2*m - 3)*s"}};

template <class Env>
Task yhccl(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_size(env, a, Receives::own);
}

extern constinit const Algorithm<ReduceScatterArgs> yhccl_algorithm = {
    allreduce::yhccl_head, TUTTI_SHM_ONLY(yhccl), {"small < s ? (3*p + 2*m - 3)*s : (5*p - 3 + 2*a)*s"}};

}   // namespace tutti::coll::algorithms::reduce_scatter
