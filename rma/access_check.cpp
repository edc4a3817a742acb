// SPDX-License-Identifier: BSD-3-Clause
// Rules for conflicts, records of accesses, and warnings.
#include "rma/access_check.hpp"

#include <algorithm>
#include <cstdio>

#include "coll/call/internal.hpp"
#include "p2p/engine.hpp"
#include "p2p/p2p.hpp"
#include "rma/epochs.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti::rma {

bool AccessRecord::reads() const {
    bool const returns = function != "MPI_Accumulate" && function != "MPI_Raccumulate";
    return operation == Operation::get || (operation == Operation::accumulate && returns);
}

bool AccessRecord::writes() const {
    return operation == Operation::put || (operation == Operation::accumulate && (swaps() || op != BuiltinOp::no_op));
}

AccumulateOrdering AccumulateOrdering::parse(std::string_view hint) {
    auto const has = [hint](char const* kind) { return hint.find(kind) != std::string_view::npos; };
    return {has("rar"), has("raw"), has("war"), has("waw")};
}

bool AccumulateOrdering::orders(AccessRecord const& earlier, AccessRecord const& later) const {
    return (rar || !earlier.reads() || !later.reads()) && (war || !earlier.reads() || !later.writes()) &&
           (raw || !earlier.writes() || !later.reads()) && (waw || !earlier.writes() || !later.writes());
}

// Accumulates of one type do not conflict if they have the same operator, if one of them has MPI_NO_OP, or if one
// origin has called both and they are ordered (MPI 4.1, 12.7.1 and 12.7.2). MPI_Compare_and_swap is not checked against
// other accumulates.
bool conflict(AccessRecord const& a, AccessRecord const& b, AccumulateOrdering const& ordering) {
    if (a.first >= b.end || b.first >= a.end || (!a.writes() && !b.writes())) return false;
    if (a.operation != Operation::accumulate || b.operation != Operation::accumulate) return true;
    if (a.swaps() || b.swaps()) return false;
    bool const in_order = a.number < b.number ? ordering.orders(a, b) : ordering.orders(b, a);
    if (a.origin == b.origin && a.type == b.type && in_order) return false;
    bool const one_operator = a.op == b.op || a.op == BuiltinOp::no_op || b.op == BuiltinOp::no_op;
    return !one_operator || a.type != b.type;
}

AccessRecord* AccessLog::record(Remote const& target, std::int64_t origin, bool under_shared_lock, Operation operation,
                                Op const* op) {
    std::vector<AccessRecord>& mine = by_target_[target.rank];
    AccessRecord one{};
    one.first = static_cast<std::uint64_t>(origin + target.type.true_lb());
    one.end = one.first + static_cast<std::uint64_t>(target.count * target.type.size());
    one.operation = operation;
    one.op = op ? op->builtin : BuiltinOp::none;
    one.type = target.type.basic();
    one.origin = process_.rank();
    one.number = ++last_number_;
    one.site = program_site(process_.call_site);
    one.function = process_.call_function;
    bool const dense = target.type.dense(target.count);
    shared.record(target.rank, one.writes(), under_shared_lock, dense ? &one : nullptr);
    if (!dense || mine.size() == max_records) return mark_incomplete(target.rank), nullptr;
    return &mine.emplace_back(one);
}

void AccessLog::complete(int rank) {
    for (auto& [target, accesses] : by_target_) {
        if (rank >= 0 && target != rank) continue;
        report_conflicts(accesses);
        if (!accesses.empty()) mark_incomplete(target);
        accesses.clear();
    }
}

void AccessLog::complete_gets(int rank) {
    for (auto& [target, accesses] : by_target_) {
        if (rank >= 0 && target != rank) continue;
        report_conflicts(accesses);
        if (!accesses.empty()) mark_incomplete(target);
        std::erase_if(accesses, [](AccessRecord const& one) { return one.operation == Operation::get; });
    }
}

void AccessLog::report_conflicts(std::vector<AccessRecord>& all) {
    std::ranges::stable_sort(all, {}, &AccessRecord::first);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size() && all[j].first < all[i].end; ++j)
            if (conflict(all[i], all[j], ordering)) report(all[i], all[j], false);
}

void AccessLog::report_shared_conflicts(std::vector<AccessRecord>& all) {
    std::ranges::stable_sort(all, {}, &AccessRecord::first);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size() && all[j].first < all[i].end; ++j) {
            bool const unordered = all[i].origin != all[j].origin && all[i].sync_point == all[j].sync_point;
            if (unordered && conflict(all[i], all[j], ordering)) report(all[i], all[j], true);
        }
}

static std::string describe(AccessRecord const& one) {
    return join(one.function.name(), "(bytes ", one.first, " to ", one.end - 1, " of the target's part)");
}

void AccessLog::report_stores(std::vector<AccessRecord> const& changed, std::uint64_t opened, std::uint64_t closed) {
    for (AccessRecord const& one : changed) {
        if (!reported_.emplace(std::min(one.site, closed), std::max(one.site, closed)).second) continue;
        UsageError::Call const parts[] = {
            {one.origin, describe(one), {}, one.site},
            {process_.rank(), "MPI_Win_fence", "the epoch begins here", opened},
            {process_.rank(), "MPI_Win_fence", "the epoch ends here; the program has stored to these bytes", closed}};
        warn(process_,
             {"T14",
              join("rank ", process_.rank(),
                   " stores to window memory that another operation accesses in the same epoch"),
              "the result is undefined: separate the program's own stores and the operations of other ranks by a fence",
              parts});
    }
}

void AccessLog::report(AccessRecord const& a, AccessRecord const& b, bool under_shared_locks) {
    if (!reported_.emplace(std::min(a.site, b.site), std::max(a.site, b.site)).second) return;
    UsageError::Call const parts[] = {{a.origin, describe(a), {}, a.site}, {b.origin, describe(b), {}, b.site}};
    if (under_shared_locks)
        warn(process_,
             {"T14", "operations of two ranks under shared locks conflict on the same window memory",
              "the result is undefined because nothing orders them: use MPI_LOCK_EXCLUSIVE, or a flush and then a "
              "barrier or message in between, or MPI_Accumulate with one operator and one type",
              parts});
    else
        warn(process_,
             {"T14", "operations in one epoch conflict on the same window memory",
              "the result is undefined: separate them by a fence or a flush, or use MPI_Accumulate with one operator "
              "and one type",
              parts});
}

}   // namespace tutti::rma

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
