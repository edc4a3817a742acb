// SPDX-License-Identifier: BSD-3-Clause
// Reports the last message of a rank, with the position in the program that it is about, and ends the job.
#include "mpi_h/entry/abort.hpp"

#include <algorithm>
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
#include <time.h>
#include <unistd.h>

#include "mpi_h/entry/library_state.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/job/last_call.hpp"
#include "runtime/job/watchdog.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti {
namespace {

constexpr std::int64_t longest_wait_ns = 2'000'000'000;   // limit for a launcher that does not read

void write_without_memory() {
    static constexpr char text[] = "an MPI process ends, and has no memory to say why\n";
    if (write(2, text, sizeof text - 1) < 0) {}   // there is no other place to report that
}

/// The child must not write what its parent has buffered.
[[noreturn]] void end_child(Ending const& ending) {
    bool const written = ending.sentence.empty() || unless_out_of_memory([&ending] {
                             int const rank = library().process->rank();
                             std::string const line =
                                 join("process ", getpid(), ", a child of rank ", rank, ": ", ending.sentence, "\n");
                             if (write(2, line.data(), line.size()) < 0) {}   // there is no other place to report that
                             return true;
                         });
    if (!written) write_without_memory();
    _exit(ending.code & 0xff ? ending.code & 0xff : 1);
}

void write_line(std::string const& line) {
    std::fflush(stdout);
    if (write(2, line.data(), line.size()) < 0) {}   // a failure to report cannot be reported
}

void note(NotedWords& noted, Ending const& ending) {
    std::memcpy(noted.sentence, ending.sentence.c_str(), ending.sentence.size() + 1);
    std::snprintf(noted.code, sizeof noted.code, "%s", ending.error.c_str());
    std::snprintf(noted.help, sizeof noted.help, "%s", ending.help);
    std::snprintf(noted.call, sizeof noted.call, "%s", ending.call.c_str());
    std::snprintf(noted.script, sizeof noted.script, "%s", script_place().c_str());
    noted.addresses = static_cast<std::uint32_t>(program_stack(noted.stack));
    noted.state.store(NotedWords::said, std::memory_order_release);
}

/// Waits until the launcher has read the message: it can find source lines only while the process exists.
void wait_until_heard(NotedWords const& noted) {
    long pause = 100'000;
    for (std::int64_t waited = 0; waited < longest_wait_ns; waited += pause) {
        if (noted.state.load(std::memory_order_acquire) == NotedWords::heard) return;
        pause = std::min(pause * 3 / 2, 5'000'000L);
        timespec const one{0, pause};
        nanosleep(&one, nullptr);
    }
}

/// Describes the position in the program as far as possible without debug information.
std::string place_in_words() {
    if (std::string const script = script_place(); !script.empty()) return script;
    std::uint64_t address[1];
    Dl_info info{};
    if (program_stack(address) == 0 || dladdr(reinterpret_cast<void*>(address[0]), &info) == 0) return {};
    char const* const file = std::strrchr(info.dli_fname, '/');
    char offset[32];
    std::snprintf(offset, sizeof offset, " (+%#lx)",
                  static_cast<unsigned long>(address[0] - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
    return join("in ", info.dli_sname ? join(info.dli_sname, " of ") : "", file ? file + 1 : info.dli_fname, offset);
}

/// Returns the report that mpiexec or the watcher would print, as far as this process knows it.
std::string report_of(int rank, Ending const& ending) {
    std::string text = ending.error.empty() ? join("error: ", ending.sentence, "\n")
                                            : join("error[", ending.error, "] ", ending.sentence, "\n");
    if (!ending.call.empty()) {
        std::string const place = place_in_words();
        text += join("  rank ", rank, "  ", ending.call, place.empty() ? "" : "  ", place, "\n");
    }
    if (*ending.help) text += join("  help: ", ending.help, "\n");
    return ending.error.empty() ? text : join(text, "  more: mpiexec --explain ", ending.error, "\n");
}

/// mpiexec recognizes the line by the rank state, and reports it once if many ranks write the same.
void say_to_launcher(RankState& rank_state, Ending const& ending) {
    std::string const line = join("rank ", rank_state.world_rank, ": ", ending.sentence, "\n");
    if (!line.ends_with('\n')) throw std::bad_alloc();   // streams set their fail state instead of throwing
    if (ending.sentence.size() >= sizeof rank_state.last_words.sentence) {
        std::string const place = ending.call.empty() ? "" : place_in_words();
        return write_line(place.empty() ? line : join(line, "  ", ending.call, "  ", place, "\n"));
    }
    note(rank_state.last_words, ending);
    write_line(line);
    wait_until_heard(rank_state.last_words);
}

/// For ranks without Tutti's launcher. Returns false if no watcher could be started, or if it does not print the
/// report.
bool say_to_watcher(Segment const& segment, RankState& rank_state, Ending const& ending) {
    if (ending.sentence.size() >= sizeof rank_state.last_words.sentence || !Watcher::start(segment)) return false;
    std::fflush(stdout);
    note(rank_state.last_words, ending);
    wait_until_heard(rank_state.last_words);
    auto said = NotedWords::said;
    return !rank_state.last_words.state.compare_exchange_strong(said, NotedWords::heard, std::memory_order_acq_rel);
}

/// Returns the rank that another launcher has put into the environment, or 0.
int rank_in_environment() {
    for (char const* variable : {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (char const* const text = std::getenv(variable)) return std::atoi(text);
    return 0;
}

/// For ranks that have not connected yet and end with the same message: the first one of the node reports it. Returns
/// false for the others, after the first one has ended, because the launcher ends the job with the first rank that
/// exits. Uses an abstract socket that the first rank keeps open, named after the launcher's job; a process without a
/// launcher is the first.
bool is_first_of_job(Ending const& ending) {
    char const* job = nullptr;
    for (char const* variable : {"PMIX_NAMESPACE", "PMI_ID", "SLURM_STEP_ID"})
        if (!job) job = std::getenv(variable);
    int const first = job ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (first < 0) return true;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::size_t const identity = std::hash<std::string>()(join(job, ' ', ending.error, ' ', ending.sentence));
    int const length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tutti %u %zx", getuid(), identity);
    auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
    auto const* const address = reinterpret_cast<sockaddr const*>(&name);
    if (bind(first, address, bytes) == 0) {
        listen(first, SOMAXCONN);
        return true;
    }
    timeval const patience{longest_wait_ns / 1'000'000'000, 0};
    setsockopt(first, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(first, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    char byte = 0;
    // Returns when the first rank has ended, or after the timeout.
    if (connect(first, address, bytes) == 0 && read(first, &byte, 1) < 0) {}
    return false;
}

/// Creates a segment of this process alone, from which the watcher reads errors before MPI_Init.
std::optional<Segment> own_segment() try {
    std::vector<std::string> complaints;
    if (read_variables(environ, complaints).diagnosis == "no") return {};
    Segment segment = Segment::create(1, {}, {}, {}, Maker::rank);
    RankState& mine = segment.rank_state(0);
    mine.world_rank = rank_in_environment();
    mine.pid.store(getpid(), std::memory_order_relaxed);
    mine.process.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    return segment;
} catch (Error const&) { return {}; }

void say(Ending const& ending) {
    LibraryState& f = library();
    RankState* const launchers = f.rank_state ? f.rank_state : launchers_rank_state();
    bool const supervised = f.process ? f.process->supervised : launchers_rank_state() != nullptr;
    if (supervised && launchers) return say_to_launcher(*launchers, ending);
    if (f.process) {
        bool const said = f.process->watcher && say_to_watcher(*f.segment, *f.rank_state, ending);
        if (!said && is_first_on_node(*f.segment, ending.error, ending.sentence))
            write_line(report_of(f.process->rank(), ending));
        return;
    }
    if (!is_first_of_job(ending)) return;
    std::optional<Segment> const own = own_segment();
    if (!own || !say_to_watcher(*own, own->rank_state(0), ending)) write_line(report_of(rank_in_environment(), ending));
}

}   // namespace

void abort_job(Ending const& ending) {
    if (library().stage == Stage::child) end_child(ending);
    // Several threads may arrive here; the first one exits for all.
    static std::atomic_flag ending_begun;
    if (!ending.sentence.empty() && ending_begun.test_and_set())
        while (true) pause();
    RankState* const rank_state = library().rank_state ? library().rank_state : launchers_rank_state();
    bool const said = ending.sentence.empty() || unless_out_of_memory([&] { return say(ending), true; });
    if (!said) write_without_memory();
    if (library().process) {
        rank_state->abort_code.store(ending.code, std::memory_order_relaxed);
        rank_state->state.store(RankPhase::aborted, std::memory_order_release);
    }
    std::fflush(nullptr);
    int const code = ending.code & 0xff ? ending.code & 0xff : 1;
    if (job_server()) unless_out_of_memory([&] { return job_server()->abort(code, ending.sentence), true; });
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
    if (getpid() != f->rank_state->pid.load(std::memory_order_relaxed) || !f->process->watcher->start()) return;
    report_end(f->rank_state->last_call, LastCall::End::exits, longest_wait_ns);
}

void end_without_memory(int code) {
    write_without_memory();
    _exit(code);
}

}   // namespace tutti
