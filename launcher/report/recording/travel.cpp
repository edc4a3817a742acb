// SPDX-License-Identifier: BSD-3-Clause
// Recordings as bytes; clocks.
#include "launcher/report/recording/travel.hpp"

#include <cstring>

#include "launcher/nodes/pack.hpp"

namespace tutti::launcher {

template <class A>
void members(A& a, RecordedComm& c) {
    a(c.context, c.name, c.members, c.size, c.rank);
}
template <class A>
void members(A& a, UnfinishedCall& c) {
    a(c.begin, c.site, c.text, c.thread, c.shown);
}

namespace {

/// A rank's recording but for its events, which go as they are.
struct RecordingHead {
    RankRecording of;
};
template <class A>
void members(A& a, RecordingHead& h) {
    RankRecording& r = h.of;
    a(r.rank, r.node, r.host, r.started, r.ended, r.complete_from, r.lost, r.run_delay, r.texts, r.comms, r.places,
      r.unfinished);
}

struct NodeTexts {
    int node = 0;
    std::string host, machine, placement;
    std::vector<int> ranks;
    int cores = 0;
};
template <class A>
void members(A& a, NodeTexts& n) {
    a(n.node, n.host, n.machine, n.placement, n.ranks, n.cores);
}

}   // namespace

std::string packed_recording(RankRecording const& recording) {
    RecordingHead head{recording};
    head.of.events.clear();
    std::string const first = packed(head);
    std::string bytes = packed(first.size()) + first;
    bytes.append(reinterpret_cast<char const*>(recording.events.data()), recording.events.size() * sizeof(TraceEvent));
    return bytes;
}

RankRecording recording_in(std::string_view bytes) {
    std::size_t const head_bytes = unpacked<std::size_t>(bytes.substr(0, sizeof(std::uint64_t)));
    bytes.remove_prefix(sizeof(std::uint64_t));
    if (head_bytes > bytes.size()) fail(ErrorClass::other, "a recording came incomplete");
    RankRecording recording = unpacked<RecordingHead>(bytes.substr(0, head_bytes)).of;
    bytes.remove_prefix(head_bytes);
    recording.events.resize(bytes.size() / sizeof(TraceEvent));
    if (!recording.events.empty())
        std::memcpy(recording.events.data(), bytes.data(), recording.events.size() * sizeof(TraceEvent));
    return recording;
}

std::string packed_node(RecordedNode const& node) {
    return packed(
        NodeTexts{node.node, node.host, node.machine.to_text(), node.placement.to_text(), node.ranks, node.cores});
}

RecordedNode node_in(std::string_view bytes) {
    auto const texts = unpacked<NodeTexts>(bytes);
    RecordedNode node{texts.node, texts.host, {}, {}, texts.ranks, texts.cores};
    if (auto const map = topo::NodeMap::from_text(texts.machine + texts.placement)) {
        node.machine = map->machine;
        node.placement = map->placement;
    }
    return node;
}

bool ClockOffsets::hear(int node, ClockAnswer const& answer, std::int64_t now) {
    Offset& known = offsets_[node];
    std::int64_t const error = (now - answer.asked) / 2;
    if (known.answers++ == 0 || error < known.error)
        known = {answer.asked + error - answer.theirs, error, known.answers};
    return known.answers < wanted;
}

void ClockOffsets::adjust(RankRecording& recording) const {
    auto const found = offsets_.find(recording.node);
    if (found == offsets_.end()) return;
    std::int64_t const by = found->second.ours_minus_theirs;
    recording.clock_error = found->second.error;
    recording.started += by;
    recording.ended += by;
    recording.complete_from += by;
    for (TraceEvent& e : recording.events) e.time += by;
    for (UnfinishedCall& c : recording.unfinished) c.begin += by;
}

}   // namespace tutti::launcher
