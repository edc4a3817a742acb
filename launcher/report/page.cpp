// SPDX-License-Identifier: BSD-3-Clause
// Builds the page of a report: the sums as JSON, the events as packed numbers.
#include "launcher/report/page.hpp"

#include <sodium.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "launcher/report/summary.hpp"

namespace tutti::launcher {

std::string base64(std::string_view bytes) {
    constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(),
                      variant);
    text.pop_back();   // the terminating zero
    return text;
}

namespace {

using nlohmann::json;

/// Packs the calls of a rank. A call: time since the start of the previous call, length, waited, name, place, count,
/// cause, and for a cause with a culprit: its rank, its place, the time it caused.
std::string packed(RankTimeline const& line) {
    PackedNumbers numbers;
    std::int64_t at = 0;
    for (RecordedCall const& c : line.calls) {
        numbers.add_length(c.begin - at);
        at = std::max(at, c.begin);
        numbers.add_length(c.length);
        numbers.add_length(c.waited);
        numbers.add_length(c.name);
        numbers.add_length(c.source_line);
        numbers.add_length(c.count);
        numbers.add_length(static_cast<int>(c.cause) | (c.culprit >= 0 ? 16 : 0));
        if (c.culprit < 0) continue;
        numbers.add_length(c.culprit);
        numbers.add_length(c.culprit_line);
        numbers.add_length(c.caused);
    }
    return base64(numbers.bytes());
}

/// Packs the messages. A message: time since the previous message was sent, time from sending to receipt, source,
/// destination, bytes, tag, communicator. Omits messages of which one end is unknown, because they cannot be drawn.
std::string packed_messages(Timeline const& timeline) {
    PackedNumbers numbers;
    std::int64_t at = 0;
    for (RecordedMessage const& m : timeline.messages) {
        if (m.sent < 0 || m.received < 0 || m.from < 0) continue;
        numbers.add_length(m.sent - at);
        at = std::max(at, m.sent);
        numbers.add_signed(m.received - m.sent);
        numbers.add_length(m.from);
        numbers.add_length(m.to);
        numbers.add_length(m.bytes);
        numbers.add_signed(m.tag);
        numbers.add_length(m.comm);
    }
    return base64(numbers.bytes());
}

/// Packs the collectives. A collective: time since the first entry of the previous one, algorithm, communicator,
/// number, bytes, root + 1, number of entries; and for each entry: rank, time since the first entry, time until the
/// call's end.
std::string packed_collectives(Timeline const& timeline) {
    PackedNumbers numbers;
    std::int64_t at = 0;
    for (RecordedCollective const& c : timeline.collectives) {
        std::int64_t const first = c.entries.front().entry;
        numbers.add_length(first - at);
        at = std::max(at, first);
        numbers.add_length(c.algorithm);
        numbers.add_length(c.comm);
        numbers.add_length(c.number);
        numbers.add_length(c.bytes);
        numbers.add_length(c.root + 1);
        numbers.add(c.entries.size());
        for (CollectiveEntry const& e : c.entries) {
            RecordedCall const* const call = timeline.call(e.rank, e.call);
            numbers.add_length(e.rank);
            numbers.add_length(e.entry - first);
            numbers.add_length(call ? call->end() - e.entry : 0);
        }
    }
    return base64(numbers.bytes());
}

json call_sums(std::vector<CallSum> const& sums) {
    json all = json::array();
    for (CallSum const& s : sums) all.push_back({s.name, s.source_line, s.calls, s.time, s.waited, s.longest});
    return all;
}

json lanes(Recording const& recording, Timeline const& timeline, Summary const& summary) {
    json all = json::array();
    for (std::size_t i = 0; i < timeline.ranks.size(); ++i) {
        RankTimeline const& line = timeline.ranks[i];
        RankSum const& sum = summary.ranks[i];
        RankRecording const& rank = recording.ranks[i];
        json descriptions = json::array();
        for (std::size_t c = 0; c < line.calls.size(); ++c)
            if (!line.calls[c].description.empty()) descriptions.push_back({c, line.calls[c].description});
        all.push_back({{"rank", line.rank},
                       {"host", rank.host},
                       {"node", rank.node},
                       {"clockError", rank.clock_error},
                       {"started", line.started},
                       {"ended", line.ended},
                       {"completeFrom", line.complete_from},
                       {"lost", rank.lost},
                       {"calls", sum.calls},
                       {"count", line.calls.size()},
                       {"total", sum.total},
                       {"inMpi", sum.in_mpi},
                       {"waited", sum.waited},
                       {"shown", descriptions},
                       {"events", packed(line)}});
    }
    return all;
}

json wait_sums(Summary const& summary) {
    json all = json::array();
    for (WaitSum const& w : summary.waits) {
        json culprits = json::array();
        for (auto const& [rank, time] : w.culprits) culprits.push_back({rank, time});
        all.push_back({{"cause", static_cast<int>(w.cause)},
                       {"name", w.name},
                       {"place", w.source_line},
                       {"culpritPlace", w.culprit_line},
                       {"calls", w.calls},
                       {"time", w.time},
                       {"waiting", w.waiting},
                       {"culprits", culprits}});
    }
    return all;
}

/// Returns the numbers of ranks and cores of the oversubscribed nodes; null if no node is oversubscribed.
json oversubscription_of(Recording const& recording, ReportContext const& context) {
    std::size_t ranks = 0;
    int cores = 0, nodes = 0;
    for (RecordedNode const& node : context.nodes) {
        if (!node.is_oversubscribed()) continue;
        ranks += node.ranks.size();
        cores += node.cores;
        ++nodes;
    }
    if (nodes == 0) return nullptr;
    std::int64_t delay = 0;
    for (RankRecording const& rank : recording.ranks) delay += rank.run_delay;
    return {{"ranks", ranks}, {"cores", cores}, {"nodes", nodes}, {"runDelay", delay}};
}

json causes(Summary const& summary, bool oversubscribed) {
    json all = json::array();
    for (int i = 0; i <= static_cast<int>(WaitCause::last); ++i) {
        auto const cause = static_cast<WaitCause>(i);
        auto const found = summary.by_cause.find(cause);
        all.push_back({{"name", name_of(cause)},
                       {"meaning", meaning_of(cause)},
                       {"advice", advice_for(cause, oversubscribed)},
                       {"time", found == summary.by_cause.end() ? 0 : found->second}});
    }
    return all;
}

json collective_sums(Timeline const& timeline, Summary const& summary, ReportContext const& context) {
    json all = json::array();
    for (CollectiveSum const& c : summary.collectives) {
        json last = json::array();
        for (auto const& [rank, times] : c.last) last.push_back({rank, times});
        Algorithm const& algorithm = timeline.algorithms[static_cast<std::size_t>(c.algorithm)];
        json levels = json::array();
        for (TeamLevel const& level :
             teams_of(context.nodes, timeline.comms[static_cast<std::size_t>(c.comm)].members, algorithm.levels))
            levels.push_back({{"name", level.name}, {"teams", level.teams}});
        all.push_back({{"algorithm", c.algorithm},
                       {"comm", c.comm},
                       {"calls", c.calls},
                       {"bytes", c.bytes},
                       {"time", c.time},
                       {"waited", c.waited},
                       {"last", last},
                       {"levels", levels}});
    }
    return all;
}

json machines(ReportContext const& context) {
    json all = json::array();
    for (RecordedNode const& node : context.nodes) {
        json ranks = json::array();
        for (std::size_t local_rank = 0; local_rank < node.ranks.size() && local_rank < node.placement.pu.size();
             ++local_rank) {
            topo::Pu const& pu = node.machine.pus[static_cast<std::size_t>(node.placement.pu[local_rank])];
            ranks.push_back({node.ranks[local_rank], pu.socket, pu.numa, pu.l3, pu.core});
        }
        all.push_back({{"host", node.host}, {"fixed", node.placement.fixed}, {"ranks", ranks}});
    }
    return all;
}

json report_json(Recording const& recording, Timeline const& timeline, Summary const& summary,
                 ReportContext const& context) {
    json all{{"version", TUTTI_VERSION},         {"command", context.command},      {"date", context.date},
             {"ending", context.failure},        {"exitCode", context.exit_code},   {"length", timeline.length},
             {"names", timeline.names},          {"places", timeline.source_lines}, {"calls", summary.calls},
             {"messageCount", summary.messages}, {"unmatched", summary.unmatched}};
    all["reports"] = json::array();
    for (Report const& r : context.reports) all["reports"].push_back(json::parse(json_of(r)));
    all["comms"] = json::array();
    for (RecordedComm const& c : timeline.comms) all["comms"].push_back({{"name", c.name}, {"size", c.size}});
    all["algorithms"] = json::array();
    for (Algorithm const& a : timeline.algorithms) all["algorithms"].push_back({a.collective, a.levels, a.name});
    all["byCall"] = call_sums(summary.by_call);
    all["byLine"] = call_sums(summary.by_line);
    all["waits"] = wait_sums(summary);
    all["crowding"] = oversubscription_of(recording, context);
    all["causes"] = causes(summary, !all["crowding"].is_null());
    all["pairs"] = json::array();
    for (PairSum const& p : summary.pairs) all["pairs"].push_back({p.from, p.to, p.messages, p.bytes});
    all["collectiveSums"] = collective_sums(timeline, summary, context);
    all["machines"] = machines(context);
    all["lanes"] = lanes(recording, timeline, summary);
    all["messageEvents"] = packed_messages(timeline);
    all["collectiveEvents"] = packed_collectives(timeline);
    return all;
}

/// Replaces the placeholder `name` in the page.
void replace_placeholder(std::string& page, std::string_view name, std::string_view text) {
    std::size_t const at = page.find(name);
    if (at != page.npos) page.replace(at, name.size(), text);
}

}   // namespace

std::string page_of(Recording const& recording, Timeline const& timeline, Summary const& summary,
                    ReportContext const& context) {
    std::string data =
        report_json(recording, timeline, summary, context).dump(-1, ' ', false, json::error_handler_t::replace);
    for (std::size_t at = 0; (at = data.find("</", at)) != data.npos; at += 3) data.replace(at, 2, "<\\/");
    std::string page = page_html;
    replace_placeholder(page, "/*page.css*/", page_css);
    replace_placeholder(page, "/*page.js*/", page_js);
    replace_placeholder(page, "{\"data\":0}", data);
    return page;
}

}   // namespace tutti::launcher
