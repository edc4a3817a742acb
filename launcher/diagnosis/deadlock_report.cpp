// SPDX-License-Identifier: BSD-3-Clause
// The text of reports about deadlocks and about jobs without progress: which ranks are the cause, what each of them
// does, and the usual remedy.
#include <algorithm>

#include "launcher/diagnosis/report.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

BlockedRank const& blocked_rank(ProvenDeadlock const& deadlock, int rank) {
    return *std::ranges::find(deadlock.blocked, rank, &BlockedRank::rank);
}

bool sends(CallKind kind) { return kind == CallKind::send || kind == CallKind::standard_send; }
/// Includes calls that probe for a message, such as MPI_Probe.
bool receives(CallKind kind) { return kind == CallKind::receive || kind == CallKind::probe; }
bool probes(CallKind kind) { return kind == CallKind::probe; }
bool is_no_message(CallKind kind) { return !is_message(kind); }

/// Returns true if `what` holds for each waiting thread of these ranks.
bool all_of(ProvenDeadlock const& deadlock, std::vector<int> const& ranks, bool (*what)(CallKind kind)) {
    return std::ranges::all_of(ranks, [&](int rank) {
        BlockedRank const& blocked = blocked_rank(deadlock, rank);
        return what(blocked.kind) &&
               std::ranges::all_of(blocked.other_threads, [what](BlockedRank const& one) { return what(one.kind); });
    });
}

/// Returns the ended ranks that a core waits for; empty if it waits for itself.
std::vector<int> awaited_ended_ranks(ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    std::vector<int> ended;
    for (int rank : deadlock.ended)
        if (std::ranges::any_of(core, [&](int waiting) { return awaits(blocked_rank(deadlock, waiting).wait, rank); }))
            ended.push_back(rank);
    return ended;
}

/// Returns a blocked rank of the core that has detected an error itself, or null. Such an error is more informative
/// than the wait.
BlockedRank const* rank_with_error(ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    for (int rank : core) {
        BlockedRank const& blocked = blocked_rank(deadlock, rank);
        // An error that concerns another rank counts only if that rank waits for this one.
        auto const holds = [&](BlockedRank const& one) {
            if (one.error.code.empty() || one.waiting_rank < 0) return !one.error.code.empty();
            auto const other = std::ranges::find(deadlock.blocked, one.waiting_rank, &BlockedRank::rank);
            return other != deadlock.blocked.end() && awaits(other->wait, rank);
        };
        if (holds(blocked)) return &blocked;
        auto const other = std::ranges::find_if(blocked.other_threads, holds);
        if (other != blocked.other_threads.end()) return &*other;
    }
    return nullptr;
}

/// Adds a hint that may help but is not certain. One rank's hint is enough, because it is usually the same for all.
void add_hint(Report& report, ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    for (int rank : core) {
        BlockedRank const& one = blocked_rank(deadlock, rank);
        if (!one.error.code.empty() || one.error.help.empty()) continue;
        report.notes.push_back(join("at rank ", rank, " ", one.error.help));
        return;
    }
}

/// Returns the rule that the ended ranks have broken.
char const* broken_rule(ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    if (all_of(deadlock, core, sends)) return "every send needs its receive";
    if (all_of(deadlock, core, receives)) return "every receive needs its send";
    if (all_of(deadlock, core, is_no_message)) return "all ranks of a communicator make the same collective calls";
    return "each send needs its receive and each receive its send, and all ranks make the same collective calls";
}

void describe_ended_ranks(Report& report, ProvenDeadlock const& deadlock, std::vector<int> const& core,
                          std::vector<int> const& ended, char const* how) {
    report.code = "T05";
    report.headline = join("deadlock: ", describe_ranks(core), core.size() == 1 ? " waits" : " wait", " for ",
                           describe_ranks(ended), ended.size() == 1 ? ", which has " : ", which have ", how);
    report.help = broken_rule(deadlock, core);
}

std::vector<int> without(std::vector<int> ranks, std::vector<int> const& others) {
    std::erase_if(ranks, [&](int rank) { return std::ranges::binary_search(others, rank); });
    return ranks;
}

/// Returns the ranks of the core that are already in MPI_Finalize, which returns only when all ranks have called it.
std::vector<int> finalizing_ranks(ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    std::vector<int> ranks;
    for (int rank : core)
        if (blocked_rank(deadlock, rank).call.starts_with("MPI_Finalize(")) ranks.push_back(rank);
    return ranks;
}

/// States that the program may work without --check, where that is so.
void describe_effect_of_check(Report& report, ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    // Sends in other modes wait for their receives in any case.
    auto const sends = [&](int rank) { return blocked_rank(deadlock, rank).kind == CallKind::standard_send; };
    if (std::ranges::all_of(core, sends) && report.code == "T01" && core.size() == 1)
        report.help =
            "works only as long as the message is small: a send may wait for its receive, so begin the receive first "
            "(MPI_Irecv), or use MPI_Sendrecv";
    else if (std::ranges::all_of(core, sends) && report.code == "T01")
        report.help =
            "works only as long as the messages are small: all send first, and a send may wait for its receive; let "
            "some receive first, or use MPI_Sendrecv or MPI_Isend";
    else if (std::ranges::any_of(core, sends))
        report.notes.emplace_back(
            "with --check every send waits for its receive, as MPI allows; without it this one may wait only when "
            "the message is large");
}

void describe_cycle(Report& report, ProvenDeadlock const& deadlock, std::vector<int> const& core) {
    report.code = "T01";
    report.headline = core.size() == 1 ? join("deadlock: rank ", core[0], " waits for itself")
                                       : join("deadlock: ", describe_ranks(core), " wait for each other");
    if (core.size() == 1 && (all_of(deadlock, core, sends) || all_of(deadlock, core, receives))) {
        report.help =
            "a rank that sends to itself starts the receive, or the send, with MPI_Irecv or MPI_Isend before it waits "
            "for the other one";
    } else if (all_of(deadlock, core, sends)) {
        report.help =
            "all send first, and a large or synchronous send waits for its receive: let some receive first, or "
            "use MPI_Sendrecv or MPI_Isend";
    } else if (all_of(deadlock, core, receives)) {
        report.help = join(all_of(deadlock, core, probes) ? "all wait for a message first" : "all receive first",
                           ": let one of them send first, or use MPI_Sendrecv or MPI_Irecv");
    } else if (all_of(deadlock, core, is_no_message)) {
        report.help =
            "all members of a communicator must make its collective calls in the same order, and ranks that belong "
            "to two communicators or windows must use both in the same order";
    } else {
        report.help =
            "each rank waits for a call that another one would make next: reorder the calls of these ranks so that "
            "one of them can proceed";
    }
}

}   // namespace

Report make_report(ProvenDeadlock const& deadlock, bool checked) {
    std::vector<int> const& core = deadlock.ranks.cores.front();
    Report report;
    if (std::vector<int> const ended = awaited_ended_ranks(deadlock, core); !ended.empty())
        describe_ended_ranks(report, deadlock, core, ended, "ended");
    else if (std::vector<int> const last = finalizing_ranks(deadlock, core); !last.empty() && last.size() < core.size())
        describe_ended_ranks(report, deadlock, without(core, last), last, "called MPI_Finalize");
    else describe_cycle(report, deadlock, core);
    if (BlockedRank const* blocked = rank_with_error(deadlock, core)) {
        report.code = blocked->error.code;
        report.headline = join("deadlock: rank ", blocked->rank, " ", blocked->error.headline);
        report.help = blocked->error.help;
    }
    add_hint(report, deadlock, core);
    if (checked) describe_effect_of_check(report, deadlock, core);
    auto const add_thread = [&](BlockedRank const& blocked, char const* remark) {
        // A collective names only one of the ranks that it waits for; ranks in the same call are in the same situation.
        bool const same_as_core =
            !is_message(blocked.kind) && std::ranges::any_of(report.lines, [&](ReportLine const& line) {
                return line.call == blocked.call && line.position == blocked.position.text && line.remark.empty();
            });
        report.add(blocked, same_as_core ? "" : remark);
    };
    auto const add = [&](std::vector<int> const& ranks, char const* remark) {
        for (BlockedRank const& blocked : deadlock.blocked) {
            if (!std::ranges::binary_search(ranks, blocked.rank)) continue;
            add_thread(blocked, remark);
            for (BlockedRank const& other : blocked.other_threads) add_thread(other, remark);
        }
    };
    for (std::vector<int> const& one : deadlock.ranks.cores) add(one, "");
    add(deadlock.ranks.dependents, "(waits for them)");
    return report;
}

Report make_stall_report(std::vector<BlockedRank> const& blocked, std::chrono::seconds limit) {
    std::vector<int> polling;
    for (BlockedRank const& one : blocked)
        if (one.polling_s >= 0) polling.push_back(one.rank);
    std::ranges::sort(polling);
    Report report{.code = "T19",
                  .headline = join("no rank has made progress for ", limit.count(), " s: ", describe_ranks(polling),
                                   polling.size() == 1 ? " polls" : " poll", " without progress"),
                  .lines = waiting_lines(blocked),
                  .help =
                      "check that the awaited message is sent at all, with this tag and communicator; "
                      "the job continues",
                  .severity = Report::Severity::warning};
    std::ranges::sort(report.lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    return report;
}

std::vector<ReportLine> waiting_lines(std::vector<BlockedRank> const& blocked) {
    std::vector<ReportLine> lines;
    for (BlockedRank const& one : blocked) {
        std::string const polls = one.polling_s < 0 ? "" : join("polls without progress for ", one.polling_s, " s");
        lines.push_back({{one.rank}, one.call, one.position.text, polls});
        for (BlockedRank const& other : one.other_threads)
            lines.push_back({{other.rank}, other.call, other.position.text});
    }
    return lines;
}

}   // namespace tutti::launcher
