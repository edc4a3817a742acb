// SPDX-License-Identifier: BSD-3-Clause
// The last sentence of a rank, with the place in the program that it is about, and the end of the job.
#include "mpi_h/entry/ending.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "mpi_h/entry/job_server.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "runtime/trace/call_stack.hpp"
#include "runtime/trace/script_place.hpp"

namespace tutti {
namespace {

constexpr std::int64_t longest_wait_ns = 2'000'000'000;   // for a launcher that does not read

void write_without_memory() {
    static constexpr char text[] = "an MPI process ends, and has no memory to say why\n";
    if (write(2, text, sizeof text - 1) < 0) {}   // there is no other place to report that
}

/// What the parent has not written yet is the parent's to write.
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
    if (write(2, line.data(), line.size()) < 0) {}   // nobody to tell that nobody can be told
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

/// mpiexec finds source lines as long as the process stands.
void wait_until_heard(NotedWords const& noted) {
    long pause = 100'000;
    for (std::int64_t waited = 0; waited < longest_wait_ns; waited += pause) {
        if (noted.state.load(std::memory_order_acquire) == NotedWords::heard) return;
        pause = std::min(pause * 3 / 2, 5'000'000L);
        timespec const one{0, pause};
        nanosleep(&one, nullptr);
    }
}

/// What can be told without reading debug information.
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

/// Writes the sentence on standard error. mpiexec knows it by the rank state, and tells it once if many ranks say the
/// same.
void say(RankState* rank_state, Ending const& ending) {
    bool const supervised = library().process ? library().process->supervised : launchers_rank_state() != nullptr;
    std::string line = rank_state ? join("rank ", rank_state->world_rank, ": ", ending.sentence) : ending.sentence;
    if (!rank_state || !supervised || ending.sentence.size() >= sizeof rank_state->last_words.sentence) {
        std::string const place = ending.call.empty() ? "" : place_in_words();
        return write_line(place.empty() ? line + "\n" : join(line, "\n  ", ending.call, "  ", place, "\n"));
    }
    note(rank_state->last_words, ending);
    write_line(line + "\n");
    wait_until_heard(rank_state->last_words);
}

}   // namespace

void abort_job(Ending const& ending) {
    if (library().stage == Stage::child) end_child(ending);
    RankState* const rank_state = library().rank_state ? library().rank_state : launchers_rank_state();
    bool const said = ending.sentence.empty() || unless_out_of_memory([&] { return say(rank_state, ending), true; });
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

void end_without_memory(int code) {
    write_without_memory();
    _exit(code);
}

}   // namespace tutti
