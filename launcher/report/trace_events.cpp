// SPDX-License-Identifier: BSD-3-Clause
// Writes the recording as a Trace Event file, one JSON object per line. Times are microseconds.
#include "launcher/report/write_report.hpp"

#include <ostream>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace tutti::launcher {
namespace {

using nlohmann::json;

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

class EventWriter {
public:
    explicit EventWriter(std::ostream& out) : out_(out) { out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"; }
    ~EventWriter() { out_ << "\n]}\n"; }
    EventWriter(EventWriter const&) = delete;
    void add(json const& event) {
        if (!first_) out_ << ",\n";
        first_ = false;
        out_ << event.dump(-1, ' ', false, json::error_handler_t::replace);
    }

private:
    std::ostream& out_;
    bool first_ = true;
};

void add_names(EventWriter& file, Recording const& recording) {
    for (RankRecording const& rank : recording.ranks) {
        file.add({{"ph", "M"}, {"name", "process_name"}, {"pid", rank.node}, {"args", {{"name", rank.host}}}});
        file.add({{"ph", "M"},
                  {"name", "thread_name"},
                  {"pid", rank.node},
                  {"tid", rank.rank},
                  {"args", {{"name", "rank " + std::to_string(rank.rank)}}}});
        file.add({{"ph", "M"},
                  {"name", "thread_sort_index"},
                  {"pid", rank.node},
                  {"tid", rank.rank},
                  {"args", {{"sort_index", rank.rank}}}});
    }
}

json event_of(Timeline const& timeline, RecordedCall const& c) {
    json arguments{{"waited_us", microseconds(c.waited)}};
    if (c.source_line > 0) arguments["place"] = timeline.source_lines[static_cast<std::size_t>(c.source_line)];
    if (c.count > 1) arguments["calls"] = c.count;
    if (!c.description.empty()) arguments["call"] = c.description;
    if (c.cause != WaitCause::none) arguments["waited_for"] = name_of(c.cause);
    if (c.culprit >= 0) arguments["late_rank"] = c.culprit;
    return {{"ph", "X"},
            {"name", timeline.names[static_cast<std::size_t>(c.name)]},
            {"cat", c.cause == WaitCause::none ? "mpi" : "mpi,waits"},
            {"ts", microseconds(c.begin)},
            {"dur", microseconds(c.length)},
            {"args", std::move(arguments)}};
}

}   // namespace

void write_trace_events(std::ostream& out, Recording const& recording, Timeline const& timeline) {
    EventWriter file(out);
    add_names(file, recording);
    std::unordered_map<int, int> node_of;
    for (RankRecording const& rank : recording.ranks) node_of[rank.rank] = rank.node;
    for (RankTimeline const& line : timeline.ranks)
        for (RecordedCall const& c : line.calls) {
            json event = event_of(timeline, c);
            event["pid"] = node_of[line.rank];
            event["tid"] = line.rank;
            file.add(event);
        }
    for (RecordedCollective const& c : timeline.collectives) {
        Algorithm const& a = timeline.algorithms[static_cast<std::size_t>(c.algorithm)];
        for (CollectiveEntry const& e : c.entries)
            file.add({{"ph", "i"},
                      {"s", "t"},
                      {"name", a.collective + " by " + a.name},
                      {"cat", "collective"},
                      {"pid", node_of[e.rank]},
                      {"tid", e.rank},
                      {"ts", microseconds(e.entry)},
                      {"args", {{"bytes", c.bytes}, {"number", c.number}, {"root", c.root}}}});
    }
    std::size_t id = 0;
    for (RecordedMessage const& m : timeline.messages) {
        if (m.sent < 0 || m.received < 0 || m.from < 0) continue;
        json event{
            {"name", "message"}, {"cat", "message"}, {"id", ++id}, {"args", {{"bytes", m.bytes}, {"tag", m.tag}}}};
        event.update({{"ph", "s"}, {"pid", node_of[m.from]}, {"tid", m.from}, {"ts", microseconds(m.sent)}});
        file.add(event);
        event.update({{"ph", "f"}, {"bp", "e"}, {"pid", node_of[m.to]}, {"tid", m.to}});
        event["ts"] = microseconds(std::max(m.received, m.sent));
        file.add(event);
    }
}

}   // namespace tutti::launcher
