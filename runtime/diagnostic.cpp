// SPDX-License-Identifier: BSD-3-Clause
// Publishes diagnostics in the rank's state, waits until the launcher or the watchdog has read them, and prints them
// itself where neither does.
#include "runtime/diagnostic.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t max_wait_ns = 10'000'000'000;   // for a launcher that does not respond

/// Returns true if `call` was made at the location from which this rank calls MPI now.
bool is_current_call(Process const& process, UsageError::Call const& call) {
    return call.rank == process.rank() && call.site == reinterpret_cast<std::uintptr_t>(process.call_site);
}

/// Returns the stack of `call`, stored in `stack`. That of the present call includes all callers, because the innermost
/// may belong to a library; that of another call is its return address alone.
std::span<std::uint64_t> stack_of(Process const& process, UsageError::Call const& call,
                                  std::span<std::uint64_t> stack) {
    if (call.site == 0) return {};
    if (is_current_call(process, call))
        if (std::size_t const found = program_stack(stack); found != 0 && stack[0] == call.site)
            return stack.first(found);
    stack[0] = call.site;
    return stack.first(1);
}

/// Returns the interpreted program's line of the present call. The calls of such a program share one address, so the
/// functions' names are compared as well.
std::string script_of(Process const& process, UsageError::Call const& call) {
    std::string_view const current = process.call_function.name(), text = call.text;
    return is_current_call(process, call) && text.substr(0, text.find('(')) == current ? script_location() : "";
}

void publish(Process& process, UsageError const& error, Diagnostic::Kind kind) {
    Diagnostic& diagnostic = process.rank_state().diagnostic;
    std::size_t const calls = std::min(error.calls.size(), Diagnostic::max_locations);
    diagnostic.error.write(error.code, error.headline, error.help);
    diagnostic.locations = static_cast<std::uint32_t>(calls);
    for (std::size_t i = 0; i < calls; ++i) {
        UsageError::Call const& call = error.calls[i];
        Diagnostic::Location& location = diagnostic.location[i];
        std::uint64_t stack[PublishedCall::max_addresses];
        location.rank = call.rank;
        location.call.write(CallKind::other, call.text, stack_of(process, call, stack), script_of(process, call));
        write_text(location.remark, call.remark);
    }
    diagnostic.kind.store(kind, std::memory_order_release);
}

}   // namespace

std::string text_of(UsageError const& error, char const* severity) {
    bool const has_code = *error.code != 0;
    std::string text = join(severity, has_code ? "[" : "", error.code, has_code ? "] " : ": ", error.headline, "\n");
    for (UsageError::Call const& call : error.calls.first(std::min(error.calls.size(), Diagnostic::max_locations)))
        text += join("  rank ", call.rank, "  ", call.text, call.remark.empty() ? "" : "  ", call.remark, "\n");
    if (!error.help.empty()) text += join("  help: ", error.help, "\n");
    return has_code ? join(text, "  For details, run: mpiexec --explain ", error.code, "\n") : text;
}

namespace {

void print(Process const& process, UsageError const& error, char const* severity) {
    print_once_on_node(process.segment, error.code, error.headline, text_of(error, severity));
}

/// Sleeps until the launcher or the watchdog ends the job. If there is neither, or it does not respond, the rank
/// prints the error and ends the job itself.
[[noreturn]] void wait_for_job_end(Process& process, UsageError const& error) {
    if (process.is_supervised || (process.watchdog && process.watchdog->start()))
        sleep_until(max_wait_ns, [&] {
            if (process.watchdog) process.watchdog->end_job_if_requested();
            return false;
        });
    print(process, error, "error");
    if (process.end_job) process.end_job(launch::program_error_code, "");
    std::abort();
}

/// Returns false if the launcher has not read the warning in time; it has been withdrawn then.
bool wait_until_read(Diagnostic& diagnostic) {
    auto kind = diagnostic.kind.load(std::memory_order_relaxed);
    auto const is_read = [&] { return diagnostic.kind.load(std::memory_order_acquire) == Diagnostic::Kind::none; };
    if (sleep_until(max_wait_ns, is_read)) return true;
    return !diagnostic.kind.compare_exchange_strong(kind, Diagnostic::Kind::none, std::memory_order_acq_rel);
}

}   // namespace

void print_once_on_node(Segment const& segment, std::string_view code, std::string_view headline,
                        std::string_view text) {
    SegmentHeader& header = segment.header();
    std::uint64_t const identity = std::hash<std::string>()(join(code, ' ', headline)) | 1;
    auto const is_last = [&] { return header.claimed_report.load(std::memory_order_relaxed) == identity; };
    if (header.claimed_report.exchange(identity, std::memory_order_relaxed) != identity) {
        if (write(2, text.data(), text.size()) < 0) {}   // there is no other place to report that
        if (is_last()) header.printed_report.store(identity, std::memory_order_relaxed);
        return;
    }
    // Another report may have followed; whether this one has been printed is then not known.
    sleep_until(max_wait_ns,
                [&] { return !is_last() || header.printed_report.load(std::memory_order_relaxed) == identity; });
}

void report(Process& process, UsageError const& error) {
    publish(process, error, Diagnostic::Kind::error);
    wait_for_job_end(process, error);
}

void warn(Process& process, UsageError const& error) {
    if (!process.is_supervised && process.variables.quiet) return;   // mpiexec applies its own -quiet
    bool const is_watched = process.variables.diagnosis != "no" &&
                            (process.is_supervised || (process.watchdog && process.watchdog->start()));
    if (is_watched) {
        publish(process, error, Diagnostic::Kind::warning);
        process.has_warned = true;
        if (wait_until_read(process.rank_state().diagnostic)) return;
    }
    if (!process.variables.quiet) print(process, error, "warning");
}

void print_warnings(Process& process) {
    if (!process.watchdog || !process.has_warned) return;
    Diagnostic& diagnostic = process.rank_state().diagnostic;
    diagnostic.kind.store(Diagnostic::Kind::print_warnings, std::memory_order_release);
    wait_until_read(diagnostic);
}

}   // namespace tutti
