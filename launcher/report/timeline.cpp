// SPDX-License-Identifier: BSD-3-Clause
// Assembles the calls, messages and collectives of the job from the events of each rank.
#include "launcher/report/timeline.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tutti::launcher {
namespace {

/// Numbers texts in the order of their first use.
class Numbering {
public:
    explicit Numbering(std::vector<std::string>& list) : list_(list) {}
    int operator()(std::string const& text) {
        auto [found, fresh] = known_.try_emplace(text, static_cast<int>(list_.size()));
        if (fresh) list_.push_back(text);
        return found->second;
    }

private:
    std::vector<std::string>& list_;
    std::unordered_map<std::string, int> known_;
};

Algorithm parse_algorithm(std::string const& text) {
    std::size_t const first = text.find('|'), second = text.find('|', first + 1);
    if (first == text.npos || second == text.npos) return {text, "", ""};
    return {text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

/// True if the collective has a root. Other collectives may have recorded one, which means nothing.
bool has_root(std::string_view collective) {
    return collective == "bcast" || collective == "scatter" || collective == "reduce" || collective == "gather";
}

struct MessageKey {
    std::uint64_t context;
    std::int64_t number;
    int source, dest, tag;
    bool operator==(MessageKey const&) const = default;
};
struct CollectiveKey {
    std::uint64_t context;
    std::int64_t number;
    bool operator==(CollectiveKey const&) const = default;
};

std::uint64_t hash_combine(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 31;
}
struct HashOfKey {
    std::size_t operator()(MessageKey const& k) const {
        std::uint64_t const ends = static_cast<std::uint64_t>(k.source) << 32 | static_cast<std::uint32_t>(k.dest);
        return hash_combine(hash_combine(hash_combine(k.context, static_cast<std::uint64_t>(k.number)), ends),
                            static_cast<std::uint32_t>(k.tag));
    }
    std::size_t operator()(CollectiveKey const& k) const {
        return hash_combine(k.context, static_cast<std::uint64_t>(k.number));
    }
};

class TimelineBuilder {
public:
    explicit TimelineBuilder(Recording const& recording) : recording_(recording) {
        names_("?");
        source_lines_("");
    }

    Timeline run() {
        find_bounds();
        for (RankRecording const& rank : recording_.ranks) add_rank(rank);
        std::ranges::stable_sort(timeline_.messages, {},
                                 [](RecordedMessage const& m) { return m.sent >= 0 ? m.sent : m.received; });
        for (RecordedCollective& c : timeline_.collectives) std::ranges::sort(c.entries, {}, &CollectiveEntry::entry);
        std::ranges::stable_sort(timeline_.collectives, {},
                                 [](RecordedCollective const& c) { return c.entries.front().entry; });
        return std::move(timeline_);
    }

private:
    /// An event inside a call whose index is not known yet, and the place where that index will be stored.
    struct InnerEvent {
        std::int64_t time;
        std::uint32_t thread;
        std::uint8_t what;   ///< 0 sent, 1 received, 2 collective
        std::size_t at, entry;
    };

    void find_bounds() {
        if (recording_.ranks.empty()) return;
        timeline_.zero = std::ranges::min(recording_.ranks, {}, &RankRecording::started).started;
        std::int64_t end = timeline_.zero;
        for (RankRecording const& r : recording_.ranks) end = std::max(end, r.ended);
        timeline_.length = end - timeline_.zero;
    }

    void add_rank(RankRecording const& rank) {
        rank_ = &rank;
        RankTimeline line;
        line.rank = rank.rank;
        line.started = rank.started - timeline_.zero;
        line.ended = rank.ended - timeline_.zero;
        line.complete_from = rank.complete_from - timeline_.zero;
        pending_events_.clear();
        assigned_events_.clear();
        for (RecordedComm const& c : rank.comms) comm_of(c);
        for (TraceEvent const& e : rank.events) add_event(e, line);
        for (UnfinishedCall const& c : rank.unfinished) {
            RecordedCall& call = add_call(line, c.begin, rank.ended - c.begin, c.text, c.site, c.thread);
            call.waited = call.length;
            call.cause = WaitCause::never_ended;
            call.caused = call.length;
            call.description = c.description;
            assign_inner_events(line, call);
        }
        sort_calls(line);
        timeline_.ranks.push_back(std::move(line));
    }

    void add_event(TraceEvent const& e, RankTimeline& line) {
        switch (e.kind) {
        case TraceKind::none: return;
        case TraceKind::call: {
            RecordedCall& call = add_call(line, e.time, e.amount, e.text, e.where, static_cast<int>(e.thread));
            call.waited = e.waited;
            call.count = e.tag;
            return assign_inner_events(line, call);
        }
        case TraceKind::sent: return add_message(e, true);
        case TraceKind::received: return add_message(e, false);
        case TraceKind::collective: return add_collective(e);
        }
    }

    RecordedCall& add_call(RankTimeline& line, std::int64_t begin, std::int64_t length, int text, std::uint64_t site,
                           int thread) {
        RecordedCall& call = line.calls.emplace_back();
        call.begin = begin - timeline_.zero;
        call.length = length;
        call.name = names_(text_of(text));
        call.source_line = source_line_of(site);
        call.thread = thread;
        return call;
    }

    /// Assigns the thread's events since the start of the call to this call, which is the last of `line`.
    void assign_inner_events(RankTimeline const& line, RecordedCall const& call) {
        auto const index = static_cast<CallIndex>(line.calls.size()) - 1;
        std::erase_if(pending_events_, [&](InnerEvent const& e) {
            if (static_cast<int>(e.thread) != call.thread) return false;
            if (e.time >= call.begin) call_index_of(e) = index, assigned_events_.push_back(e);
            return true;
        });
    }
    CallIndex& call_index_of(InnerEvent const& e) {
        if (e.what == 2) return timeline_.collectives[e.at].entries[e.entry].call;
        RecordedMessage& m = timeline_.messages[e.at];
        return e.what == 0 ? m.send_call : m.receive_call;
    }

    /// Sorts the calls by start time and adjusts the indices; nested calls (in callbacks) were recorded before the
    /// outer call.
    void sort_calls(RankTimeline& line) {
        std::vector<std::size_t> order(line.calls.size());
        std::iota(order.begin(), order.end(), 0);
        if (std::ranges::is_sorted(line.calls, {}, &RecordedCall::begin)) return;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return line.calls[i].begin; });
        std::vector<CallIndex> new_index(order.size());
        std::vector<RecordedCall> sorted;
        for (std::size_t i = 0; i < order.size(); ++i) {
            new_index[order[i]] = static_cast<CallIndex>(i);
            sorted.push_back(std::move(line.calls[order[i]]));
        }
        line.calls = std::move(sorted);
        for (InnerEvent const& e : assigned_events_)
            call_index_of(e) = new_index[static_cast<std::size_t>(call_index_of(e))];
    }

    void add_message(TraceEvent const& e, bool sent) {
        int const dest = sent ? e.peer : rank_->rank;
        int const comm = comm_at(e.where);
        int const source = sent ? own_rank(e.where) : e.peer;
        auto const [found, fresh] =
            message_at_.try_emplace({e.where, e.waited, source, dest, e.tag}, timeline_.messages.size());
        if (fresh) timeline_.messages.emplace_back();
        RecordedMessage& m = timeline_.messages[found->second];
        std::int64_t const time = e.time - timeline_.zero;
        m.tag = e.tag;
        m.comm = comm;
        m.to = dest;
        m.bytes = e.amount;
        if (sent) {
            m.from = rank_->rank;
            m.sent = time;
        } else {
            m.received = time;
            m.receive_first = (e.flags & TraceEvent::receive_first) != 0;
            if (m.from < 0) m.from = member(m.comm, e.peer);
        }
        pending_events_.push_back({time, e.thread, static_cast<std::uint8_t>(sent ? 0 : 1), found->second, 0});
    }

    void add_collective(TraceEvent const& e) {
        auto const [found, fresh] = collective_at_.try_emplace({e.where, e.waited}, timeline_.collectives.size());
        if (fresh) {
            RecordedCollective& c = timeline_.collectives.emplace_back();
            c.comm = comm_at(e.where);
            c.number = e.waited;
            c.algorithm = algorithm_of(text_of(e.text));
            if (has_root(timeline_.algorithms[static_cast<std::size_t>(c.algorithm)].collective))
                c.root = member(c.comm, e.peer);
        }
        RecordedCollective& c = timeline_.collectives[found->second];
        c.bytes = std::max(c.bytes, e.amount);
        std::int64_t const time = e.time - timeline_.zero;
        c.entries.push_back({rank_->rank, time, -1});
        pending_events_.push_back({time, e.thread, 2, found->second, c.entries.size() - 1});
    }

    std::string const& text_of(int number) const {
        static std::string const unknown = "?";
        auto const at = static_cast<std::size_t>(number);
        return at < rank_->texts.size() ? rank_->texts[at] : unknown;
    }
    int source_line_of(std::uint64_t site) {
        auto const found =
            std::ranges::lower_bound(rank_->source_lines, site, {}, [](auto const& p) { return p.first; });
        return found == rank_->source_lines.end() || found->first != site ? 0 : source_lines_(found->second);
    }
    int algorithm_of(std::string const& text) {
        auto [found, fresh] = algorithm_at_.try_emplace(text, static_cast<int>(timeline_.algorithms.size()));
        if (fresh) timeline_.algorithms.push_back(parse_algorithm(text));
        return found->second;
    }
    int comm_of(RecordedComm const& comm) {
        auto [found, fresh] = comm_at_.try_emplace(comm.context, static_cast<int>(timeline_.comms.size()));
        if (fresh) timeline_.comms.push_back(comm);
        return found->second;
    }
    int comm_at(std::uint64_t context) { return comm_of({context, "", {}}); }
    int member(int comm, int rank) const {
        std::vector<int> const& members = timeline_.comms[static_cast<std::size_t>(comm)].members;
        return rank >= 0 && static_cast<std::size_t>(rank) < members.size() ? members[static_cast<std::size_t>(rank)]
                                                                            : -1;
    }
    int own_rank(std::uint64_t context) const {
        auto const found = std::ranges::find(rank_->comms, context, &RecordedComm::context);
        return found == rank_->comms.end() ? -1 : found->rank;
    }

    Recording const& recording_;
    RankRecording const* rank_ = nullptr;
    Timeline timeline_;
    Numbering names_{timeline_.names}, source_lines_{timeline_.source_lines};
    std::unordered_map<std::string, int> algorithm_at_;
    std::unordered_map<std::uint64_t, int> comm_at_;
    std::unordered_map<MessageKey, std::size_t, HashOfKey> message_at_;
    std::unordered_map<CollectiveKey, std::size_t, HashOfKey> collective_at_;
    /// events of the rank: those whose call has not ended yet, and all others
    std::vector<InnerEvent> pending_events_, assigned_events_;
};

}   // namespace

Timeline timeline_of(Recording const& recording) { return TimelineBuilder(recording).run(); }

RankTimeline const* Timeline::rank_timeline(int rank) const {
    auto const found = std::ranges::lower_bound(ranks, rank, {}, &RankTimeline::rank);
    return found == ranks.end() || found->rank != rank ? nullptr : &*found;
}

RecordedCall const* Timeline::call(int rank, CallIndex index) const {
    RankTimeline const* const line = rank_timeline(rank);
    if (!line || index < 0 || index >= static_cast<CallIndex>(line->calls.size())) return nullptr;
    return &line->calls[static_cast<std::size_t>(index)];
}

}   // namespace tutti::launcher
