// SPDX-License-Identifier: BSD-3-Clause
// YHCCL's allreduce over nodes on one node, with sockets for nodes: inside each a movement-avoiding reduce_scatter,
// a ring allreduce by messages of each slice among the ranks that hold it, one in each, and an allgather inside each.
// The smallest has as many slices (l) as ranks. For m of n ranks n + 2 (m − 1) steps per round of l slices; each loads
// and stores (3n − 1)·s + 2n·s bytes, as by movement_avoiding, and sends and receives 2 (m − 1)/m·s, all ranks at once.
// YHCCL (Peng et al., SC 2023), section 5.5, multi-node.
//
// A slice lies with its first writer, two rounds deep, behind the messages' part of its staging memory. Counters, all
// looked at inside the node alone: ready[inside] steps done; ready[whole] rounds in which this rank's slice is
// complete; ack[0] rounds that it is through with. A first writer begins round k when all in its node have acknowledged
// k − 2.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/reduce/movement_avoiding.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

template <class Env>
class Nodes {
public:
    Nodes(Env& env, ReduceArgs const& args)
        : env_(env), a_(args), nodes_(env.hierarchy(), env.rank()), lanes_(nodes_.smallest()),
          n_(nodes_.size(nodes_.mine())), i_(nodes_.index_of(env.rank())),
          slices_(args, lanes_, std::min(args.parameters[0], env.staging_bytes() / depth)),
          reducer_(env.traffic(), args), messages_(env, slices_.element()),
          own_(env, args, slices_.elements() * slices_.element()) {
        env.reserve_staging(messages_.staging_bytes() + depth * slices_.stride());
        env.add_staging();
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await acknowledged(env_, nodes_.members(), 0, k - depth + 1);
            co_await go_round(env_, nodes_.members(), i_, inside, k, [this, k](int slice, int j) {
                if (slice < lanes_) step(slice, k, j);
            });
            if (i_ < lanes_) {
                co_await between(k);
                env_.ready(whole, k + 1);
            }
            co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await acknowledged(env_, nodes_.members(), 0, slices_.rounds());
        co_await messages_.close();
    }

private:
    static constexpr std::uint64_t depth = 2;
    enum Level { inside, whole };

    int member(int index) const { return nodes_.members()[static_cast<std::size_t>((index + n_) % n_)]; }
    /// The rank that has this rank's slices in another node.
    int counterpart(int node) const {
        int const m = nodes_.count();
        return nodes_.members((node + m) % m)[static_cast<std::size_t>(i_)];
    }
    /// Where a slice is reduced in this node: with the member before the one that finishes it.
    std::byte* shared(int slice, std::uint64_t k) {
        return env_.staging(member(slice - 1)) + messages_.staging_bytes() + k % depth * slices_.stride();
    }

    void step(int slice, std::uint64_t k, int j) {
        std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
        std::byte* const sum = shared(slice, k);
        if (j == 0) return env_.stage(sum, operand(a_), at, bytes);
        reducer_.accumulate(own_.at(at, bytes), sum, slices_.of(slice, k).count);
    }

    /// Part `part` of m of this rank's slice, in bytes of the slice.
    Slice part(int part, std::uint64_t k) const {
        std::size_t const all = slices_.of(i_, k).count, m = static_cast<std::size_t>(nodes_.count()),
                          each = (all + m - 1) / m, element = slices_.element();
        std::size_t const first = std::min(all, each * (static_cast<std::size_t>(part) % m));
        return {first * element, (std::min(all, first + each) - first) * element};
    }

    /// Between nodes: the parts of this rank's slice go round, first to be reduced, then to be gathered.
    Task between(std::uint64_t k) {
        int const m = nodes_.count(), me = nodes_.mine();
        std::byte* const slice = shared(i_, k);
        for (int j = 0; j < 2 * (m - 1); ++j) {
            bool const reduces = j < m - 1;
            Slice const out = part(me + 2 * m - j, k), in = part(me + 2 * m - j - 1, k);
            std::byte* const to = slice + in.first;
            auto use = [this, reduces, to](std::byte const* from, std::size_t at, std::size_t bytes) {
                if (reduces) reducer_.accumulate(from, to + at, bytes / slices_.element());
                else env_.copy(to + at, from, bytes, 0);
            };
            MessagePart const going = packed_part(slice + out.first, out.count);
            co_await messages_.exchange(counterpart(me + 1), going, counterpart(me - 1), in.count, use);
        }
    }

    Task collect(std::uint64_t k) {
        for (int j = 0; j < lanes_; ++j) {
            int const slice = (i_ + j) % lanes_;
            if (member(slice) != env_.rank()) co_await env_.until_ready(member(slice), whole, k + 1);
            std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
            env_.store(result(a_), at, shared(slice, k), bytes);
        }
    }

    Env& env_;
    ReduceArgs const& a_;
    Division nodes_;
    int lanes_, n_, i_;   ///< slices of a round, members of this rank's node, its index there
    Slices slices_;
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

constexpr Parameter multi_node_parameters[] = {largest_slice_parameter, hierarchy_parameter};
extern constinit const Algorithm<ReduceArgs> multi_node_algorithm = {
    "multi_node",
    "sockets stand for nodes: slices reduced inside, rings of all ranks between, gathered inside",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.5, multi-node",
    requires_commuting_operator,
    multi_node_parameters,
    TUTTI_RUNS(multi_node)};

}   // namespace tutti::coll::algorithms::allreduce
