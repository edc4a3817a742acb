// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives by messages: one along each edge, all at once; as many rounds as the most edges between
// two ranks. What MPICH and Open MPI do, and what MPI 3.1, 7.6, says that the calls mean.
#pragma once

#include "coll/blocks/exchange/neighbor_exchange.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// The ranks with which a message is exchanged in a round, and for each rank of all along which edge.
struct NeighborRound {
    NeighborRound(FramePool& frames, Neighborhood const& edges, int size, std::size_t round)
        : to(frames), from(frames), out(static_cast<std::size_t>(size), frames),
          in(static_cast<std::size_t>(size), frames) {
        for (Neighborhood::Peer const& peer : edges.peers()) {
            auto const rank = static_cast<std::size_t>(peer.rank);
            if (round < peer.out.size()) to.push_back(peer.rank), out[rank] = peer.out[round];
            if (round < peer.in.size()) from.push_back(peer.rank), in[rank] = peer.in[round].mine;
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
        auto const place = [&](int from) { return b.in[round.in[static_cast<std::size_t>(from)]]; };
        co_await m.exchange_all(
            std::span<int const>(round.to), std::span<int const>(round.from),
            [&](int to) -> MessagePart {
                Buffer const block = b.block(round.out[static_cast<std::size_t>(to)]);
                return {block, 0, block.bytes()};
            },
            [&](int from) { return place(from).bytes(); },
            [&](int from) { return m.into(place(from), 0, working_set(env, b, place(from).bytes())); });
        for (int from : round.from) truncation.compare(from, m.received(from), place(from).bytes());
    }
    co_await m.close();
    truncation.check(env);
}

}   // namespace tutti::coll
