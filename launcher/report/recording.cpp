// SPDX-License-Identifier: BSD-3-Clause
// Reads traces from the node's segment, packs them for sending, and estimates clock offsets.
#include "launcher/report/recording.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "launcher/base/pack.hpp"
#include "launcher/diagnosis/source_lines.hpp"
#include "runtime/state/call_record.hpp"
#include "topo/text.hpp"

// Source lines: from addresses to files and offsets, and from these to source lines.

namespace tutti::launcher {
namespace {

struct MappedRange {
    std::uint64_t begin, end;
    std::string path;
};

std::vector<MappedRange> files_in(std::string_view maps) {
    std::vector<MappedRange> files;
    while (!maps.empty()) {
        std::size_t const end = maps.find('\n');
        std::string const line(maps.substr(0, end));
        maps.remove_prefix(end == maps.npos ? maps.size() : end + 1);
        MappedRange file{};
        std::size_t const path = line.find('/');
        if (path == line.npos || std::sscanf(line.c_str(), "%lx-%lx", &file.begin, &file.end) != 2) continue;
        file.path = line.substr(path);
        if (!files.empty() && files.back().path == file.path) files.back().end = file.end;
        else files.push_back(std::move(file));
    }
    return files;
}

}   // namespace

std::vector<std::pair<std::uint64_t, std::string>> CallSites::source_lines_of(std::string_view maps,
                                                                              std::vector<std::uint64_t> addresses) {
    std::ranges::sort(addresses);
    addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
    std::vector<MappedRange> const files = files_in(maps);
    SourceLines lines{std::string(maps)};
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (std::uint64_t address : addresses) {
        auto const file =
            std::ranges::find_if(files, [&](MappedRange const& f) { return f.begin <= address && address < f.end; });
        if (file == files.end()) {
            all.emplace_back(address, "");
            continue;
        }
        auto [found, fresh] = known_.try_emplace({file->path, address - file->begin});
        if (fresh) found->second = describe(lines.at(address));
        all.emplace_back(address, found->second);
    }
    return all;
}

namespace {

std::string_view text_at(char const* text, std::size_t room) {
    return {text, static_cast<std::size_t>(std::find(text, text + room, 0) - text)};
}

/// Reads a count that a rank has written, limited to its maximum.
template <class Count>
Count clamped(std::atomic<Count> const& count, std::size_t most) {
    return std::min(count.load(std::memory_order_acquire), static_cast<Count>(most));
}

/// True if a rank can have recorded this event by `now`. The limits are such that sums of possible values do not
/// overflow.
bool is_possible(TraceEvent const& e, std::int64_t now) {
    constexpr std::int64_t max_event_bytes = std::int64_t{1} << 40;
    bool const timed = e.time >= 0 && e.time <= now && e.waited >= 0 && e.amount >= 0;
    if (e.kind == TraceKind::call) return timed && e.amount <= now - e.time && e.waited <= now && e.tag >= 0;
    return timed && e.amount <= max_event_bytes;
}

/// Returns the events that have not been overwritten, in the order of recording. `room` is the launcher's value of
/// the ring's size, because the trace may be corrupt.
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
    for (std::uint32_t i = 0; i < clamped(trace.comms_used, Trace::max_comms); ++i) {
        TracedComm const& c = trace.comms[i];
        comms.push_back({c.context, std::string(text_at(c.name, sizeof c.name)),
                         topo::parse_number_list(text_at(c.members, sizeof c.members)).numbers, c.size, c.rank});
    }
    return comms;
}

/// Returns the description that the rank published of the wait in which it ended.
std::string published_call(RankState const& rank_state) {
    Blocked const& blocked = rank_state.blocked;
    if (blocked.changes.load(std::memory_order_acquire) % 2 == 0) return {};
    return text_in(blocked.thread[0].call.text);
}

std::vector<UnfinishedCall> unfinished_of(Trace const& trace, RankState const& rank_state, std::int64_t ended) {
    std::vector<UnfinishedCall> calls;
    for (OpenCall const& c : trace.open)
        if (std::int64_t const begin = c.begin.load(std::memory_order_acquire);
            begin > 0 && begin <= ended && c.text != 0)
            calls.push_back({begin, c.site, c.text, static_cast<int>(c.thread), published_call(rank_state)});
    return calls;
}

/// Returns the time at which the event was recorded; a call is recorded at its end.
std::int64_t record_time(TraceEvent const& e) { return e.kind == TraceKind::call ? e.time + e.amount : e.time; }

/// Returns a time that a rank has recorded, or 0 if it is impossible.
std::int64_t recorded_time(Counter const& time, std::int64_t now) {
    std::uint64_t const recorded = time.read();
    return recorded <= static_cast<std::uint64_t>(now) ? static_cast<std::int64_t>(recorded) : 0;
}

RankRecording read_trace(Trace const& trace, std::uint64_t room, RankState const& rank_state, CallSites& sites,
                         std::int64_t now) {
    RankRecording all;
    all.rank = rank_state.world_rank;
    all.started = recorded_time(rank_state.times.started, now);
    all.ended = recorded_time(rank_state.times.ended, now);
    all.run_delay = recorded_time(rank_state.times.run_delay, now);
    all.events = events_of(trace, room, now);
    std::uint64_t const ever = trace.events.load();
    all.lost = ever - std::min<std::uint64_t>(ever, all.events.size());
    all.complete_from = all.lost > 0 && !all.events.empty() ? record_time(all.events.front()) : all.started;
    for (std::uint32_t i = 0; i < clamped(trace.texts_used, Trace::max_texts); ++i)
        all.texts.emplace_back(text_at(trace.texts[i], sizeof trace.texts[i]));
    all.comms = comms_of(trace);
    all.unfinished = unfinished_of(trace, rank_state, all.ended == 0 ? now : all.ended);
    std::vector<std::uint64_t> addresses;
    for (TraceEvent const& e : all.events)
        if (e.kind == TraceKind::call && (addresses.empty() || addresses.back() != e.where))
            addresses.push_back(e.where);
    for (UnfinishedCall const& c : all.unfinished) addresses.push_back(c.site);
    std::string_view const maps(trace.maps, clamped(trace.maps_bytes, Trace::max_maps));
    all.source_lines = sites.source_lines_of(maps, std::move(addresses));
    return all;
}

}   // namespace

std::vector<RankRecording> read_traces(Segment const& segment, std::uint64_t room, int node, std::string const& host,
                                       std::int64_t now) {
    std::vector<RankRecording> all;
    CallSites sites;
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank) {
        Trace const* const trace = segment.trace(local_rank);
        if (!trace) return {};
        RankRecording one = read_trace(*trace, room, segment.rank_state(local_rank), sites, now);
        one.node = node;
        one.host = host;
        if (one.started == 0) one.started = one.complete_from = now;
        if (one.ended == 0) one.ended = now;
        all.push_back(std::move(one));
    }
    return all;
}

// Packing of recordings, and clock offsets.

template <class A>
void members(A& a, RecordedComm& c) {
    a(c.context, c.name, c.members, c.size, c.rank);
}
template <class A>
void members(A& a, UnfinishedCall& c) {
    a(c.begin, c.site, c.text, c.thread, c.description);
}

namespace {

/// A rank's recording without its events, which are sent as raw bytes.
struct RecordingHead {
    RankRecording recording;
};
template <class A>
void members(A& a, RecordingHead& h) {
    RankRecording& r = h.recording;
    a(r.rank, r.node, r.host, r.started, r.ended, r.complete_from, r.lost, r.run_delay, r.texts, r.comms,
      r.source_lines, r.unfinished);
}

struct PackedNode {
    int node = 0;
    std::string host, machine, placement;
    std::vector<int> ranks;
    int cores = 0;
};
template <class A>
void members(A& a, PackedNode& n) {
    a(n.node, n.host, n.machine, n.placement, n.ranks, n.cores);
}

}   // namespace

std::string packed_recording(RankRecording const& recording) {
    RecordingHead head{recording};
    head.recording.events.clear();
    std::string const first = packed(head);
    std::string bytes = packed(first.size()) + first;
    bytes.append(reinterpret_cast<char const*>(recording.events.data()), recording.events.size() * sizeof(TraceEvent));
    return bytes;
}

RankRecording recording_in(std::string_view bytes) {
    std::size_t const head_bytes = unpacked<std::size_t>(bytes.substr(0, sizeof(std::uint64_t)));
    bytes.remove_prefix(sizeof(std::uint64_t));
    if (head_bytes > bytes.size()) fail(ErrorClass::other, "received an incomplete recording");
    RankRecording recording = unpacked<RecordingHead>(bytes.substr(0, head_bytes)).recording;
    bytes.remove_prefix(head_bytes);
    recording.events.resize(bytes.size() / sizeof(TraceEvent));
    if (!recording.events.empty())
        std::memcpy(recording.events.data(), bytes.data(), recording.events.size() * sizeof(TraceEvent));
    return recording;
}

std::string packed_node(RecordedNode const& node) {
    return packed(
        PackedNode{node.node, node.host, node.machine.to_text(), node.placement.to_text(), node.ranks, node.cores});
}

RecordedNode node_in(std::string_view bytes) {
    auto const texts = unpacked<PackedNode>(bytes);
    RecordedNode node{texts.node, texts.host, {}, {}, texts.ranks, texts.cores};
    if (auto const map = topo::NodeMap::from_text(texts.machine + texts.placement)) {
        node.machine = map->machine;
        node.placement = map->placement;
    }
    return node;
}

bool ClockOffsets::add_answer(int node, ClockAnswer const& answer, std::int64_t now) {
    Offset& known = offsets_[node];
    std::int64_t const error = (now - answer.query_time) / 2;
    if (known.answers++ == 0 || error < known.error)
        known = {answer.query_time + error - answer.remote_time, error, known.answers};
    return known.answers < required_answers;
}

void ClockOffsets::adjust(RankRecording& recording) const {
    auto const found = offsets_.find(recording.node);
    if (found == offsets_.end()) return;
    std::int64_t const by = found->second.offset;
    recording.clock_error = found->second.error;
    recording.started += by;
    recording.ended += by;
    recording.complete_from += by;
    for (TraceEvent& e : recording.events) e.time += by;
    for (UnfinishedCall& c : recording.unfinished) c.begin += by;
}

}   // namespace tutti::launcher
