// SPDX-License-Identifier: BSD-3-Clause
// A report as text.
#include "launcher/diagnosis/report.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "launcher/base/words.hpp"
#include "launcher/diagnosis/rank_end.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t most_groups = 12, told_of_many = 8, most_callers = 3;

/// Ranks that do the same at the same place are one line; the order is that of their lowest ranks.
std::vector<ReportLine> grouped(std::vector<ReportLine> const& lines) {
    std::vector<ReportLine> groups;
    std::map<std::string, std::size_t> known;
    for (ReportLine const& line : lines) {
        auto const [at, fresh] = known.try_emplace(join(line.call, "\n", line.place, "\n", line.remark), groups.size());
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

/// Characters of UTF-8, which names of communicators may have.
std::size_t columns(std::string const& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Columns, as long as one of them is not absurdly wide.
std::string padded(std::string const& text, std::size_t width) {
    std::size_t const wide = columns(text);
    return wide < width ? text + std::string(width - wide, ' ') : text;
}

}   // namespace

std::string table_of(std::vector<ReportLine> const& lines) {
    std::vector<ReportLine> groups = grouped(lines);
    std::size_t more = 0;
    if (groups.size() > most_groups) {
        for (std::size_t i = told_of_many; i < groups.size(); ++i) more += groups[i].ranks.size();
        groups.resize(told_of_many);
    }
    std::size_t who = 0, call = 0;
    for (ReportLine const& line : groups) {
        who = std::max(who, rank_words(line.ranks).size());
        call = std::max(call, columns(line.call));
    }
    std::string text;
    for (ReportLine const& line : groups) {
        std::string row = join("  ", padded(rank_words(line.ranks), who), "  ");
        row +=
            line.place.empty() && line.remark.empty() ? line.call : padded(line.call, std::min<std::size_t>(call, 72));
        if (!line.place.empty()) row += "  " + line.place;
        if (!line.remark.empty()) row += "  " + line.remark;
        text += row + "\n";
    }
    if (more > 0) text += join("  and ", more, " more ranks in the same way\n");
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

/// A function around MPI's, in a file of its own, is called from many places: from which, ", called from main.c:30".
/// Empty where its caller is in the same file, or not known.
std::string caller_words(SourceLines& lines, SourceLine const& callee, std::span<std::uint64_t const> callers) {
    if (!callee.has_line() || callee.function.starts_with("main")) return {};
    for (std::uint64_t address : callers.first(std::min(callers.size(), most_callers))) {
        SourceLine const line = lines.at(address);
        if (is_system(line)) return {};
        if (line.has_line() && line.file != callee.file)
            return join(", called from ", line.file.substr(line.file.rfind('/') + 1), ":", line.line);
    }
    return {};
}

}   // namespace

std::string rank_words(std::vector<int> const& ranks) {
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
    return text + join("  more: mpiexec --explain ", report.code, "\n");
}

std::string json_of(Report const& report) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (ReportLine const& line : grouped(report.lines))
        lines.push_back({{"ranks", line.ranks}, {"call", line.call}, {"place", line.place}, {"remark", line.remark}});
    nlohmann::ordered_json const all{
        {"code", report.code},         {"severity", report.severity == Report::Severity::error ? "error" : "warning"},
        {"headline", report.headline}, {"ranks", lines},
        {"help", report.help},         {"notes", report.notes}};
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string json_of(std::vector<ReportLine> const& waiting) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (ReportLine const& line : grouped(waiting))
        lines.push_back({{"ranks", line.ranks}, {"call", line.call}, {"place", line.place}, {"remark", line.remark}});
    nlohmann::ordered_json const all{{"waiting", lines}};
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Place place_of(pid_t process, std::vector<std::uint64_t> const& stack, KnownLines* known) {
    if (stack.empty()) return {};
    SourceLines lines(process, known);
    for (std::size_t i = 0; i < stack.size(); ++i) {
        SourceLine const line = lines.at(stack[i]);
        if (!is_mpi(line))
            return {words(line) + caller_words(lines, line, std::span(stack).subspan(i + 1)), !line.compiled_with_g};
    }
    SourceLine const innermost = lines.at(stack.front());
    if (innermost.module.starts_with("libmpi")) return {};
    return {words(innermost), !innermost.compiled_with_g};
}

Place place_of(pid_t process, BlockedRank const& blocked, KnownLines* known) {
    return blocked.script.empty() ? place_of(process, blocked.stack, known) : Place{blocked.script};
}

Place PlacedRank::place_of(std::vector<std::uint64_t> const& stack) const {
    for (std::size_t i = 0; i < std::min(also.size(), blocked.also.size()); ++i)
        if (blocked.stack != stack && blocked.also[i].stack == stack) return also[i];
    return place;
}

/// Bounds the count, which another process has written.
static std::span<Finding::Place const> places_in(Finding const& finding) {
    return std::span(finding.place).first(std::min<std::size_t>(finding.places, Finding::most_places));
}

/// Two ranks may find the same error, each at its own call. Returns the line at which this rank found it in `call`, as
/// its interpreter names it; empty if there is none.
static std::string found_script(RankState const& rank_state, std::string_view call) {
    if (rank_state.finding.kind.load(std::memory_order_acquire) != Finding::Kind::error) return {};
    for (Finding::Place const& one : places_in(rank_state.finding))
        if (one.rank == rank_state.world_rank && text_in(one.call) == call) return text_in(one.script);
    return {};
}

/// The process may have ended since.
static Place place_of_returned(RankState const& rank_state, pid_t process, std::vector<std::uint64_t> const& noted,
                               KnownLines* known) {
    Place const place = place_of(process, noted, known);
    return place.words.empty() && !noted.empty() ? place_in_program(rank_state.last_call, noted.front()) : place;
}

Place noted_place(RankState const& rank_state, pid_t process, std::string_view call,
                  std::vector<std::uint64_t> const& noted, KnownLines* known) {
    if (std::string const script = found_script(rank_state, call); !script.empty()) return {script};
    auto const blocked = noted.empty() ? std::nullopt : read_blocked(rank_state);
    if (!blocked) return place_of_returned(rank_state, process, noted, known);
    auto const name = [](std::string_view text) { return text.substr(0, text.find('(')); };
    auto const still = [&](BlockedRank const& thread) {
        return std::ranges::mismatch(noted, thread.stack).in1 == noted.end() &&
               (thread.script.empty() || call.empty() || name(thread.call) == name(call));
    };
    auto const other = std::ranges::find_if(blocked->also, still);
    return still(*blocked)                ? place_of(process, *blocked, known)
           : other != blocked->also.end() ? place_of(process, *other, known)
           : blocked->script.empty()      ? place_of(process, noted, known)
                                          : Place{};
}

bool shows_all_places(Finding const& finding, RankStateOf const& state_of) {
    return std::ranges::none_of(places_in(finding), [&](Finding::Place const& one) {
        RankState const* const rank = one.addresses == 0 ? nullptr : state_of(one.rank);
        return rank && rank->state.load(std::memory_order_acquire) == RankPhase::initialised &&
               rank->finding.kind.load(std::memory_order_acquire) != Finding::Kind::error && !read_blocked(*rank);
    });
}

void Warnings::add(Report const& report) {
    auto const same = std::ranges::find_if(
        all_, [&](Report const& one) { return one.code == report.code && one.headline == report.headline; });
    if (same == all_.end()) {
        if (all_.size() < most) all_.push_back(report);
        return;
    }
    for (ReportLine const& line : report.lines)
        if (same->lines.size() < most_lines) same->lines.push_back(line);
    for (std::string const& note : report.notes)
        if (std::ranges::find(same->notes, note) == same->notes.end()) same->notes.push_back(note);
}

Report report_of(Finding const& finding, NotedPlaceOf const& place_of) {
    Report report{.code = text_in(finding.code),
                  .headline = text_in(finding.headline),
                  .lines = {},
                  .help = text_in(finding.help)};
    if (finding.kind.load(std::memory_order_relaxed) == Finding::Kind::warning)
        report.severity = Report::Severity::warning;
    bool without_g = false;
    for (Finding::Place const& one : places_in(finding)) {
        std::size_t const addresses = std::min<std::size_t>(one.addresses, Finding::most_addresses);
        std::string const script = text_in(one.script);
        Place const place =
            script.empty() ? place_of(one.rank, text_in(one.call), {one.stack, one.stack + addresses}) : Place{script};
        report.lines.push_back({{one.rank}, text_in(one.call), place.words, text_in(one.remark)});
        if (place.words.empty()) report.lines.back().stack = {one.stack, one.stack + addresses};
        without_g |= place.without_g;
    }
    std::ranges::sort(report.lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    if (without_g) report.notes.emplace_back(more_with_g);
    return report;
}

}   // namespace tutti::launcher
