// SPDX-License-Identifier: BSD-3-Clause
// Computes the sums of a report.
#include "launcher/report/summary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "topo/hierarchy.hpp"

namespace tutti::launcher {
namespace {

template <class Map>
auto sorted_values(Map const& map, auto const& by) {
    std::vector<typename Map::mapped_type> values;
    for (auto const& [key, value] : map) values.push_back(value);
    std::ranges::stable_sort(values, std::ranges::greater(), by);
    return values;
}

/// The part of a call's times that enters the sums, so that no nanosecond of a thread counts twice.
struct Share {
    std::int64_t length = 0, waited = 0;
};

/// Computes the shares of a rank's calls. A call nested in another one of its thread (in a callback) contributes no
/// length. Both contribute their waits, together at most the length of the outer call; a call that never ended has
/// waited for its whole length.
class Shares {
public:
    /// Must be called for all calls of a rank, in their order.
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

/// Sums of waits by cause and place. Each nanosecond of a wait is in exactly one sum: in the sum of the call's cause,
/// as far as that explains the wait, and otherwise in the sum of WaitCause::other.
class WaitSums {
public:
    void add(int rank, RecordedCall const& call, std::int64_t waited) {
        bool const explained = call.cause != WaitCause::none && call.cause != WaitCause::other;
        std::int64_t const caused = explained ? std::min(call.caused, waited) : 0;
        if (caused > 0) {
            WaitSum& sum = sum_of(call.cause, rank, call, call.culprit_line, caused);
            if (call.culprit >= 0) sum.culprits[call.culprit] += caused;
        }
        if (caused < waited) sum_of(WaitCause::other, rank, call, 0, waited - caused);
    }
    void move_to(Summary& summary) {
        summary.waits = sorted_values(waits_, &WaitSum::time);
        for (WaitSum const& sum : summary.waits) summary.by_cause[sum.cause] += sum.time;
    }

private:
    WaitSum& sum_of(WaitCause cause, int rank, RecordedCall const& call, int culprit_line, std::int64_t time) {
        WaitSum& sum = waits_[{cause, call.name, call.source_line, culprit_line}];
        sum.cause = cause;
        sum.name = call.name;
        sum.source_line = call.source_line;
        sum.culprit_line = culprit_line;
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
            CallSum& of_line = by_line[{call.source_line, call.name}];
            of_line.name = call.name;
            of_line.source_line = call.source_line;
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

// The teams, computed by the functions of topo/ that the ranks use, too.

namespace {

constexpr std::size_t max_members = 1024;   // more cannot be drawn

/// Parses "numa+socket+node"; the outermost level, `node`, is implied.
topo::LevelChoice choice_of(std::string_view levels) {
    std::string inner(levels);
    if (inner == "node" || inner.empty()) return {false, {}};
    if (inner.ends_with("+node")) inner.resize(inner.size() - 5);
    auto const choice = topo::parse_hierarchy(inner);
    return choice ? *choice : topo::LevelChoice{false, {}};
}

/// The members on one node, and their local ranks.
struct OnNode {
    std::vector<int> ranks, local_ranks;
};

OnNode on_node(RecordedNode const& node, std::set<int> const& members) {
    OnNode here;
    for (std::size_t local_rank = 0; local_rank < node.ranks.size(); ++local_rank) {
        if (!members.contains(node.ranks[local_rank])) continue;
        here.ranks.push_back(node.ranks[local_rank]);
        here.local_ranks.push_back(static_cast<int>(local_rank));
    }
    return here;
}

}   // namespace

std::vector<TeamLevel> teams_of(std::vector<RecordedNode> const& nodes, std::vector<int> const& members,
                                std::string_view levels) {
    if (members.empty() || members.size() > max_members) return {};
    std::set<int> const all(members.begin(), members.end());
    topo::LevelChoice const choice = choice_of(levels);
    std::vector<TeamLevel> result;
    std::size_t nodes_used = 0;
    for (RecordedNode const& node : nodes) {
        OnNode const here = on_node(node, all);
        if (here.ranks.empty() || node.placement.pu.size() < node.ranks.size()) continue;
        ++nodes_used;
        auto const tree = topo::make_hierarchy(node.machine, node.placement, here.local_ranks, choice);
        for (int level = 0; level < tree.levels(); ++level) {
            if (result.size() <= static_cast<std::size_t>(level)) result.push_back({tree.level_name(level), {}});
            std::map<int, std::vector<int>> teams;
            for (int r = 0; r < tree.size(); ++r)
                teams[tree.team(level, r).id].push_back(here.ranks[static_cast<std::size_t>(r)]);
            for (auto& [id, ranks] : teams) result[static_cast<std::size_t>(level)].teams.push_back(std::move(ranks));
        }
    }
    if (nodes_used > 1) result.push_back({"cluster", {members}});
    return result;
}

}   // namespace tutti::launcher
