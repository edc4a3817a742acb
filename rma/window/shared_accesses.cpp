// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window/shared_accesses.hpp"

#include "p2p/engine.hpp"
#include "rma/window/accesses.hpp"

namespace tutti::rma {
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
