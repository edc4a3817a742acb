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

void add(CallSum& sum, RecordedCall const& call) {
    sum.calls += static_cast<std::uint64_t>(call.count);
    sum.time += call.length;
    sum.waited += call.waited;
    sum.longest = std::max(sum.longest, call.length);
}

/// Calls that lie in another one (in a callback) are not counted twice.
RankSum sum_of(RankTimeline const& line) {
    RankSum sum{.rank = line.rank, .total = line.ended - std::max(line.started, line.complete_from)};
    std::map<int, std::int64_t> end_of_thread;
    for (RecordedCall const& call : line.calls) {
        sum.calls += static_cast<std::uint64_t>(call.count);
        std::int64_t& end = end_of_thread[call.thread];
        if (call.end() <= end) continue;
        end = call.end();
        sum.in_mpi += call.length;
        sum.waited += call.waited;
    }
    return sum;
}

void add_wait(std::map<std::tuple<WaitCause, int, int, int>, WaitSum>& waits, int rank, RecordedCall const& call) {
    WaitSum& sum = waits[{call.cause, call.name, call.place, call.culprit_place}];
    sum.cause = call.cause;
    sum.name = call.name;
    sum.place = call.place;
    sum.culprit_place = call.culprit_place;
    ++sum.calls;
    sum.time += call.caused;
    if (sum.waiting.empty() || sum.waiting.back() != rank) sum.waiting.push_back(rank);
    if (call.culprit >= 0) sum.culprits[call.culprit] += call.caused;
}

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
    std::map<std::tuple<WaitCause, int, int, int>, WaitSum> waits;
    for (RankTimeline const& line : timeline.ranks) {
        summary.ranks.push_back(sum_of(line));
        summary.calls += summary.ranks.back().calls;
        for (RecordedCall const& call : line.calls) {
            CallSum& of_call = by_call[call.name];
            of_call.name = call.name;
            add(of_call, call);
            CallSum& of_line = by_line[{call.place, call.name}];
            of_line.name = call.name;
            of_line.place = call.place;
            add(of_line, call);
            if (call.cause == WaitCause::none) continue;
            summary.by_cause[call.cause] += call.caused;
            if (call.caused < call.waited && call.cause != WaitCause::other)
                summary.by_cause[WaitCause::other] += call.waited - call.caused;
            add_wait(waits, line.rank, call);
        }
    }
    summary.by_call = sorted_values(by_call, &CallSum::time);
    summary.by_line = sorted_values(by_line, &CallSum::time);
    summary.waits = sorted_values(waits, &WaitSum::time);
    add_pairs(timeline, summary);
    add_collectives(timeline, summary);
    return summary;
}

}   // namespace tutti::launcher
