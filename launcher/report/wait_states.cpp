// SPDX-License-Identifier: BSD-3-Clause
// Wait states as defined by Wolf and Mohr (Automatic performance analysis of hybrid MPI/OpenMP applications, Journal
// of Systems Architecture 49, 2003): a call waits because of the rank that enters the matching call last.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "launcher/report/timeline.hpp"

namespace tutti::launcher {
namespace {

/// Shorter waits are of the order of the cost of one poll.
constexpr std::int64_t min_wait_ns = 500;

struct CauseText {
    std::string_view name, meaning, advice;
};

constexpr std::array<CauseText, static_cast<std::size_t>(WaitCause::last) + 1> cause_texts{{
    {"", "", ""},
    {"late sender", "A receive waited for a message that was sent late.",
     "Send earlier, for instance with MPI_Isend before computation that does not have to come first, or give the late "
     "rank less work."},
    {"late receiver", "A send waited for its receive.",
     "Post the receive earlier with MPI_Irecv, or send with MPI_Isend and complete it after other work."},
    {"wait at barrier", "Ranks that arrived early waited for the last one.",
     "Give that rank less work, or check whether the barrier is needed: most programs are correct without it."},
    {"wait at collective", "All ranks need data of all ranks, so all wait for the last one.",
     "Give that rank less work, or start the operation early in its nonblocking form (MPI_Iallreduce and so on) and "
     "compute meanwhile."},
    {"late broadcast", "The other ranks waited for the data of a root that arrived late.",
     "Call the operation at the root before its own work, or use the nonblocking form (MPI_Ibcast)."},
    {"early reduce", "The root waited for the data of ranks that arrived late.",
     "Do other work at the root first, or use the nonblocking form (MPI_Ireduce)."},
    {"early scan", "A rank needs the data of the ranks before it, which arrived late.",
     "Balance the work, or use the nonblocking form (MPI_Iscan)."},
    {"never ended", "The call had not returned when the job ended.",
     "See the errors above, and the ranks that it waited for."},
    {"under way", "No rank was late: the message or the operation itself took this time, or a rank had no core.",
     "Send fewer and larger messages, or use at least as many cores as ranks."},
}};

class WaitClassifier {
public:
    explicit WaitClassifier(Timeline& timeline) : timeline_(timeline) {
        for (RankTimeline& line : timeline_.ranks) by_rank_[line.rank] = &line;
    }

    void run() {
        late_senders();
        late_receivers();
        for (RecordedCollective const& c : timeline_.collectives) classify(c);
        finalize();
        for (RankTimeline& line : timeline_.ranks)
            for (RecordedCall& call : line.calls)
                if (call.cause == WaitCause::none && call.waited >= min_wait_ns) {
                    call.cause = WaitCause::other;
                    call.caused = call.waited;
                }
    }

private:
    RecordedCall* call(int rank, CallIndex index) {
        auto const line = by_rank_.find(rank);
        if (line == by_rank_.end() || index < 0) return nullptr;
        auto const at = static_cast<std::size_t>(index);
        return at < line->second->calls.size() ? &line->second->calls[at] : nullptr;
    }

    /// Blames a rank for a call's wait, unless a longer cause is known. `late_at`: when the operation that the call
    /// waited for was begun.
    static void attribute_wait(RecordedCall& call, WaitCause cause, std::int64_t late_at, int culprit,
                               int source_line) {
        if (call.cause == WaitCause::never_ended) return;
        std::int64_t const caused = std::min({late_at - call.begin, call.length, call.waited});
        if (caused < min_wait_ns || caused <= call.caused) return;
        call.cause = cause;
        call.caused = caused;
        call.culprit = culprit;
        call.culprit_line = source_line;
    }
    int source_line_of(int rank, CallIndex index) {
        RecordedCall const* const c = call(rank, index);
        return c ? c->source_line : 0;
    }

    void late_senders() {
        for (RecordedMessage const& m : timeline_.messages)
            if (RecordedCall* const receive = call(m.to, m.receive_call); receive && m.sent >= 0)
                attribute_wait(*receive, WaitCause::late_sender, m.sent, m.from, source_line_of(m.from, m.send_call));
    }

    /// Finds sends that waited for their receives: the message arrived before the receive was posted, and the sender
    /// waited in the call of the send itself or in a later one (MPI_Wait).
    void late_receivers() {
        for (RecordedMessage const& m : timeline_.messages) {
            if (m.sent < 0 || m.received < 0 || m.receive_first) continue;
            RecordedCall* waiting = call(m.from, m.send_call);
            if (waiting && waiting->end() < m.received) waiting = completing_call(m.from, m.received);
            if (waiting)
                attribute_wait(*waiting, WaitCause::late_receiver, m.received, m.to,
                               source_line_of(m.to, m.receive_call));
        }
    }
    /// Returns the call of MPI_Wait or the like in which a rank was at that time; null if there was none.
    RecordedCall* completing_call(int rank, std::int64_t time) {
        auto& calls = by_rank_.at(rank)->calls;
        auto after = std::ranges::upper_bound(calls, time, {}, &RecordedCall::begin);
        if (after == calls.begin()) return nullptr;
        RecordedCall& before = *(after - 1);
        std::string const& name = timeline_.names[static_cast<std::size_t>(before.name)];
        return before.end() >= time && name.starts_with("MPI_Wait") ? &before : nullptr;
    }

    void classify(RecordedCollective const& c) {
        std::string const& kind = timeline_.algorithms[static_cast<std::size_t>(c.algorithm)].collective;
        if (kind == "bcast" || kind == "scatter") return late_root(c);
        if (kind == "reduce" || kind == "gather") return early_root(c);
        if (kind == "scan" || kind == "exscan") return early_scan(c);
        bool const barrier = kind == "barrier";
        if (kind.starts_with("neighbor")) return;   // ranks that are not neighbors do not wait for each other
        CollectiveEntry const& last = c.entries.back();
        for (CollectiveEntry const& e : c.entries)
            if (RecordedCall* const waiting = call(e.rank, e.call); waiting && e.rank != last.rank)
                attribute_wait(*waiting, barrier ? WaitCause::wait_at_barrier : WaitCause::wait_at_collective,
                               last.entry, last.rank, source_line_of(last.rank, last.call));
    }
    void late_root(RecordedCollective const& c) {
        auto const root = std::ranges::find(c.entries, c.root, &CollectiveEntry::rank);
        if (root == c.entries.end()) return;
        for (CollectiveEntry const& e : c.entries)
            if (RecordedCall* const waiting = call(e.rank, e.call); waiting && e.rank != c.root)
                attribute_wait(*waiting, WaitCause::late_broadcast, root->entry, c.root,
                               source_line_of(c.root, root->call));
    }
    void early_root(RecordedCollective const& c) {
        auto const root = std::ranges::find(c.entries, c.root, &CollectiveEntry::rank);
        CollectiveEntry const& last = c.entries.back();
        if (root == c.entries.end() || last.rank == c.root) return;
        if (RecordedCall* const waiting = call(c.root, root->call))
            attribute_wait(*waiting, WaitCause::early_reduce, last.entry, last.rank,
                           source_line_of(last.rank, last.call));
    }
    /// Uses world ranks as ranks of the communicator; if their order differs, the wrong rank may be blamed.
    void early_scan(RecordedCollective const& c) {
        for (CollectiveEntry const& e : c.entries) {
            CollectiveEntry const* last = nullptr;
            for (CollectiveEntry const& other : c.entries)
                if (other.rank < e.rank) last = &other;   // in the order of time
            RecordedCall* const waiting = call(e.rank, e.call);
            if (waiting && last)
                attribute_wait(*waiting, WaitCause::early_scan, last->entry, last->rank,
                               source_line_of(last->rank, last->call));
        }
    }

    /// All ranks leave MPI_Finalize together.
    void finalize() {
        RecordedCall* last = nullptr;
        int last_rank = -1;
        std::vector<RecordedCall*> all;
        for (RankTimeline& line : timeline_.ranks) {
            if (line.calls.empty()) continue;
            RecordedCall& c = line.calls.back();
            if (timeline_.names[static_cast<std::size_t>(c.name)] != "MPI_Finalize") continue;
            all.push_back(&c);
            if (!last || c.begin > last->begin) last = &c, last_rank = line.rank;
        }
        if (all.size() != timeline_.ranks.size()) return;
        for (RecordedCall* c : all)
            if (c != last) attribute_wait(*c, WaitCause::wait_at_barrier, last->begin, last_rank, last->source_line);
    }

    Timeline& timeline_;
    std::unordered_map<int, RankTimeline*> by_rank_;
};

}   // namespace

void classify_waits(Timeline& timeline) { WaitClassifier(timeline).run(); }

std::string_view name_of(WaitCause cause) { return cause_texts[static_cast<std::size_t>(cause)].name; }

std::string_view meaning_of(WaitCause cause) { return cause_texts[static_cast<std::size_t>(cause)].meaning; }

std::string_view advice_for(WaitCause cause, bool oversubscribed) {
    if (!oversubscribed || cause == WaitCause::none || cause == WaitCause::never_ended)
        return cause_texts[static_cast<std::size_t>(cause)].advice;
    if (cause == WaitCause::other)
        return "This rank, or a rank that its message or operation needs, had no core. Fewer and larger messages need "
               "fewer turns on a core.";
    return "The late rank mostly had no core, so giving it less work changes little. Fewer points at which ranks wait "
           "for each other need fewer turns on a core.";
}

}   // namespace tutti::launcher
