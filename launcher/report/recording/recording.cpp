// SPDX-License-Identifier: BSD-3-Clause
// Out of the node segment.
#include "launcher/report/recording/recording.hpp"

#include <algorithm>
#include <charconv>

#include "launcher/report/recording/call_sites.hpp"
#include "runtime/counters/blocked.hpp"

namespace tutti::launcher {
namespace {

std::string_view text_at(char const* words, std::size_t room) {
    return {words, static_cast<std::size_t>(std::find(words, words + room, 0) - words)};
}

constexpr std::size_t most_ranks_named = 1 << 20;

/// A count that the rank has written, as far as it can be.
template <class Count>
Count within(std::atomic<Count> const& count, std::size_t most) {
    return std::min(count.load(std::memory_order_acquire), static_cast<Count>(most));
}

/// Is it one that a rank could have recorded until `now`? Sums of possible ones do not overflow.
bool is_possible(TraceEvent const& e, std::int64_t now) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
    bool const timed = e.time >= 0 && e.time <= now && e.waited >= 0 && e.amount >= 0;
    if (e.kind == TraceKind::call) return timed && e.amount <= now - e.time && e.waited <= now && e.tag >= 0;
    return timed && e.amount <= most_bytes;
}

/// The events that are still there, in the order in which they were written. `room`: the launcher's own knowledge.
std::vector<TraceEvent> events_of(Trace const& trace, std::uint64_t room, std::int64_t now) {
    std::uint64_t const ever = trace.events.load(std::memory_order_acquire);
    std::vector<TraceEvent> events;
    std::uint64_t const first = ever > room ? ever - room : 0;
    events.reserve(ever - first);
    for (std::uint64_t i = first; i < ever; ++i)
        if (TraceEvent const e = trace.ring()[i % room]; is_possible(e, now)) events.push_back(e);
    return events;
}

std::vector<RecordedComm> comms_of(Trace const& trace) {
    std::vector<RecordedComm> comms;
    for (std::uint32_t i = 0; i < within(trace.comms_used, Trace::most_comms); ++i) {
        TracedComm const& c = trace.comms[i];
        comms.push_back({c.context, std::string(text_at(c.name, sizeof c.name)),
                         ranks_in(text_at(c.members, sizeof c.members)), c.size, c.rank});
    }
    return comms;
}

/// What the rank has shown of the wait in which it ended.
std::string shown_call(RankState const& rank_state) {
    Blocked const& shown = rank_state.blocked;
    if (shown.changes.load(std::memory_order_acquire) % 2 == 0) return {};
    return std::string(text_at(shown.thread[0].call, sizeof shown.thread[0].call));
}

std::vector<UnfinishedCall> unfinished_of(Trace const& trace, RankState const& rank_state, std::int64_t ended) {
    std::vector<UnfinishedCall> calls;
    for (OpenCall const& c : trace.open)
        if (std::int64_t const begin = c.begin.load(std::memory_order_acquire);
            begin > 0 && begin <= ended && c.text != 0)
            calls.push_back({begin, c.site, c.text, static_cast<int>(c.thread), shown_call(rank_state)});
    return calls;
}

/// Of calls the end is when they were written.
std::int64_t written_at(TraceEvent const& e) { return e.kind == TraceKind::call ? e.time + e.amount : e.time; }

/// A time that a rank has noted, 0 where it cannot be one.
std::int64_t noted(Counter const& time, std::int64_t now) {
    std::uint64_t const noted = time.read();
    return noted <= static_cast<std::uint64_t>(now) ? static_cast<std::int64_t>(noted) : 0;
}

RankRecording read_trace(Trace const& trace, std::uint64_t room, RankState const& rank_state, CallSites& sites,
                         std::int64_t now) {
    RankRecording all;
    all.rank = rank_state.world_rank;
    all.started = noted(rank_state.times.started, now);
    all.ended = noted(rank_state.times.ended, now);
    all.run_delay = noted(rank_state.times.run_delay, now);
    all.events = events_of(trace, room, now);
    std::uint64_t const ever = trace.events.load();
    all.lost = ever - std::min<std::uint64_t>(ever, all.events.size());
    all.complete_from = all.lost > 0 && !all.events.empty() ? written_at(all.events.front()) : all.started;
    for (std::uint32_t i = 0; i < within(trace.texts_used, Trace::most_texts); ++i)
        all.texts.emplace_back(text_at(trace.texts[i], sizeof trace.texts[i]));
    all.comms = comms_of(trace);
    all.unfinished = unfinished_of(trace, rank_state, all.ended == 0 ? now : all.ended);
    std::vector<std::uint64_t> addresses;
    for (TraceEvent const& e : all.events)
        if (e.kind == TraceKind::call && (addresses.empty() || addresses.back() != e.where))
            addresses.push_back(e.where);
    for (UnfinishedCall const& c : all.unfinished) addresses.push_back(c.site);
    std::string_view const maps(trace.maps, within(trace.maps_bytes, Trace::most_maps));
    all.places = sites.words_for(maps, std::move(addresses));
    return all;
}

}   // namespace

std::vector<int> ranks_in(std::string_view ranges) {
    std::vector<int> ranks;
    char const *at = ranges.data(), *const end = at + ranges.size();
    while (at < end && *at >= '0' && *at <= '9') {
        int first = 0, last = 0;
        at = std::from_chars(at, end, first).ptr;
        last = first;
        if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
        if (last < first || static_cast<std::size_t>(last - first) >= most_ranks_named - ranks.size()) return ranks;
        for (int r = first; r <= last; ++r) ranks.push_back(r);
        if (at < end && *at == ',') ++at;
    }
    return ranks;
}

std::vector<RankRecording> read_traces(Segment const& segment, std::uint64_t room, int node, std::string const& host,
                                       std::int64_t now) {
    std::vector<RankRecording> all;
    CallSites sites;
    for (unsigned place = 0; place < segment.ranks(); ++place) {
        Trace const* const trace = segment.trace(place);
        if (!trace) return {};
        RankRecording one = read_trace(*trace, room, segment.rank_state(place), sites, now);
        one.node = node;
        one.host = host;
        if (one.started == 0) one.started = one.complete_from = now;
        if (one.ended == 0) one.ended = now;
        all.push_back(std::move(one));
    }
    return all;
}

}   // namespace tutti::launcher
