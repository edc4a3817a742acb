// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/all_call_records.hpp"

#include <algorithm>
#include <atomic>

#include "coll/match/call_records.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

constexpr std::uint64_t calls_per_visit = 16;

}   // namespace

CallMatcher::CallMatcher(Process& process)
    : enabled(process.variables.diagnosis != "no"), compares_each_call(process.variables.diagnosis == "full"),
      nodes(process.cluster.is_single_node() ? nullptr : std::make_unique<NodeExchange>(process)),
      amounts(compares_each_call ? std::make_unique<AmountExchange>(process, *this) : nullptr), process_(process),
      allowance_(process.segment.header().ranks_per_core()) {}

std::vector<CallMatcher::Entry>::iterator CallMatcher::lower_bound(std::uint64_t context) {
    return std::ranges::lower_bound(entries_, context, {}, &Entry::context);
}

CallRecords* CallMatcher::find(std::uint64_t context) {
    auto const at = lower_bound(context);
    return at != entries_.end() && at->context == context ? at->records : nullptr;
}

void CallMatcher::add(CallRecords& records) {
    entries_.insert(lower_bound(records.context()), {records.context(), &records});
}

void CallMatcher::remove(CallRecords const& records) {
    auto const at = std::ranges::find(lower_bound(records.context()), entries_.end(), &records, &Entry::records);
    if (at != entries_.end()) entries_.erase(at);
}

void CallMatcher::finish_between_nodes() {
    if (!nodes) return;
    for (Entry const& one : entries_) {
        one.records->compare_starts();
        one.records->exchange_between_nodes(true);
    }
    nodes->finish();
}

/// Exchanges the last calls on the communicator waited on, or of all communicators if the launcher requests it.
void CallMatcher::exchange_in_wait(bool requested) {
    if (requested)
        for (Entry const& one : entries_) one.records->exchange_between_nodes();
    else if (CallRecords* const here = find(last_collective_of(process_.rank()))) here->exchange_between_nodes();
    nodes->receive();
}

/// Runs `action` and charges its processor time to the allowance.
template <class Action>
void CallMatcher::run_measured(Action&& action) {
    std::int64_t const begin = thread_time_ns();
    std::uint64_t const visits = work.visits;
    action();
    std::int64_t const elapsed = thread_time_ns() - begin;
    allowance_.spend(elapsed);
    process_.rank_state().times.comparing.add(static_cast<std::uint64_t>(elapsed));
    process_.rank_state().times.compared.add(work.visits - visits);
}

void CallMatcher::on_long_wait(std::int64_t) {
    bool const requested = is_requested();
    if (nodes) exchange_in_wait(requested);
    if (amounts) amounts->receive();
    std::uint64_t const wait = process_.rank_state().blocked.changes.load(std::memory_order_relaxed);
    if (requested || wait != wait_) {
        wait_ = wait;
        begin_round();
    }
    if (requested) run_measured([this] { compare_blocked_communicator(); });
    std::int64_t const reserve = requested ? 0 : allowance_.max_ns() / 2;   // reserved for requests of the launcher
    while (!round_done_ && allowance_.grants(now_ns(), reserve)) run_measured([this] { step(); });
}

void CallMatcher::compare_at_end() {
    if (amounts) amounts->receive();
    for (Entry const& one : entries_) {
        one.records->compare_starts();
        one.records->compare();
    }
    begin_round();
    // All ranks on a core do this at the same time: each uses its share of the saved allowance.
    unsigned const ranks_per_core = process_.segment.header().ranks_per_core();
    std::uint64_t const visit_limit = work.visits + visits_at_end / ranks_per_core;
    std::int64_t const reserve = allowance_.max_ns() - Allowance::max_saved_ns / ranks_per_core;
    while (!round_done_ && (work.visits < visit_limit || allowance_.grants(now_ns(), reserve)))
        run_measured([this] { step(); });
}

/// True if there is a new request of the launcher and this rank is among the suspects.
bool CallMatcher::is_requested() {
    std::uint64_t const query = process_.segment.header().queries.load(std::memory_order_acquire);
    if (query == last_query_) return false;
    last_query_ = query;
    return process_.segment.suspected(process_.rank());
}

std::uint64_t CallMatcher::last_collective_of(int world_rank) const {
    auto const local_rank = static_cast<unsigned>(process_.cluster.local_rank_of(world_rank));
    std::uint64_t& last = process_.segment.rank_state(local_rank).last_call.collective;
    return std::atomic_ref(last).load(std::memory_order_relaxed);
}

void CallMatcher::begin_round() {
    round_done_ = false;
    wrapped_ = false;
    round_begin_ = position_.context;
    blocked_ = {last_collective_of(process_.rank()), 0};
}

/// Compares with every member of the communicator waited on. A member that has not made this rank's call probably waits
/// in another one: the calls are in opposite orders if this rank belongs to that communicator and has not made that
/// call.
void CallMatcher::compare_blocked_communicator() {
    CallRecords* const here = find(blocked_.context);
    if (!here) return;
    for (int m = 0; m < here->members(); ++m) {
        if (m == here->rank()) continue;
        visit(*here, m);
        int const world = here->world_rank(m);
        std::uint64_t const last = last_collective_of(world);
        CallRecords* const there = last != 0 && last != blocked_.context ? find(last) : nullptr;
        if (int const other = there ? there->member_of(world) : -1; other >= 0) visit(*there, other);
    }
    blocked_ = {};
}

void CallMatcher::step() {
    ++work.steps;
    int budget = visits_per_step;
    if (blocked_.context != 0 && visit_members(blocked_, budget)) blocked_ = {};
    while (budget > 0 && !round_done_) continue_round(budget);
}

void CallMatcher::continue_round(int& budget) {
    auto const at = lower_bound(position_.context);
    if (at == entries_.end()) {
        round_done_ = wrapped_;
        wrapped_ = true;
        position_ = {};
        return;
    }
    if (wrapped_ && at->context > round_begin_) {
        round_done_ = true;
        return;
    }
    if (at->context != position_.context) position_ = {at->context, 0};
    if (visit_members(position_, budget)) position_ = {position_.context + 1, 0};
}

/// Continues at `position`. Returns true if all members have been visited or there is nothing to compare.
bool CallMatcher::visit_members(Position& position, int& budget) {
    CallRecords* const records = find(position.context);
    --budget;   // even if no call has been made
    if (!records || !records->has_calls()) return true;
    for (; position.member < records->members(); ++position.member) {
        if (budget <= 0) return false;
        if (position.member == records->rank()) continue;
        std::uint64_t const before = work.calls_compared;
        visit(*records, position.member);
        budget -= 1 + static_cast<int>((work.calls_compared - before) / calls_per_visit);
    }
    records->compact();
    return true;
}

void CallMatcher::visit(CallRecords& records, int member) {
    ++work.visits;
    records.compare_with(member);
    if (!process_.thread_multiple) compare_order(records, member);   // calls of several threads have no order
}

// Two checks at different times suffice: the first call that this rank has not made stays the same until it makes it,
// and whether the member still misses the other call is read last.
void CallMatcher::compare_order(CallRecords& records, int member) {
    bool const ahead = records.first_call_missing_here(member).number != 0,
               behind = records.first_call_missing_at(member).number != 0;
    if (!ahead && !behind) return;
    int const world = records.world_rank(member);
    if (order_.empty()) order_.resize(process_.segment.ranks());
    Order& order = order_[static_cast<std::size_t>(process_.cluster.local_rank_of(world))];
    (ahead ? order.ahead : order.behind) = records.context();
    CallRecords const *const here = find(order.behind), *const there = find(order.ahead);
    if (!here || !there) return;
    int const at_here = here->member_of(world), at_there = there->member_of(world);
    if (at_here < 0 || at_there < 0) return;
    RecordedCall const peer_call = there->first_call_missing_here(at_there);
    if (peer_call.number == 0) return;
    RecordedCall const missed = here->first_call_missing_at(at_here);
    if (missed.number != 0) here->report_order(missed, at_here, *there, peer_call);
}

}   // namespace tutti::coll
