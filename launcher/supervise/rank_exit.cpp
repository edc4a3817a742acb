// SPDX-License-Identifier: BSD-3-Clause
// Memory counters of cgroups, and the judgement of how a rank ended.
#include "launcher/supervise/rank_exit.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "runtime/base/error.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;   // version 1 represents "no limit" by a huge number
constexpr std::uint64_t huge_page = 2 << 20;                 // the largest single allocation that fails at the limit

std::uint64_t number_in(std::string const& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    return in >> value ? value : 0;
}

/// Returns the number after a word: "oom_kill 3" on a line of its own.
std::uint64_t number_after(std::string const& word, std::string const& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    for (std::string name; in >> name >> value;)
        if (name == word) return value;
    return 0;
}

}   // namespace

MemoryMonitor::MemoryMonitor(std::string root) : root_(std::move(root)) {
    for (topo::CgroupFolder const& folder : topo::cgroup_folders("memory", root_))
        if (std::ifstream(folder.path + (folder.version == 2 ? "/memory.events" : "/memory.oom_control")))
            folders_.push_back(folder.path);
    last_kills_ = kills();
}

// The folder of the cgroup itself is enough: a victim is always counted in its own cgroup, even where its ancestors
// count it, too.
std::uint64_t MemoryMonitor::kills() const {
    if (folders_.empty()) return 0;
    return number_after("oom_kill", folders_.front() + "/memory.events") +
           number_after("oom_kill", folders_.front() + "/memory.oom_control");
}

/// Returns the limit of this cgroup or an ancestor that was reached. Version 1 has a second limit, for memory and swap
/// together, and failure counts that newer kernels leave at zero. Early kernels of version 2 do not record the peak
/// use, but count how often memory could not be obtained.
std::optional<std::uint64_t> MemoryMonitor::reached_limit() const {
    for (std::string const& folder : folders_) {
        for (auto [limit, highest] : {std::pair{"/memory.max", "/memory.peak"},
                                      {"/memory.limit_in_bytes", "/memory.max_usage_in_bytes"},
                                      {"/memory.memsw.limit_in_bytes", "/memory.memsw.max_usage_in_bytes"}}) {
            std::uint64_t const limit_bytes = number_in(folder + limit);   // 0: no limit, or the word "max"
            if (limit_bytes == 0 || limit_bytes >= no_limit) continue;
            if (number_in(folder + highest) + huge_page >= limit_bytes) return limit_bytes;
            if (number_after("oom", folder + "/memory.events") != 0) return limit_bytes;
        }
    }
    return {};
}

std::string MemoryMonitor::take_oom_cause() {
    std::uint64_t const before = std::exchange(last_kills_, kills());
    if (last_kills_ == before) return {};
    if (std::optional<std::uint64_t> const limit = reached_limit())
        return join("the memory limit of its cgroup, ", *limit >> 20, " MiB, was reached");
    std::uint64_t const total = number_after("MemTotal:", root_ + "/proc/meminfo");   // in KiB
    return join("the machine's memory, ", total >> 10, " MiB, was used up");
}

// Judging how a rank ended.

namespace {

int failure_code(int code) { return (code & 255) != 0 ? code & 255 : 1; }

/// Returns an explanation for signals that do not explain themselves.
std::string explanation(int signal, std::string const& oom_cause, bool has_closed_pmi) {
    if (signal == SIGPIPE && has_closed_pmi)
        return ": the MPI_Finalize of its first program has closed the connection with mpiexec (PMI_FD) that another "
               "MPI program of the same script would need; start an mpiexec for each program";
    if (signal == SIGKILL && !oom_cause.empty())
        return join(": ", oom_cause, "; allow the job more memory, start fewer ranks, or make the problem smaller");
    if (signal == SIGBUS)
        return ": the system had no page left for shared memory, or a mapped file became "
               "shorter; allow the job more memory, or set TUTTI_ARENA=no";
    return {};
}

}   // namespace

std::string describe_signal(int signal) {
    char const* name = sigdescr_np(signal);
    return join("signal ", signal, name ? join(" (", name, ")") : "");
}

/// Returns "was killed by signal 9 (Killed)" or "left with exit code 0 without calling MPI_Finalize".
static std::string describe_exit(std::optional<int> status) {
    if (!status) return "ended without calling MPI_Finalize";
    if (WIFSIGNALED(*status)) return join("was killed by ", describe_signal(WTERMSIG(*status)));
    return join("left with exit code ", WEXITSTATUS(*status), " without calling MPI_Finalize");
}

RankExit classify_exit(ProcessExit const& end, std::string const& host) {
    using Kind = RankExit::Kind;
    std::string who = join("rank ", end.rank, " on ", host, ", process ", end.pid, ", ");
    if (end.phase == RankPhase::aborted) {
        return {Kind::aborted, end.abort_code & 255,
                join(who, "ended the job with code ", end.abort_code, end.abort_message.empty() ? "" : ": ",
                     end.abort_message)};
    }
    ExitedRank exited{.rank = end.rank, .after_finalize = end.phase == RankPhase::finalised};
    exited.description = describe_exit(end.status);
    std::string const process = join("process ", end.pid, " on ", host);
    if (end.status && WIFSIGNALED(*end.status)) {
        exited.signal = WTERMSIG(*end.status);
        char const* const core = WCOREDUMP(*end.status) ? " and left a core file" : "";
        std::string const why = explanation(exited.signal, end.oom_cause, end.has_closed_pmi);
        exited.process = join(process, core, why);
        RankExit exit{Kind::killed, 128 + exited.signal, join(who, exited.description, core, why)};
        if (end.phase != RankPhase::absent) exit.in_mpi = std::move(exited);
        return exit;
    }
    int const code = end.status ? WEXITSTATUS(*end.status) : 0;
    if (end.phase == RankPhase::initialised) {
        if (!end.status) exited.process = process;
        return {Kind::left_early, failure_code(code), who + exited.description, std::move(exited)};
    }
    if (code == 0) return {};
    Kind kind = end.phase == RankPhase::finalised ? Kind::failed_after_finalize : Kind::failed;
    std::string const why = code == 128 + SIGPIPE ? explanation(SIGPIPE, "", end.has_closed_pmi) : "";
    return {kind, code,
            join(who, "ended with exit code ", code, end.loader_error.empty() ? why : ": " + end.loader_error)};
}

std::vector<ExitedRank> take_alike(std::vector<RankExit>& exits) {
    std::optional<ExitedRank> const first = exits.front().in_mpi;
    if (!first) return exits.erase(exits.begin()), std::vector<ExitedRank>{};
    std::vector<ExitedRank> alike;
    std::erase_if(exits, [&](RankExit const& one) {
        bool const is_alike = one.in_mpi && one.in_mpi->is_like(*first);
        if (is_alike) alike.push_back(*one.in_mpi);
        return is_alike;
    });
    return alike;
}

}   // namespace tutti::launcher
