// SPDX-License-Identifier: BSD-3-Clause
// Movements between two groups by messages, so that they run between nodes, too: each rank with those of the other
// group alone.
#pragma once

#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll {

/// A part to each rank of the other group and one from each, all under way at once.
/// Parts to the ranks of `to`, from those of `from`, all of the other group.
template <class Env>
Task exchange_with(Env& env, TwoGroups groups, std::vector<int> to, std::vector<int> from, Parts out, Parts in) {
    Messages<Env> m(env);
    Truncation truncation;
    co_await m.exchange_all(
        std::span<int const>(to), std::span<int const>(from),
        [&out](int peer) -> MessagePart {
            Buffer const part = out[peer];
            return {part, 0, part.bytes()};
        },
        [&in](int peer) { return in[peer].bytes(); }, [&](int peer) { return m.into(in[peer], 0); });
    for (int peer : from) truncation.compare(peer, m.received(peer), in[peer].bytes());
    co_await m.close();
    truncation.check(env);
}

template <class Env>
Task exchange_with_other_group(Env& env, CommonArgs const& a, Parts out, Parts in) {
    TwoGroups const groups(env, a);
    std::vector<int> const peers = groups.others();
    return exchange_with(env, groups, peers, peers, out, in);
}

}   // namespace tutti::coll
