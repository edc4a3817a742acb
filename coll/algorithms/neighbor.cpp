// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives: direct (in shared memory, coll/blocks/neighbor_exchange.hpp) and linear (by messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/neighbor_exchange.hpp"
#include "runtime/wait/task.hpp"

// neighbor_allgather/direct, also for the v form. Every rank publishes where its block is, then receives its
// neighbours' blocks: small ones from their slots, large contiguous ones from their owner's memory. As many steps as
// neighbours. Bytes: 2n per small block, n per large one.
// The order follows KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.

namespace tutti::coll::algorithms::neighbor_allgather {

template <class Env>
Task direct(Env& env, NeighborAllgatherArgs const& a) {
    Parts const out = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    return neighbor_exchange(env, {*a.edges, out, a.receive, true, a.equal_parts}, Limits::of(a));
}

constexpr RecordHead direct_head = {
    "direct",         "small blocks are copied through slots, large ones are read from the neighbours' memory",
    Family::tutti,    "after KNEM-Coll, section V.C",
    requires_nothing, movement_parameters,
};
extern constinit const Algorithm<NeighborAllgatherArgs> direct_algorithm = {
    direct_head,
    TUTTI_SHM_ONLY(direct),
    {"2*(edges + loops)*s + (slot < s ? copyable*s < direct ? 2 : 0 : 2)*senders*s"}};

}   // namespace tutti::coll::algorithms::neighbor_allgather

// Neighbourhood collectives by messages: one along each edge, all in flight at the same time; as many rounds as the
// largest number of edges between two ranks. This is what MPICH and Open MPI do.

namespace tutti::coll {

/// The ranks with which messages are exchanged in a round and, indexed by rank, the edge that each message uses.
struct NeighborRound {
    NeighborRound(FramePool& frames, Neighborhood const& edges, int size, std::size_t round)
        : to(frames), from(frames), out(static_cast<std::size_t>(size), frames),
          in(static_cast<std::size_t>(size), frames) {
        for (Neighborhood::Peer const& peer : edges.peers()) {
            auto const rank = static_cast<std::size_t>(peer.rank);
            if (round < peer.out.size()) to.push_back(peer.rank), out[rank] = peer.out[round];
            if (round < peer.in.size()) from.push_back(peer.rank), in[rank] = peer.in[round].own_index;
        }
    }
    PooledVector<int> to, from, out, in;
};

template <class Env>
Task neighbor_linear(Env& env, Blocks b) {
    Messages<Env> m(env);
    Truncation truncation;
    copy_own(env, b, truncation);
    std::size_t rounds = 0;
    for (Neighborhood::Peer const& peer : b.edges.peers()) rounds = std::max({rounds, peer.in.size(), peer.out.size()});
    for (std::size_t i = 0; i < rounds; ++i) {
        NeighborRound const round(env.frames(), b.edges, env.size(), i);
        auto const destination = [&](int from) { return b.in[round.in[static_cast<std::size_t>(from)]]; };
        co_await m.exchange_all(
            std::span<int const>(round.to), std::span<int const>(round.from),
            [&](int to) -> MessagePart {
                Buffer const block = b.block(round.out[static_cast<std::size_t>(to)]);
                return {block, 0, block.bytes()};
            },
            [&](int from) { return destination(from).bytes(); },
            [&](int from) { return m.into(destination(from), 0, working_set(env, b, destination(from).bytes())); });
        for (int from : round.from) truncation.compare(from, m.received(from), destination(from).bytes());
    }
    co_await m.close();
    truncation.check(env);
}

}   // namespace tutti::coll

// neighbor_allgather/linear, also for the v form: a message along each edge, all in flight at the same time. One step
// of as many messages as there are edges. Bytes: n per block by single copy, otherwise 2n.
// MPI 3.1, section 7.6, which defines the calls by these messages.

namespace tutti::coll::algorithms::neighbor_allgather {

template <class Env>
Task linear(Env& env, NeighborAllgatherArgs const& a) {
    Parts const out = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    return neighbor_linear(env, {*a.edges, out, a.receive, true, a.equal_parts});
}

constexpr RecordHead linear_head = {
    "linear",         "one message along each edge, all in flight concurrently",
    Family::baseline, "MPI 3.1, section 7.6",
    requires_nothing, {},
};
extern constinit const Algorithm<NeighborAllgatherArgs> linear_algorithm = {
    linear_head, TUTTI_SHM_AND_NET(linear), {"2*(edges + loops)*s + edges*staged(s)"}};

}   // namespace tutti::coll::algorithms::neighbor_allgather

// neighbor_alltoall/direct, also for the v and w forms: like neighbor_allgather/direct, with a block for each edge; the
// same steps, bytes and citation.

namespace tutti::coll::algorithms::neighbor_alltoall {

template <class Env>
Task direct(Env& env, NeighborAlltoallArgs const& a) {
    return neighbor_exchange(env, {*a.edges, a.send, a.receive, false, a.equal_parts}, Limits::of(a));
}

extern constinit const Algorithm<NeighborAlltoallArgs> direct_algorithm = {
    neighbor_allgather::direct_head,
    TUTTI_SHM_ONLY(direct),
    {"2*(edges + loops)*s + 2*s*"
     "(slot < out*s ? copyable*s < direct ? edges : min(edges, senders*floor(max(0, slot - 24*out)/s)) : edges)"}};

// neighbor_alltoall/linear, also for the v and w forms: like neighbor_allgather/linear; the same steps, bytes and
// citation.

template <class Env>
Task linear(Env& env, NeighborAlltoallArgs const& a) {
    return neighbor_linear(env, {*a.edges, a.send, a.receive, false, a.equal_parts});
}

extern constinit const Algorithm<NeighborAlltoallArgs> linear_algorithm = {
    neighbor_allgather::linear_head, TUTTI_SHM_AND_NET(linear), {"2*(edges + loops)*s + edges*staged(s)"}};

}   // namespace tutti::coll::algorithms::neighbor_alltoall
