// SPDX-License-Identifier: BSD-3-Clause
// Reports as text and JSON, and the positions of calls in them. Data in LastCall and Diagnostic was written by ranks:
// lengths are bounded and texts are checked before use.
#include "launcher/diagnosis/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/diagnosis/deadlock.hpp"
#include "launcher/diagnosis/source_lines.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

char const* help_for(int signal, bool position_known) {
    switch (signal) {
    case 0: return "every rank must call MPI_Finalize before it ends; call MPI_Abort to end the job early";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return position_known ? "check that line for an invalid pointer, an index out of bounds or a division by zero; "
                                "compile with -fsanitize=address to learn more"
                              : "the program failed in that call or after it; use a debugger or compile with "
                                "-fsanitize=address to find the position";
    default:
        return "the signal came from outside the program: from a user, or from the system because memory or time ran "
               "out";
    }
}

}   // namespace

static SourcePosition position_in_program(LastCall const& call, std::uint64_t address) {
    return position_in_program(call, std::span(&address, 1));
}

SourcePosition position_of(LastCall const& call) {
    return position_in_program(call, reinterpret_cast<std::uintptr_t>(call.site));
}

// SourceLines expects return addresses, and looks up the byte before them.
SourcePosition crash_position(LastCall const& call) {
    return call.crash ? position_in_program(call, call.crash + 1) : SourcePosition{};
}

static constexpr std::size_t max_processes = 8;   // maximum number of notes about processes

/// Returns "were killed" for "was killed".
static std::string in_plural(std::string const& description) {
    return description.starts_with("was ") ? "were " + description.substr(4) : description;
}

void ExitedRank::locate(LastCall const& call) {
    function = call.function.name();
    last_call = position_of(call);
    crash = crash_position(call);
}

static ReportLine line_about(ExitedRank const& one) {
    if (one.crash.text.empty()) {
        if (one.function.empty()) return {{one.rank}, "its last MPI call is not known", "", ""};
        return {{one.rank}, one.function, one.last_call.text, "was its last MPI call"};
    }
    std::string const at = one.last_call.text.empty() ? "" : " at " + one.last_call.text;
    return {{one.rank}, "crashed", one.crash.text, one.function.empty() ? "" : join("after ", one.function, at)};
}

/// Adds a line about each rank that waits for one of `ends`; `waiting` may be older than the last of them.
static void add_awaiting_ranks(Report& report, std::vector<ExitedRank> const& ends,
                               std::vector<BlockedRank> const& waiting) {
    for (BlockedRank const& one : waiting) {
        auto const awaited =
            std::ranges::find_if(ends, [&](ExitedRank const& end) { return awaits(one.wait, end.rank); });
        if (awaited == ends.end() || std::ranges::find(ends, one.rank, &ExitedRank::rank) != ends.end()) continue;
        report.lines.push_back({{one.rank}, one.call, one.position.text, join("waiting for rank ", awaited->rank)});
    }
}

Report make_exit_report(std::vector<ExitedRank> ends, std::vector<BlockedRank> const& waiting) {
    Report report{.code = "T09", .headline = {}, .lines = {}, .help = {}};
    std::vector<int> ranks;
    std::ranges::sort(ends, {}, &ExitedRank::rank);
    bool all_known = true, without_g = false;
    for (ExitedRank const& one : ends) {
        ranks.push_back(one.rank);
        report.lines.push_back(line_about(one));
        all_known &= !one.crash.text.empty();
        if (!one.process.empty() && report.notes.size() < max_processes)
            report.notes.push_back(ends.size() == 1 ? one.process : join("rank ", one.rank, ": ", one.process));
        without_g |= one.last_call.without_g || one.crash.without_g;
    }
    if (without_g) report.add_note(compile_with_g_note);
    ExitedRank const& first = ends.front();
    report.headline =
        join(describe_ranks(ranks), " ", ends.size() == 1 ? first.description : in_plural(first.description));
    if (first.after_finalize) report.headline += ", after MPI_Finalize";
    report.help = first.after_finalize ? "the program fails after MPI_Finalize: in its own clean-up, or in destructors"
                                       : help_for(first.signal, all_known);
    add_awaiting_ranks(report, ends, waiting);
    return report;
}

namespace {

constexpr std::size_t max_groups = 12, groups_listed = 8, max_callers = 3;

/// Merges ranks that make the same call at the same place into one line. Lines are ordered by their lowest ranks.
std::vector<ReportLine> grouped(std::vector<ReportLine> const& lines) {
    std::vector<ReportLine> groups;
    std::map<std::string, std::size_t> known;
    for (ReportLine const& line : lines) {
        auto const [at, fresh] =
            known.try_emplace(join(line.call, "\n", line.position, "\n", line.remark), groups.size());
        if (fresh) groups.push_back(line);
        else groups[at->second].ranks.insert(groups[at->second].ranks.end(), line.ranks.begin(), line.ranks.end());
    }
    for (ReportLine& group : groups) {
        std::ranges::sort(group.ranks);
        auto const repeated = std::ranges::unique(group.ranks);
        group.ranks.erase(repeated.begin(), repeated.end());
    }
    std::ranges::stable_sort(groups, {}, [](ReportLine const& group) { return group.ranks.front(); });
    return groups;
}

/// Returns the number of UTF-8 characters: names of communicators may contain any.
std::size_t columns(std::string const& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Pads `text` to a column of this width; wider text is left unchanged.
std::string padded(std::string const& text, std::size_t width) {
    std::size_t const wide = columns(text);
    return wide < width ? text + std::string(width - wide, ' ') : text;
}

}   // namespace

std::string table_of(std::vector<ReportLine> const& lines) {
    std::vector<ReportLine> groups = grouped(lines);
    std::size_t more = 0;
    if (groups.size() > max_groups) {
        for (std::size_t i = groups_listed; i < groups.size(); ++i) more += groups[i].ranks.size();
        groups.resize(groups_listed);
    }
    std::size_t who = 0, call = 0;
    for (ReportLine const& line : groups) {
        who = std::max(who, describe_ranks(line.ranks).size());
        call = std::max(call, columns(line.call));
    }
    std::string text;
    for (ReportLine const& line : groups) {
        std::string row = join("  ", padded(describe_ranks(line.ranks), who), "  ");
        row += line.position.empty() && line.remark.empty() ? line.call
                                                            : padded(line.call, std::min<std::size_t>(call, 72));
        if (!line.position.empty()) row += "  " + line.position;
        if (!line.remark.empty()) row += "  " + line.remark;
        text += row + "\n";
    }
    if (more > 0) text += join("  and ", more, " more ranks in similar calls\n");
    return text;
}

bool is_mpi(SourceLine const& line) {
    return line.module.starts_with("libmpi") || line.function.starts_with("MPI_") || line.function.starts_with("mpi_");
}

bool is_system(SourceLine const& line) {
    constexpr std::string_view libraries[] = {"libc.so", "libpthread.so", "libstdc++.so", "libgomp.so",
                                              "libm.so", "librt.so",      "ld-linux",     "libtutti_malloc"};
    return line.module.empty() || line.file.starts_with("/usr/") ||
           std::ranges::any_of(libraries, [&](std::string_view name) { return line.module.starts_with(name); });
}

namespace {

/// Returns ", called from main.c:30" for a wrapper around an MPI function that is in a file of its own and called from
/// many places. Empty if its caller is in the same file, or not known.
std::string describe_caller(SourceLines& lines, SourceLine const& callee, std::span<std::uint64_t const> callers) {
    if (!callee.has_line() || callee.function.starts_with("main")) return {};
    for (std::uint64_t address : callers.first(std::min(callers.size(), max_callers))) {
        SourceLine const line = lines.at(address);
        if (is_system(line)) return {};
        if (line.has_line() && line.file != callee.file)
            return join(", called from ", line.file.substr(line.file.rfind('/') + 1), ":", line.line);
    }
    return {};
}

}   // namespace

std::string describe_ranks(std::vector<int> const& ranks) {
    if (ranks.size() == 2) return join("ranks ", ranks[0], " and ", ranks[1]);
    return rank_ranges(ranks);
}

std::string text_of(Report const& report, bool colour) {
    char const *const red = colour ? "\033[1;31m" : "", *const yellow = colour ? "\033[1;33m" : "",
                      *const bold = colour ? "\033[1m" : "", *const plain = colour ? "\033[0m" : "";
    bool const error = report.severity == Report::Severity::error;
    std::string text = join(error ? red : yellow, error ? "error[" : "warning[", report.code, "]", plain, bold, " ",
                            report.headline, plain, "\n");
    text += table_of(report.lines);
    if (!report.help.empty()) text += join("  ", bold, "help:", plain, " ", report.help, "\n");
    for (std::string const& note : report.notes) text += join("  note: ", note, "\n");
    return text + join("  For details, run: mpiexec --explain ", report.code, "\n");
}

static nlohmann::ordered_json json_lines(std::vector<ReportLine> const& lines) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (ReportLine const& line : grouped(lines))
        all.push_back({{"ranks", line.ranks}, {"call", line.call}, {"place", line.position}, {"remark", line.remark}});
    return all;
}

std::string json_of(Report const& report) {
    nlohmann::ordered_json const all{
        {"code", report.code},         {"severity", report.severity == Report::Severity::error ? "error" : "warning"},
        {"headline", report.headline}, {"ranks", json_lines(report.lines)},
        {"help", report.help},         {"notes", report.notes}};
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string json_of(std::vector<ReportLine> const& waiting) {
    nlohmann::ordered_json const all{{"waiting", json_lines(waiting)}};
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Returns the position of the innermost call of an MPI function. Addresses that `lines` does not know are skipped.
static SourcePosition position_in(SourceLines& lines, std::span<std::uint64_t const> stack) {
    for (std::size_t i = 0; i < stack.size(); ++i) {
        SourceLine const line = lines.at(stack[i]);
        if (line.module.empty() || is_mpi(line)) continue;
        return {describe(line) + describe_caller(lines, line, stack.subspan(i + 1)), !line.compiled_with_g};
    }
    SourceLine const innermost = stack.empty() ? SourceLine() : lines.at(stack.front());
    if (innermost.module.empty() || innermost.module.starts_with("libmpi")) return {};
    return {describe(innermost), !innermost.compiled_with_g};
}

SourcePosition position_of(pid_t process, std::vector<std::uint64_t> const& stack, LineCache* cache) {
    if (stack.empty()) return {};
    SourceLines lines(process, cache);
    return position_in(lines, stack);
}

SourcePosition position_in_program(LastCall const& call, std::span<std::uint64_t const> stack) {
    std::string const file = text_in(call.program_file);
    if (file.empty()) return {};
    SourceLines lines(file, call.program, call.program_end);
    return position_in(lines, stack);
}

void locate(BlockedRank& blocked, pid_t process, LineCache* cache) {
    if (blocked.position.text.empty()) blocked.position = position_of(process, blocked.stack, cache);
    for (BlockedRank& other : blocked.other_threads) locate(other, process, cache);
}

/// Bounds the count, which another process has written.
static std::span<Diagnostic::Location const> places_in(Diagnostic const& diagnostic) {
    return std::span(diagnostic.location).first(std::min<std::size_t>(diagnostic.locations, Diagnostic::max_locations));
}

/// Two ranks may find the same error, each at its own call. Returns the line at which this rank found it in `call`, as
/// its interpreter reports it; empty if there is none.
static std::string found_script(RankState const& rank_state, std::string_view call) {
    if (rank_state.diagnostic.kind.load(std::memory_order_acquire) != Diagnostic::Kind::error) return {};
    for (Diagnostic::Location const& one : places_in(rank_state.diagnostic))
        if (one.rank == rank_state.world_rank && text_in(one.call.text) == call) return text_in(one.call.script);
    return {};
}

/// Returns the position of a call that has returned. Uses the program recorded in LastCall if the process has ended
/// since.
static SourcePosition returned_position(RankState const& rank_state, pid_t process,
                                        std::vector<std::uint64_t> const& stack, LineCache* cache) {
    SourcePosition const position = position_of(process, stack, cache);
    return position.text.empty() ? position_in_program(rank_state.last_call, stack) : position;
}

SourcePosition recorded_position(RankState const& rank_state, pid_t process, LocatedCall const& call,
                                 LineCache* cache) {
    std::vector<std::uint64_t> const& stack = call.stack;
    if (std::string const script = found_script(rank_state, call.call); !script.empty()) return {script};
    auto const blocked = stack.empty() ? std::nullopt : read_blocked(rank_state);
    if (!blocked) return returned_position(rank_state, process, stack, cache);
    auto const name = [](std::string_view text) { return text.substr(0, text.find('(')); };
    auto const is_in_call = [&](BlockedRank const& thread) {
        return std::ranges::mismatch(stack, thread.stack).in1 == stack.end() &&
               (thread.position.text.empty() || call.call.empty() || name(thread.call) == name(call.call));
    };
    auto const position = [&](BlockedRank const& thread) {
        return thread.position.text.empty() ? position_of(process, thread.stack, cache) : thread.position;
    };
    auto const other = std::ranges::find_if(blocked->other_threads, is_in_call);
    return is_in_call(*blocked)                    ? position(*blocked)
           : other != blocked->other_threads.end() ? position(*other)
           : blocked->position.text.empty()        ? position_of(process, stack, cache)
                                                   : SourcePosition{};
}

bool has_all_positions(Diagnostic const& diagnostic, RankStateOf const& state_of) {
    return std::ranges::none_of(places_in(diagnostic), [&](Diagnostic::Location const& one) {
        RankState const* const rank = one.call.addresses == 0 ? nullptr : state_of(one.rank);
        return rank && rank->state.load(std::memory_order_acquire) == RankPhase::initialised &&
               rank->diagnostic.kind.load(std::memory_order_acquire) != Diagnostic::Kind::error && !read_blocked(*rank);
    });
}

void Warnings::add(Report const& report) {
    auto const same = std::ranges::find_if(
        all_, [&](Report const& one) { return one.code == report.code && one.headline == report.headline; });
    if (same == all_.end()) {
        if (all_.size() < max_reports) all_.push_back(report);
        return;
    }
    for (ReportLine const& line : report.lines)
        if (same->lines.size() < max_lines) same->lines.push_back(line);
    for (std::string const& note : report.notes) same->add_note(note);
}

void Report::add(LocatedCall const& call, std::string remark) {
    lines.push_back({{call.rank}, call.call, call.position.text, std::move(remark)});
    if (call.position.without_g) add_note(compile_with_g_note);
}

void Report::add_note(std::string const& note) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
}

Report make_report(Diagnostic const& diagnostic, FindPosition const& find_position) {
    ErrorText const error = read_error(diagnostic.error);
    Report report{.code = error.code, .headline = error.headline, .lines = {}, .help = error.help};
    if (diagnostic.kind.load(std::memory_order_relaxed) == Diagnostic::Kind::warning)
        report.severity = Report::Severity::warning;
    for (Diagnostic::Location const& one : places_in(diagnostic)) {
        LocatedCall call = read_call(one.call, one.rank);
        if (call.position.text.empty()) call.position = find_position(call);
        report.add(call, text_in(one.remark));
        if (call.position.text.empty()) report.lines.back().stack = std::move(call.stack);
    }
    std::ranges::sort(report.lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    return report;
}

}   // namespace tutti::launcher
