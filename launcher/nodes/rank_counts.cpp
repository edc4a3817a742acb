// SPDX-License-Identifier: BSD-3-Clause
// Counters in the order of counters.def, then the lines of the call statistics; the last line may be that of all
// others.
#include "launcher/nodes/rank_counts.hpp"

#include <cstdint>
#include <vector>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/nodes/pack.hpp"

namespace tutti::launcher {
namespace {

struct Line {
    std::string communicator, collective, algorithm;
    int ranks = 0;
    bool of_window = false;
    std::uint64_t calls = 0, bytes = 0, time = 0, longest = 0;
};

struct Whole {
    int rank = 0;
    std::vector<std::uint64_t> counters;
    std::vector<Line> lines;
};

template <class A>
void members(A& a, Line& l) {
    a(l.communicator, l.collective, l.algorithm, l.ranks, l.of_window, l.calls, l.bytes, l.time, l.longest);
}
template <class A>
void members(A& a, Whole& w) {
    a(w.rank, w.counters, w.lines);
}

/// All counters of a rank state that the tables show.
template <class AnyRankState, class Visit>
void each_counter(AnyRankState& rank_state, Visit const& visit) {
#define COUNTER(group, kind, name, where, sentence) visit(rank_state.where);
#include "runtime/counters/counters.def"
#undef COUNTER
    auto& placed = rank_state.placed;
    for (auto* one : {&placed.node, &placed.moves, &placed.refused}) visit(*one);
    for (auto& one : placed.seen) visit(one);
    for (auto& one : placed.there) visit(one);
    visit(rank_state.times.started);
    visit(rank_state.times.ended);
}

Line copied(CallStatisticsRow const& from) {
    return {text_in(from.communicator), text_in(from.collective), text_in(from.algorithm), from.ranks,
            from.of_window != 0,        from.calls.read(),        from.bytes.read(),       from.time.read(),
            from.longest.read()};
}

}   // namespace

std::string packed_counts(RankCounts const& counts, std::uint64_t now) {
    Whole whole{counts.rank, {}, {}};
    each_counter(*counts.rank_state, [&](Counter const& c) { whole.counters.push_back(c.read()); });
    bool const never_ended = counts.rank_state->times.started.read() != 0 && counts.rank_state->times.ended.read() == 0;
    if (never_ended) whole.counters.back() = now;
    for (CallStatisticsRow const& line : counts.call_statistics->lines()) whole.lines.push_back(copied(line));
    if (counts.call_statistics->others().calls.read() != 0)
        whole.lines.push_back(copied(counts.call_statistics->others()));
    return packed(whole);
}

std::unique_ptr<RankCountsCopy> copy_of_counts(std::string_view bytes) {
    auto const whole = unpacked<Whole>(bytes);
    auto copy = std::make_unique<RankCountsCopy>();
    copy->rank = whole.rank;
    std::size_t next = 0;
    each_counter(copy->rank_state, [&](Counter& c) {
        if (next == whole.counters.size()) fail(ErrorClass::other, "a rank's counters came incomplete");
        c.set(whole.counters[next++]);
    });
    for (Line const& from : whole.lines) {
        CallStatisticsRow& to =
            copy->call_statistics.line(from.communicator, from.ranks, from.collective, from.algorithm, from.of_window);
        to.calls.set(from.calls);
        to.bytes.set(from.bytes);
        to.time.set(from.time);
        to.longest.set(from.longest);
    }
    return copy;
}

}   // namespace tutti::launcher
