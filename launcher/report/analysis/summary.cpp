// SPDX-License-Identifier: BSD-3-Clause
// Adding up.
#include "launcher/report/analysis/summary.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::launcher {
namespace {

template <class Map>
auto sorted_values(Map const& map, auto const& by) {
    std::vector<typename Map::mapped_type> values;
    for (auto const& [key, value] : map) values.push_back(value);
    std::ranges::stable_sort(values, std::ranges::greater(), by);
    return values;
}

/// What of a call's times counts in sums, so that no nanosecond of a thread counts twice.
struct Share {
    std::int64_t length = 0, waited = 0;
};

/// A call that lies in another one of its thread (in a callback) has no length of its own. Each of the two has its own
/// wait, together at most as long as the outer call; one that never ended has waited for all of its length.
class Shares {
public:
    /// Must be asked for all calls of a rank in their order.
    Share of(RecordedCall const& call) {
        Outer& outer = outer_of_thread_[call.thread];
        bool const inner = call.end() <= outer.end;
        if (!inner) outer = {call.end(), call.length};
        Share const share{inner ? 0 : call.length, std::min(call.waited, outer.not_waited)};
        outer.not_waited -= share.waited;
        return share;
    }

private:
    struct Outer {
        std::int64_t end = 0, not_waited = 0;
    };
    std::map<int, Outer> outer_of_thread_;
};

void add(CallSum& sum, RecordedCall const& call, Share const& share) {
    sum.calls += static_cast<std::uint64_t>(call.count);
    sum.time += share.length;
    sum.waited += share.waited;
    sum.longest = std::max(sum.longest, call.length);
}

/// Sums of waits by cause and place. Each nanosecond of a wait is in exactly one of them: in that of the call's cause,
/// as far as it explains the wait, and otherwise in that of WaitCause::other.
class WaitSums {
public:
    void add(int rank, RecordedCall const& call, std::int64_t waited) {
        bool const explained = call.cause != WaitCause::none && call.cause != WaitCause::other;
        std::int64_t const caused = explained ? std::min(call.caused, waited) : 0;
        if (caused > 0) {
            WaitSum& sum = sum_of(call.cause, rank, call, call.culprit_place, caused);
            if (call.culprit >= 0) sum.culprits[call.culprit] += caused;
        }
        if (caused < waited) sum_of(WaitCause::other, rank, call, 0, waited - caused);
    }
    void move_to(Summary& summary) {
        summary.waits = sorted_values(waits_, &WaitSum::time);
        for (WaitSum const& sum : summary.waits) summary.by_cause[sum.cause] += sum.time;
    }

private:
    WaitSum& sum_of(WaitCause cause, int rank, RecordedCall const& call, int culprit_place, std::int64_t time) {
        WaitSum& sum = waits_[{cause, call.name, call.place, culprit_place}];
        sum.cause = cause;
        sum.name = call.name;
        sum.place = call.place;
        sum.culprit_place = culprit_place;
        ++sum.calls;
        sum.time += time;
        if (sum.waiting.empty() || sum.waiting.back() != rank) sum.waiting.push_back(rank);
        return sum;
    }

    std::map<std::tuple<WaitCause, int, int, int>, WaitSum> waits_;
};

void add_pairs(Timeline const& timeline, Summary& summary) {
    std::map<std::pair<int, int>, PairSum> pairs;
    for (RecordedMessage const& m : timeline.messages) {
        ++summary.messages;
        if (m.sent < 0 || m.received < 0) ++summary.unmatched;
        if (m.from < 0 || m.to < 0) continue;
        PairSum& pair = pairs[{m.from, m.to}];
        pair.from = m.from;
        pair.to = m.to;
        ++pair.messages;
        pair.bytes += m.bytes;
    }
    summary.pairs = sorted_values(pairs, &PairSum::bytes);
}

void add_collectives(Timeline const& timeline, Summary& summary) {
    std::map<std::pair<int, int>, CollectiveSum> sums;
    for (RecordedCollective const& c : timeline.collectives) {
        CollectiveSum& sum = sums[{c.algorithm, c.comm}];
        sum.algorithm = c.algorithm;
        sum.comm = c.comm;
        ++sum.calls;
        sum.bytes += c.bytes;
        if (c.entries.size() > 1) ++sum.last[c.entries.back().rank];
        for (CollectiveEntry const& e : c.entries)
            if (RecordedCall const* const call = timeline.call(e.rank, e.call)) {
                sum.time += call->length;
                sum.waited += std::min(call->waited, std::max<std::int64_t>(0, c.entries.back().entry - e.entry));
            }
    }
    summary.collectives = sorted_values(sums, &CollectiveSum::time);
}

}   // namespace

Summary summary_of(Timeline const& timeline) {
    Summary summary;
    std::map<int, CallSum> by_call;
    std::map<std::pair<int, int>, CallSum> by_line;
    WaitSums waits;
    for (RankTimeline const& line : timeline.ranks) {
        RankSum sum{.rank = line.rank, .total = line.ended - std::max(line.started, line.complete_from)};
        Shares shares;
        for (RecordedCall const& call : line.calls) {
            Share const share = shares.of(call);
            CallSum& of_call = by_call[call.name];
            of_call.name = call.name;
            add(of_call, call, share);
            CallSum& of_line = by_line[{call.place, call.name}];
            of_line.name = call.name;
            of_line.place = call.place;
            add(of_line, call, share);
            sum.calls += static_cast<std::uint64_t>(call.count);
            sum.in_mpi += share.length;
            sum.waited += share.waited;
            waits.add(line.rank, call, share.waited);
        }
        summary.calls += sum.calls;
        summary.ranks.push_back(sum);
    }
    summary.by_call = sorted_values(by_call, &CallSum::time);
    summary.by_line = sorted_values(by_line, &CallSum::time);
    waits.move_to(summary);
    add_pairs(timeline, summary);
    add_collectives(timeline, summary);
    return summary;
}

}   // namespace tutti::launcher
