// SPDX-License-Identifier: BSD-3-Clause
#include "rma/shared_accesses.hpp"

#include <algorithm>

#include "coll/call/internal.hpp"
#include "p2p/engine.hpp"
#include "p2p/p2p.hpp"
#include "rma/access_check.hpp"
#include "rma/epoch_check.hpp"

// --check: exchange among the members of their accesses under shared locks.

namespace tutti::rma {
namespace {

constexpr int shared_tag = 1402;   // tag of messages in the window's communicator

/// Sends `list_for(rank)` to each other member; returns the concatenation of what all others have sent.
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

namespace {

p2p::CallOrder* order_of(Process& process) {
    p2p::Checks* const checks = process.p2p ? p2p::engine(process).checks() : nullptr;
    return checks ? &checks->call_order : nullptr;
}

}   // namespace

SharedAccesses::SharedAccesses(Process& process) : process_(process) {
    if (p2p::CallOrder* const order = order_of(process_)) ++order->windows;
}

SharedAccesses::~SharedAccesses() {
    if (p2p::CallOrder* const order = order_of(process_)) --order->windows;
}

void SharedAccesses::note(int target, bool writes, bool under_shared_lock, Accessed const* access) {
    p2p::CallOrder const* const order = order_of(process_);
    if (!order) return;
    if (writes) written_.emplace(target, order->meetings());
    if (!access || !under_shared_lock || !order->alone() || order->windows != 1) return;
    std::vector<Accessed>& mine = by_target_[target];
    if (mine.size() == most) return;
    mine.push_back(*access);
    mine.back().meeting = order->meetings();
}

std::vector<SharedAccesses::Meeting> SharedAccesses::written(int target) const {
    std::vector<Meeting> meetings;
    for (auto at = written_.lower_bound({target, 0}); at != written_.end() && at->first == target; ++at)
        meetings.push_back(at->second);
    return meetings;
}

void SharedAccesses::drop(std::set<Meeting> const& meetings) {
    for (auto& [target, accesses] : by_target_)
        std::erase_if(accesses, [&](Accessed const& one) { return meetings.contains(one.meeting); });
}

std::vector<Accessed> SharedAccesses::of(int target) const {
    auto const found = by_target_.find(target);
    return found == by_target_.end() ? std::vector<Accessed>() : found->second;
}

void SharedAccesses::forget() {
    written_.clear();
    by_target_.clear();
}

}   // namespace tutti::rma
