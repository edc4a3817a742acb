// SPDX-License-Identifier: BSD-3-Clause
// Publishes diagnostics in the rank's state, waits until the launcher or the watchdog has read them, and prints them
// itself where neither does.
#include "runtime/diagnostic.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include <time.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti {
namespace {

constexpr time_t longest_wait_s = 10;   // for a launcher that does not respond

template <std::size_t n>
void put_text(char (&to)[n], std::string const& text) {
    std::size_t const length = std::min(text.size(), n - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
}

/// Returns true if the part describes a call made at the place from which this rank calls MPI now.
bool is_here(Process const& process, Mistake::Part const& part) {
    return part.rank == process.rank() && part.site == reinterpret_cast<std::uintptr_t>(process.call_site);
}

/// Writes the stack of the part's call and returns its length. The stack of the present call includes all callers,
/// because the innermost may belong to a library; that of another call is its return address alone.
std::size_t stack_of(Process const& process, Mistake::Part const& part, std::span<std::uint64_t> stack) {
    if (part.site == 0) return 0;
    if (is_here(process, part))
        if (std::size_t const found = program_stack(stack); found != 0 && stack[0] == part.site) return found;
    stack[0] = part.site;
    return 1;
}

/// Returns the interpreted program's line of the present call. The calls of such a program share one address, so the
/// functions' names are compared as well.
std::string script_of(Process const& process, Mistake::Part const& part) {
    std::string_view const now = process.call_name ? process.call_name : "", call = part.call;
    return is_here(process, part) && call.substr(0, call.find('(')) == now ? script_place() : "";
}

void show(Process& process, Mistake const& mistake, Finding::Kind kind) {
    Finding& finding = process.rank_state().finding;
    std::size_t const parts = std::min(mistake.parts.size(), Finding::most_places);
    put_text(finding.code, mistake.code);
    put_text(finding.headline, mistake.headline);
    put_text(finding.help, mistake.help);
    finding.places = static_cast<std::uint32_t>(parts);
    for (std::size_t i = 0; i < parts; ++i) {
        Mistake::Part const& part = mistake.parts[i];
        Finding::Place& place = finding.place[i];
        place.rank = part.rank;
        place.addresses = static_cast<std::uint32_t>(stack_of(process, part, place.stack));
        put_text(place.script, script_of(process, part));
        put_text(place.call, part.call);
        put_text(place.remark, part.remark);
    }
    finding.kind.store(kind, std::memory_order_release);
}

/// Returns the text that the launcher would print, without source locations.
std::string text_of(Mistake const& mistake, char const* severity) {
    std::string text = join(severity, "[", mistake.code, "] ", mistake.headline, "\n");
    for (Mistake::Part const& part : mistake.parts.first(std::min(mistake.parts.size(), Finding::most_places)))
        text += join("  rank ", part.rank, "  ", part.call, part.remark.empty() ? "" : "  ", part.remark, "\n");
    if (!mistake.help.empty()) text += join("  help: ", mistake.help, "\n");
    return text + join("  more: mpiexec --explain ", mistake.code, "\n");
}

void print(Process const& process, Mistake const& mistake, char const* severity) {
    if (!is_first_on_node(process.segment, mistake.code, mistake.headline)) return;
    std::string const text = text_of(mistake, severity);
    if (write(2, text.data(), text.size()) < 0) {}   // there is no other place to report that
}

/// Sleeps until the launcher or the watchdog ends the job. If there is neither, or it does not respond, the rank
/// prints the error and ends the job itself.
[[noreturn]] void wait_for_the_end(Process& process, Mistake const& mistake) {
    timespec const pause{0, 2'000'000};
    bool const looked_at = process.supervised || (process.watcher && process.watcher->start());
    for (long waited = 0; looked_at && waited < longest_wait_s * 1'000'000'000; waited += pause.tv_nsec) {
        nanosleep(&pause, nullptr);
        if (process.watcher) process.watcher->obey();
    }
    print(process, mistake, "error");
    if (process.end_job) process.end_job(launch::mistake_code, "");
    std::abort();
}

/// Returns false if the launcher has not read the warning in time; it has been withdrawn then.
bool taken(Finding& finding) {
    timespec const pause{0, 2'000'000};
    auto kind = finding.kind.load(std::memory_order_relaxed);
    for (long waited = 0; waited < longest_wait_s * 1'000'000'000; waited += pause.tv_nsec) {
        if (finding.kind.load(std::memory_order_acquire) == Finding::Kind::nothing) return true;
        nanosleep(&pause, nullptr);
    }
    return !finding.kind.compare_exchange_strong(kind, Finding::Kind::nothing, std::memory_order_acq_rel);
}

}   // namespace

bool is_first_on_node(Segment const& segment, std::string const& code, std::string const& headline) {
    std::uint64_t const identity = std::hash<std::string>()(join(code, ' ', headline)) | 1;
    return segment.header().last_report.exchange(identity, std::memory_order_relaxed) != identity;
}

void report(Process& process, Mistake const& mistake) {
    show(process, mistake, Finding::Kind::error);
    wait_for_the_end(process, mistake);
}

void warn(Process& process, Mistake const& mistake) {
    if (!process.supervised && process.variables.quiet) return;   // mpiexec applies its own -quiet
    bool const watched =
        process.variables.diagnosis != "no" && (process.supervised || (process.watcher && process.watcher->start()));
    if (watched) {
        show(process, mistake, Finding::Kind::warning);
        process.has_warned = true;
        if (taken(process.rank_state().finding)) return;
    }
    if (!process.variables.quiet) print(process, mistake, "warning");
}

void print_warnings(Process& process) {
    if (!process.watcher || !process.has_warned) return;
    Finding& finding = process.rank_state().finding;
    finding.kind.store(Finding::Kind::print_warnings, std::memory_order_release);
    taken(finding);
}

}   // namespace tutti
