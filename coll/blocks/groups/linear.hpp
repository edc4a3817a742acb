// SPDX-License-Identifier: BSD-3-Clause
// Movements between two groups by messages, so that they run between nodes, too: each rank with those of the other
// group alone.
#pragma once

#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/groups/two_groups.hpp"

namespace tutti::coll {

/// A part to each rank of the other group and one from each, all under way at once.
template <class Env>
Task exchange_with_other_group(Env& env, CommonArgs const& a, Parts out, Parts in) {
    TwoGroups const groups(env, a);
    Messages<Env> m(env);
    Truncation truncation(groups.other.first);
    std::vector<int> peers;
    for (int i = 0; i < groups.other.size(); ++i) peers.push_back(groups.nth_other(i));
    co_await m.exchange_all(
        std::span<int const>(peers), [&out](int to) -> MessagePart {
            Buffer const part = out[to];
            return {part, 0, part.bytes()};
        },
        [&in](int from) { return in[from].bytes(); }, [&](int from) { return m.into(in[from], 0); });
    for (int peer : peers) truncation.compare(peer, m.received(peer), in[peer].bytes());
    co_await m.close();
    truncation.check();
}

}  // namespace tutti::coll
