// SPDX-License-Identifier: BSD-3-Clause
// Reports as text and JSON, and the positions of calls in them. Data in LastCall and Finding was written by ranks:
// lengths are bounded and texts are checked before use.
#include "launcher/diagnosis/report.hpp"

#include <elf.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string_view>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/diagnosis/source_lines.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& to) {
    file.clear();
    return file.seekg(static_cast<std::streamoff>(offset)) && file.read(reinterpret_cast<char*>(&to), sizeof to);
}

/// Returns the zero-terminated text at an address, as the ELF file counts addresses; empty if the file does not contain
/// it.
std::string text_at(std::ifstream& file, std::uint64_t address) {
    Elf64_Ehdr head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr part{};
        if (!read_at(file, head.e_phoff + i * sizeof part, part)) return {};
        if (part.p_type != PT_LOAD || address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz) continue;
        std::string text;
        file.clear();
        file.seekg(static_cast<std::streamoff>(part.p_offset + address - part.p_vaddr));
        std::getline(file, text, '\0');
        return text;
    }
    return {};
}

bool is_function_name(std::string const& text) {
    return text.starts_with("MPI") && text.size() < 64 &&
           text.find_first_not_of(
               "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "abcdefghijklmnopqrstuvwxyz"
               "0123456789") == std::string::npos;
}

char const* help_for(int signal, bool place_known) {
    switch (signal) {
    case 0: return "every rank calls MPI_Finalize before it ends; call MPI_Abort to end the job early";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return place_known
                   ? "look at that line: a null or wild pointer, an index beyond its array, a division by zero; "
                     "compile with -fsanitize=address to learn more"
                   : "the program failed in that call or after it; use a debugger, or compile with "
                     "-fsanitize=address, to find the place";
    default:
        return "that signal comes from outside the program: from a person, or from the system when memory or time runs "
               "out";
    }
}

}   // namespace

std::string name_in(LastCall const& call) {
    if (!call.name || call.library == 0) return {};
    std::ifstream file(text_in(call.library_file), std::ios::binary);
    std::string const text = text_at(file, reinterpret_cast<std::uintptr_t>(call.name) - call.library);
    return is_function_name(text) ? text : "";
}

Place place_in_program(LastCall const& call, std::uint64_t address) {
    std::string const file = text_in(call.program_file);
    if (file.empty() || address <= call.program || address > call.program_end) return {};
    SourceLine const line = SourceLines(file, call.program, call.program_end).at(address);
    return {words(line), !line.compiled_with_g};
}

Place place_of(LastCall const& call) { return place_in_program(call, reinterpret_cast<std::uintptr_t>(call.site)); }

// SourceLines expects return addresses, and looks up the byte before them.
Place place_of_crash(LastCall const& call) { return call.crash ? place_in_program(call, call.crash + 1) : Place{}; }

static constexpr std::size_t most_processes = 8;   // maximum number of notes about processes

/// Returns "were killed" for "was killed".
static std::string in_plural(std::string const& how) { return how.starts_with("was ") ? "were " + how.substr(4) : how; }

Report report_of_ends(std::vector<RankEnd> ends, int signal, bool after_finalize) {
    Report report{.code = "T09", .headline = {}, .lines = {}, .help = {}};
    std::vector<int> ranks;
    std::ranges::sort(ends, {}, &RankEnd::rank);
    bool all_known = true, without_g = false;
    for (RankEnd const& one : ends) {
        ranks.push_back(one.rank);
        std::string const name = name_in(*one.call);
        Place const last = place_of(*one.call), crash = place_of_crash(*one.call);
        std::string const after =
            name.empty() ? "" : join("after ", name, last.words.empty() ? "" : " at ", last.words);
        if (!crash.words.empty()) report.lines.push_back({{one.rank}, "crashed", crash.words, after});
        else if (name.empty()) report.lines.push_back({{one.rank}, "its last call of MPI is not known", "", ""});
        else report.lines.push_back({{one.rank}, name, last.words, "was its last call of MPI"});
        all_known &= !crash.words.empty();
        if (!one.process.empty() && report.notes.size() < most_processes)
            report.notes.push_back(ends.size() == 1 ? one.process : join("rank ", one.rank, ": ", one.process));
        without_g |= last.without_g || crash.without_g;
    }
    if (without_g) report.notes.emplace_back(more_with_g);
    std::string const& how = ends.front().how;
    report.headline = join(rank_words(ranks), " ", ends.size() == 1 ? how : in_plural(how));
    if (after_finalize) report.headline += ", after MPI_Finalize";
    report.help = after_finalize ? "the program fails after MPI_Finalize: in its own clean-up, or in destructors"
                                 : help_for(signal, all_known);
    return report;
}

namespace {

constexpr std::size_t most_groups = 12, told_of_many = 8, most_callers = 3;

/// Merges ranks that make the same call at the same place into one line. Lines are ordered by their lowest ranks.
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

/// Returns ", called from main.c:30" for a wrapper around an MPI function that is in a file of its own and called from
/// many places. Empty if its caller is in the same file, or not known.
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
/// its interpreter reports it; empty if there is none.
static std::string found_script(RankState const& rank_state, std::string_view call) {
    if (rank_state.finding.kind.load(std::memory_order_acquire) != Finding::Kind::error) return {};
    for (Finding::Place const& one : places_in(rank_state.finding))
        if (one.rank == rank_state.world_rank && text_in(one.call) == call) return text_in(one.script);
    return {};
}

/// Returns the position of a call that has returned. Uses the files recorded in LastCall if the process has ended
/// since.
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
