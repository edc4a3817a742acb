// SPDX-License-Identifier: BSD-3-Clause
// Blocks signals, and reads them from a signalfd.
#include "launcher/supervise/signals.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/signalfd.h>

#include "launcher/base/proc.hpp"

namespace tutti::launcher {
namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}   // namespace

bool has_handler(pid_t process, int signal) {
    std::ifstream status(process_folder(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigCgt:")) continue;
        std::uint64_t const mask = std::strtoull(line.c_str() + std::strlen("SigCgt:"), nullptr, 16);
        return (mask >> (signal - 1) & 1) != 0;
    }
    return false;
}

Signals::Signals() {
    std::signal(SIGCHLD, SIG_DFL);   // if the parent ignored it, waitpid would not work
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT})
        if (!is_ignored(signal)) sigaddset(&handled, signal);
    sigset_t blocked = handled;
    sigaddset(&blocked, SIGPIPE);   // writes return an error instead
    sigprocmask(SIG_BLOCK, &blocked, &original_);
    descriptor_ = Descriptor(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool Signals::is_pending(int signal) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

std::optional<int> Signals::next() {
    signalfd_siginfo info{};
    if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return {};
    return static_cast<int>(info.ssi_signo);
}

}   // namespace tutti::launcher
