// SPDX-License-Identifier: BSD-3-Clause
// --check: what the members say to each other of their accesses under shared locks.
#include <algorithm>

#include "coll/call/bytes.hpp"
#include "p2p/p2p.hpp"
#include "rma/synchronization/matching.hpp"

namespace tutti::rma {
namespace {

constexpr int shared_tag = 1402;   // of messages in the window's own communicator

/// Gives `list_for(rank)` to each other member, and returns what all others have for this one.
template <class Item, class ListFor>
std::vector<Item> exchange_lists(Window& window, char const* call, ListFor const& list_for) {
    std::vector<Item> here;
    for (int step = 1; step < window.size(); ++step) {
        int const to = (window.rank() + step) % window.size(),
                  from = (window.rank() - step + window.size()) % window.size();
        std::vector<Item> const out = list_for(to);
        std::size_t const mine = out.size(), before = here.size();
        std::size_t theirs = 0;
        p2p::sendrecv_bytes(*window.comm, &mine, sizeof mine, to, &theirs, sizeof theirs, from, shared_tag, call);
        here.resize(before + theirs);
        p2p::sendrecv_bytes(*window.comm, out.data(), mine * sizeof(Item), to, here.data() + before,
                            theirs * sizeof(Item), from, shared_tag, call);
    }
    return here;
}

}   // namespace

void exchange_shared(Window& window, char const* call) {
    SharedAccesses& mine = window.accesses->shared;
    char const some = !mine.empty();
    std::vector<char> all(static_cast<std::size_t>(window.size()));
    coll::allgather_bytes(*window.comm, &some, 1, all.data());
    if (std::ranges::find(all, 1) == all.end()) return;
    using Meeting = SharedAccesses::Meeting;
    auto const seen = exchange_lists<Meeting>(window, call, [&](int rank) { return mine.written(rank); });
    mine.drop({seen.begin(), seen.end()});
    auto accesses = exchange_lists<Accessed>(window, call, [&](int rank) { return mine.of(rank); });
    std::vector<Accessed> const own = mine.of(window.rank());
    accesses.insert(accesses.end(), own.begin(), own.end());
    window.accesses->compare_shared(accesses);
    mine.forget();
}

}   // namespace tutti::rma
