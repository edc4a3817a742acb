// SPDX-License-Identifier: BSD-3-Clause
// Reports the last message of a rank, with the position in the program that it is about, and ends the job.
#include "mpi_h/entry/abort.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "mpi_h/entry/library_state.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/job/last_call.hpp"
#include "runtime/job/launcher_found.hpp"
#include "runtime/job/watchdog.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/short_wait.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

constexpr std::int64_t max_wait_ns = 2'000'000'000;   // limit for a launcher that does not read

void write_without_memory() {
    static constexpr char text[] = "an MPI process aborts; there is no memory to report the reason\n";
    if (write(2, text, sizeof text - 1) < 0) {}   // there is no other place to report that
}

/// The child must not write what its parent has buffered.
[[noreturn]] void exit_child(AbortReport const& report) {
    bool const written = report.message.empty() || unless_out_of_memory([&report] {
                             int const rank = library().process->rank();
                             std::string const line =
                                 join("process ", getpid(), ", a child of rank ", rank, ": ", report.message, "\n");
                             if (write(2, line.data(), line.size()) < 0) {}   // there is no other place to report that
                             return true;
                         });
    if (!written) write_without_memory();
    _exit(report.code & 0xff ? report.code & 0xff : 1);
}

void write_line(std::string const& line) {
    std::fflush(stdout);
    if (write(2, line.data(), line.size()) < 0) {}   // a failure to report cannot be reported
}

bool fits(AbortReport const& report) { return report.message.size() < sizeof AbortMessage::error.headline; }

/// Stores a message that fits.
void store_message(AbortMessage& stored, AbortReport const& report) {
    stored.error.write(report.error, report.message, report.help);
    publish_current_call(stored.call, report.call);
    stored.state.store(AbortMessage::written, std::memory_order_release);
}

/// Waits until the launcher has read the message: it can find source lines only while the process exists.
void wait_until_read(AbortMessage const& stored) {
    sleep_until(max_wait_ns, [&] { return stored.state.load(std::memory_order_acquire) == AbortMessage::read; });
}

/// Describes the position in the program as far as possible without debug information.
std::string describe_position() {
    if (std::string const script = script_location(); !script.empty()) return script;
    std::uint64_t address[1];
    Dl_info info{};
    if (program_stack(address) == 0 || dladdr(reinterpret_cast<void*>(address[0]), &info) == 0) return {};
    char const* const file = std::strrchr(info.dli_fname, '/');
    char offset[32];
    std::snprintf(offset, sizeof offset, " (+%#lx)",
                  static_cast<unsigned long>(address[0] - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
    return join("in ", info.dli_sname ? join(info.dli_sname, " of ") : "", file ? file + 1 : info.dli_fname, offset);
}

/// Returns the report that mpiexec or the watchdog would print, as far as this process knows it.
std::string format_report(int rank, AbortReport const& report) {
    std::vector<UsageError::Call> calls;
    if (!report.call.empty()) calls.push_back({rank, report.call, describe_position(), 0});
    return text_of({report.error.c_str(), report.message, report.help, calls}, "error");
}

/// mpiexec recognizes the line by the rank state, and reports it once if many ranks write the same.
void report_to_launcher(RankState& rank_state, AbortReport const& report) {
    std::string const line = join("rank ", rank_state.world_rank, ": ", report.message, "\n");
    if (!line.ends_with('\n')) throw std::bad_alloc();   // streams set their fail state instead of throwing
    if (!fits(report)) {
        std::string const position = report.call.empty() ? "" : describe_position();
        return write_line(position.empty() ? line : join(line, "  ", report.call, "  ", position, "\n"));
    }
    store_message(rank_state.abort_message, report);
    write_line(line);
    wait_until_read(rank_state.abort_message);
}

/// For ranks without Tutti's launcher. Returns false if no watchdog could be started, or if it does not print the
/// report.
bool report_to_watchdog(Segment const& segment, RankState& rank_state, AbortReport const& report) {
    if (!fits(report) || !Watchdog::start(segment)) return false;
    std::fflush(stdout);
    store_message(rank_state.abort_message, report);
    wait_until_read(rank_state.abort_message);
    auto state = AbortMessage::written;
    return !rank_state.abort_message.state.compare_exchange_strong(state, AbortMessage::read,
                                                                   std::memory_order_acq_rel);
}

/// Returns the rank that another launcher has put into the environment, or 0.
int rank_in_environment() {
    for (char const* variable : {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (int const rank = topo::variable_number(std::getenv(variable)); rank >= 0) return rank;
    return 0;
}

/// For ranks that have not connected yet and end with the same message: the first one of the node reports it. Returns
/// false for the others, after the first one has ended, because the launcher ends the job with the first rank that
/// exits. Uses an abstract socket that the first rank keeps open, named after the launcher's job, or after the
/// process that has started the ranks; a process without a launcher is the first.
bool is_first_of_job(AbortReport const& report) {
    std::string job;
    for (char const* variable : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID", "FLUX_JOB_ID"})
        if (char const* const text = std::getenv(variable); text && job.empty()) job = text;
    if (char const* const text = std::getenv("SLURM_JOB_ID"); text && !job.empty()) job += join(" of ", text);
    if (job.empty() && !find_launcher().name.empty()) job = join("started by ", getppid());
    int const first = job.empty() ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (first < 0) return true;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::size_t const identity = std::hash<std::string>()(join(job, ' ', report.error, ' ', report.message));
    int const length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tutti %u %zx", getuid(), identity);
    auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
    auto const* const address = reinterpret_cast<sockaddr const*>(&name);
    if (bind(first, address, bytes) == 0) {
        listen(first, SOMAXCONN);
        return true;
    }
    timeval const timeout{max_wait_ns / 1'000'000'000, 0};
    setsockopt(first, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(first, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    char byte = 0;
    // Returns when the first rank has ended, or after the timeout.
    if (connect(first, address, bytes) == 0 && read(first, &byte, 1) < 0) {}
    return false;
}

/// Creates a segment of this process alone, from which the watchdog reads errors before MPI_Init.
std::optional<Segment> create_own_segment() try {
    std::vector<std::string> diagnostics;
    if (read_variables(environ, diagnostics).diagnosis == "no") return {};
    Segment segment = Segment::create(1, {}, {}, {}, SegmentCreator::rank);
    RankState& mine = segment.rank_state(0);
    mine.world_rank = rank_in_environment();
    mine.pid.store(getpid(), std::memory_order_relaxed);
    mine.process.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    return segment;
} catch (Error const&) { return {}; }

void report_abort(AbortReport const& report) {
    LibraryState& f = library();
    RankState* const rank_state = f.rank_state ? f.rank_state : launcher_rank_state();
    bool const supervised = f.process ? f.process->is_supervised : launcher_rank_state() != nullptr;
    if (supervised && rank_state) return report_to_launcher(*rank_state, report);
    if (f.process) {
        bool const reported = f.process->watchdog && report_to_watchdog(*f.segment, *f.rank_state, report);
        if (reported) return;
        std::fflush(stdout);
        print_once_on_node(*f.segment, report.error, report.message, format_report(f.process->rank(), report));
        return;
    }
    if (!is_first_of_job(report)) return;
    std::optional<Segment> const own = create_own_segment();
    if (!own || !report_to_watchdog(*own, own->rank_state(0), report))
        write_line(format_report(rank_in_environment(), report));
}

}   // namespace

void abort_job(AbortReport const& report) {
    if (library().stage == Stage::forked_child) exit_child(report);
    // Several threads may arrive here; the first one exits for all.
    static std::atomic_flag abort_begun;
    if (!report.message.empty() && abort_begun.test_and_set())
        while (true) pause();
    RankState* const rank_state = library().rank_state ? library().rank_state : launcher_rank_state();
    bool const reported = report.message.empty() || unless_out_of_memory([&] { return report_abort(report), true; });
    if (!reported) write_without_memory();
    if (library().process) {
        rank_state->abort_code.store(report.code, std::memory_order_relaxed);
        rank_state->state.store(RankPhase::aborted, std::memory_order_release);
    }
    std::fflush(nullptr);
    int const code = report.code & 0xff ? report.code & 0xff : 1;
    abort_by_job_server(code, report.message);
    _exit(code);
}

void watch_for_exit() {
    Dl_info here{};
    // The C library would call a function of a library that the program may have closed.
    if (dladdr(reinterpret_cast<void*>(&watch_for_exit), &here) != 0 && here.dli_fname)
        dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    on_exit([](int code, void*) { library().rank_state->last_call.exit_code = code; }, nullptr);
    library().reports_exit = true;
}

/// A process forked by the rank does not report.
[[gnu::destructor]] static void report_exit() {
    LibraryState* const f = the_library_state.load(std::memory_order_acquire);
    if (!f || !f->reports_exit || f->stage != Stage::running) return;
    if (getpid() != f->rank_state->pid.load(std::memory_order_relaxed) || !f->process->watchdog->start()) return;
    report_end(f->rank_state->last_call, LastCall::End::exits, max_wait_ns);
}

void exit_without_memory(int code) {
    write_without_memory();
    _exit(code);
}

}   // namespace tutti
