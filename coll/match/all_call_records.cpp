// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/all_call_records.hpp"

#include <algorithm>
#include <atomic>

#include "coll/match/call_records.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

constexpr std::uint64_t calls_like_a_visit = 16;

}   // namespace

AllCallRecords::AllCallRecords(Process& process)
    : on(process.variables.diagnosis != "no"), at_every_call(process.variables.diagnosis == "full"),
      nodes(process.cluster.alone() ? nullptr : std::make_unique<NodeExchange>(process)),
      amounts(at_every_call ? std::make_unique<AmountExchange>(process, *this) : nullptr), process_(process),
      allowance_(process.segment.header().ranks_per_core()) {}

std::vector<AllCallRecords::Entry>::iterator AllCallRecords::from(std::uint64_t context) {
    return std::ranges::lower_bound(all_, context, {}, &Entry::context);
}

CallRecords* AllCallRecords::find(std::uint64_t context) {
    auto const at = from(context);
    return at != all_.end() && at->context == context ? at->records : nullptr;
}

void AllCallRecords::add(CallRecords& records) { all_.insert(from(records.context()), {records.context(), &records}); }

void AllCallRecords::remove(CallRecords const& records) {
    auto const at = std::ranges::find(from(records.context()), all_.end(), &records, &Entry::records);
    if (at != all_.end()) all_.erase(at);
}

void AllCallRecords::finish_between_nodes() {
    if (!nodes) return;
    for (Entry const& one : all_) {
        one.records->compare_starts();
        one.records->exchange_between_nodes(true);
    }
    nodes->finish();
}

/// Exchanges the last calls on the communicator waited on, or of all communicators if the launcher asks.
void AllCallRecords::exchange_in_wait(bool asked) {
    if (asked)
        for (Entry const& one : all_) one.records->exchange_between_nodes();
    else if (CallRecords* const here = find(last_collective_of(process_.rank()))) here->exchange_between_nodes();
    nodes->take();
}

/// Runs `act` and charges its processor time to the allowance.
template <class Act>
void AllCallRecords::measured(Act&& act) {
    std::int64_t const begin = thread_time_ns();
    std::uint64_t const visits = work.visits;
    act();
    std::int64_t const took = thread_time_ns() - begin;
    allowance_.spend(took);
    process_.rank_state().times.comparing.add(static_cast<std::uint64_t>(took));
    process_.rank_state().times.compared.add(work.visits - visits);
}

void AllCallRecords::compare_in_wait() {
    bool const asked = is_asked();
    if (nodes) exchange_in_wait(asked);
    if (amounts) amounts->take();
    std::uint64_t const wait = process_.rank_state().blocked.changes.load(std::memory_order_relaxed);
    if (asked || wait != wait_) {
        wait_ = wait;
        begin_round();
    }
    if (asked) measured([this] { compare_where_it_waits(); });
    std::int64_t const reserve = asked ? 0 : allowance_.most() / 2;   // reserved for requests of the launcher
    while (!round_over_ && allowance_.grants(now_ns(), reserve)) measured([this] { step(); });
}

void AllCallRecords::compare_at_end() {
    if (amounts) amounts->take();
    for (Entry const& one : all_) {
        one.records->compare_starts();
        one.records->compare();
    }
    begin_round();
    // All ranks on a core do this at the same time: each uses its share of the saved allowance.
    unsigned const sharing = process_.segment.header().ranks_per_core();
    std::uint64_t const free = work.visits + visits_at_end / sharing;
    std::int64_t const reserve = allowance_.most() - Allowance::most_saved_ns / sharing;
    while (!round_over_ && (work.visits < free || allowance_.grants(now_ns(), reserve))) measured([this] { step(); });
}

/// True if there is a new request of the launcher and this rank is among the suspects.
bool AllCallRecords::is_asked() {
    std::uint64_t const question = process_.segment.header().questions.load(std::memory_order_acquire);
    if (question == question_) return false;
    question_ = question;
    return process_.segment.suspected(process_.rank());
}

std::uint64_t AllCallRecords::last_collective_of(int world_rank) const {
    auto const place = static_cast<unsigned>(process_.cluster.place_of(world_rank));
    std::uint64_t& last = process_.segment.rank_state(place).last_call.collective;
    return std::atomic_ref(last).load(std::memory_order_relaxed);
}

void AllCallRecords::begin_round() {
    round_over_ = false;
    wrapped_ = false;
    round_begin_ = next_.context;
    first_ = {last_collective_of(process_.rank()), 0};
}

/// Compares with every member of the communicator waited on. A member that has not made this rank's call probably waits
/// in another one: the calls are in opposite orders if this rank belongs to that communicator and has not made that
/// call.
void AllCallRecords::compare_where_it_waits() {
    CallRecords* const here = find(first_.context);
    if (!here) return;
    for (int m = 0; m < here->members(); ++m) {
        if (m == here->rank()) continue;
        visit(*here, m);
        int const world = here->world_rank(m);
        std::uint64_t const last = last_collective_of(world);
        CallRecords* const there = last != 0 && last != first_.context ? find(last) : nullptr;
        if (int const other = there ? there->member_of(world) : -1; other >= 0) visit(*there, other);
    }
    first_ = {};
}

void AllCallRecords::step() {
    ++work.steps;
    int left = visits_per_step;
    if (first_.context != 0 && visit_members(first_, left)) first_ = {};
    while (left > 0 && !round_over_) go_on(left);
}

void AllCallRecords::go_on(int& left) {
    auto const at = from(next_.context);
    if (at == all_.end()) {
        round_over_ = wrapped_;
        wrapped_ = true;
        next_ = {};
        return;
    }
    if (wrapped_ && at->context > round_begin_) {
        round_over_ = true;
        return;
    }
    if (at->context != next_.context) next_ = {at->context, 0};
    if (visit_members(next_, left)) next_ = {next_.context + 1, 0};
}

/// Continues at `place`. Returns true if all members have been visited or there is nothing to compare.
bool AllCallRecords::visit_members(Place& place, int& left) {
    CallRecords* const records = find(place.context);
    --left;   // even if no call has been made
    if (!records || !records->used()) return true;
    for (; place.member < records->members(); ++place.member) {
        if (left <= 0) return false;
        if (place.member == records->rank()) continue;
        std::uint64_t const before = work.calls_compared;
        visit(*records, place.member);
        left -= 1 + static_cast<int>((work.calls_compared - before) / calls_like_a_visit);
    }
    records->settle();
    return true;
}

void AllCallRecords::visit(CallRecords& records, int member) {
    ++work.visits;
    records.compare_with(member);
    if (!process_.many_threads) compare_order(records, member);   // calls of several threads have no order
}

// Two checks at different times suffice: the first call that this rank has not made stays the same until it makes it,
// and whether the member still misses the other call is read last.
void AllCallRecords::compare_order(CallRecords& records, int member) {
    bool const ahead = records.call_beyond(member).number != 0, behind = records.missed_by(member).number != 0;
    if (!ahead && !behind) return;
    int const world = records.world_rank(member);
    if (order_.empty()) order_.resize(process_.segment.ranks());
    Order& order = order_[static_cast<std::size_t>(process_.cluster.place_of(world))];
    (ahead ? order.ahead : order.behind) = records.context();
    CallRecords const *const here = find(order.behind), *const there = find(order.ahead);
    if (!here || !there) return;
    int const at_here = here->member_of(world), at_there = there->member_of(world);
    if (at_here < 0 || at_there < 0) return;
    RecordedCall const theirs = there->call_beyond(at_there);
    if (theirs.number == 0) return;
    RecordedCall const missed = here->missed_by(at_here);
    if (missed.number != 0) here->report_order(missed, at_here, *there, theirs);
}

}   // namespace tutti::coll
