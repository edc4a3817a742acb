// SPDX-License-Identifier: BSD-3-Clause
// Writes the files of a recording: checks, the page of --report, and --trace as a Trace Event file.
#include "launcher/report/write_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <ostream>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

// The recording as a Trace Event file, one JSON object per line. Times are microseconds.

namespace {

using nlohmann::json;

constexpr std::string_view trace_head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

class EventWriter {
public:
    explicit EventWriter(std::ostream& out) : out_(out) { out_ << trace_head; }
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

// All files that the job requests.

namespace {

/// Writes a file. Throws Error if that fails.
void write_file(std::string const& name, std::function<void(std::ostream&)> const& write) {
    errno = 0;
    std::ofstream file(name, std::ios::binary);
    if (file) write(file);
    file.close();
    if (!file)
        throw Error(ErrorClass::other, join(name, " cannot be written", errno ? join(": ", std::strerror(errno)) : ""));
}

/// Returns true if a file begins as page_of and EventWriter begin theirs.
bool is_page(std::string_view begin) { return begin.find("<title>Tutti report</title>") != begin.npos; }
bool is_trace(std::string_view begin) { return begin.starts_with(trace_head); }
bool are_statistics(std::string_view begin) { return begin.starts_with(statistics_head); }

std::string date_now() {
    std::time_t const now = std::time(nullptr);
    std::tm local{};
    char text[64];
    localtime_r(&now, &local);
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

}   // namespace

std::string command_line_text(Job const& job) {
    std::string words = "mpiexec";
    for (Program const& p : job.programs) {
        if (&p != &job.programs.front()) words += " :";
        words += join(" -n ", p.ranks);
        for (std::string const& word : p.command) words += " " + word;
    }
    return words;
}

void check_reports(Job const& job) {
    if (!job.has_program()) return;
    if (!job.report_file.empty()) check_output_file("--report", job.report_file, is_page);
    if (names_otf2_archive(job.trace_file)) check_otf2_archive(job.trace_file);
    else if (!job.trace_file.empty()) check_output_file("--trace", job.trace_file, is_trace);
    if (!job.report_file.empty() && job.report_file == job.trace_file)
        throw LaunchError(join("--report and --trace name the same file, ", job.report_file));
    if (!job.statistics_file.empty()) check_output_file("--stats=json", job.statistics_file, are_statistics);
}

bool write_statistics(Job const& job, AllRankCounts const& counts, std::string& message) try {
    std::string const text = job.statistics_as_json ? statistics_json(counts) : statistics(counts);
    if (job.statistics_file.empty()) {
        std::fputs(text.c_str(), stderr);
        return true;
    }
    write_file(job.statistics_file, [&](std::ostream& out) { out << text; });
    if (!job.quiet) message = job.statistics_file + " contains the statistics";
    return true;
} catch (Error const& error) {
    message = error.what();
    return false;
}

WrittenReports write_reports(Job const& job, Recording recording, ReportContext context) {
    std::ranges::sort(recording.ranks, {}, &RankRecording::rank);
    // these ranks never called MPI_Init
    std::erase_if(recording.ranks, [](RankRecording const& r) { return r.texts.empty(); });
    WrittenReports result;
    if (recording.ranks.empty()) {
        result.errors.emplace_back("no rank has called MPI_Init of Tutti's library, so there is nothing to report");
        return result;
    }
    Timeline timeline = timeline_of(recording);
    classify_waits(timeline);
    context.command = command_line_text(job);
    context.date = date_now();
    auto const page = [&](std::ostream& out) { out << page_of(recording, timeline, summary_of(timeline), context); };
    auto const events = [&](std::ostream& out) { write_trace_events(out, recording, timeline); };
    auto const write = [&](std::string const& file, std::string_view content, auto const& how) {
        if (file.empty()) return;
        try {
            how();
            result.written.push_back(join(file, " contains the ", content));
        } catch (Error const& e) { result.errors.emplace_back(e.what()); }
    };
    write(job.report_file, "report (open it in a browser)", [&] { write_file(job.report_file, page); });
    if (names_otf2_archive(job.trace_file))
        write(job.trace_file, "trace (open it in Vampir)",
              [&] { write_otf2_archive(job.trace_file, recording, timeline); });
    else
        write(job.trace_file, "trace (open it in https://ui.perfetto.dev)",
              [&] { write_file(job.trace_file, events); });
    return result;
}

}   // namespace tutti::launcher
