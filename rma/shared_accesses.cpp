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
        std::size_t const outgoing = out.size(), before = here.size();
        std::size_t incoming = 0;
        p2p::sendrecv_bytes(*window.comm, &outgoing, sizeof outgoing, to, &incoming, sizeof incoming, from, shared_tag,
                            call);
        here.resize(before + incoming);
        p2p::sendrecv_bytes(*window.comm, out.data(), outgoing * sizeof(Item), to, here.data() + before,
                            incoming * sizeof(Item), from, shared_tag, call);
    }
    return here;
}

}   // namespace

void exchange_shared(Window& window, char const* call) {
    SharedAccesses& mine = window.access_log->shared;
    char const some = !mine.empty();
    std::vector<char> all(static_cast<std::size_t>(window.size()));
    coll::allgather_bytes(*window.comm, &some, 1, all.data());
    if (std::ranges::find(all, 1) == all.end()) return;
    using SyncPoint = SharedAccesses::SyncPoint;
    auto const seen = exchange_lists<SyncPoint>(window, call, [&](int rank) { return mine.written(rank); });
    mine.drop_after({seen.begin(), seen.end()});
    auto accesses = exchange_lists<AccessRecord>(window, call, [&](int rank) { return mine.records_for(rank); });
    std::vector<AccessRecord> const own = mine.records_for(window.rank());
    accesses.insert(accesses.end(), own.begin(), own.end());
    window.access_log->report_shared_conflicts(accesses);
    mine.clear();
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

void SharedAccesses::record(int target, bool writes, bool under_shared_lock, AccessRecord const* access) {
    p2p::CallOrder const* const order = order_of(process_);
    if (!order) return;
    if (writes) written_.emplace(target, order->global_syncs());
    if (!access || !under_shared_lock || !order->no_news_since_sync() || order->windows != 1) return;
    std::vector<AccessRecord>& mine = by_target_[target];
    if (mine.size() == max_records) return;
    mine.push_back(*access);
    mine.back().sync_point = order->global_syncs();
}

std::vector<SharedAccesses::SyncPoint> SharedAccesses::written(int target) const {
    std::vector<SyncPoint> sync_points;
    for (auto at = written_.lower_bound({target, 0}); at != written_.end() && at->first == target; ++at)
        sync_points.push_back(at->second);
    return sync_points;
}

void SharedAccesses::drop_after(std::set<SyncPoint> const& sync_points) {
    for (auto& [target, accesses] : by_target_)
        std::erase_if(accesses, [&](AccessRecord const& one) { return sync_points.contains(one.sync_point); });
}

std::vector<AccessRecord> SharedAccesses::records_for(int target) const {
    auto const found = by_target_.find(target);
    return found == by_target_.end() ? std::vector<AccessRecord>() : found->second;
}

void SharedAccesses::clear() {
    written_.clear();
    by_target_.clear();
}

}   // namespace tutti::rma
