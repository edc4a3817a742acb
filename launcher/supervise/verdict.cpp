// SPDX-License-Identifier: BSD-3-Clause
// Judging how a rank ended.
#include "launcher/supervise/verdict.hpp"

#include <csignal>
#include <cstring>

#include <sys/wait.h>

#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

int failing(int code) { return (code & 255) != 0 ? code & 255 : 1; }

/// For the ends that do not explain themselves.
std::string explanation(int signal, std::string const& ran_out) {
    if (signal == SIGKILL && !ran_out.empty())
        return join(": ", ran_out, "; allow the job more memory, start fewer ranks, or make the problem smaller");
    if (signal == SIGBUS)
        return ": the system had no page left for memory that ranks share, or a file that it had mapped became "
               "shorter; allow the job more memory, or leave blocks to the C library with TUTTI_ARENA=no";
    return {};
}

}   // namespace

std::string signal_words(int signal) {
    char const* name = sigdescr_np(signal);
    return join("signal ", signal, name ? join(" (", name, ")") : "");
}

std::string end_words(int status) {
    if (WIFSIGNALED(status)) return join("was killed by ", signal_words(WTERMSIG(status)));
    return join("left with exit code ", WEXITSTATUS(status), " without calling MPI_Finalize");
}

Verdict judge(End const& end, std::string const& host) {
    using Kind = Verdict::Kind;
    std::string who = join("rank ", end.rank, " on ", host, ", process ", end.pid, ", ");
    if (end.state == RankPhase::aborted) {
        return {Kind::aborted, end.abort_code & 255,
                join(who, "ended the job with code ", end.abort_code)};   // it has said why itself
    }
    if (WIFSIGNALED(end.status)) {
        int signal = WTERMSIG(end.status);
        char const* const core = WCOREDUMP(end.status) ? " and left a core file" : "";
        std::string const why = explanation(signal, end.ran_out);
        return {.kind = Kind::killed,
                .code = 128 + signal,
                .sentence = join(who, end_words(end.status), core, why),
                .process = join("process ", end.pid, " on ", host, core, why)};
    }
    int code = WEXITSTATUS(end.status);
    if (end.state == RankPhase::initialised) return {Kind::left_early, failing(code), join(who, end_words(end.status))};
    if (code == 0) return {};
    Kind kind = end.state == RankPhase::finalised ? Kind::failed_after_finalize : Kind::failed;
    return {kind, code, join(who, "ended with exit code ", code, end.not_loaded.empty() ? "" : ": ", end.not_loaded)};
}

}   // namespace tutti::launcher
