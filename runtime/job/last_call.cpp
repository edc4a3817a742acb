// SPDX-License-Identifier: BSD-3-Clause
// Records where the program is loaded and, in signal handlers, how the process ends.
#include "runtime/job/last_call.hpp"

#include <atomic>
#include <csignal>

#include <link.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/memory/segment.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti {
namespace {

/// Callback of dl_iterate_phdr, whose first object is the program.
int record_program(dl_phdr_info* info, std::size_t, void* record) {
    auto& own_call = *static_cast<LastCall*>(record);
    own_call.program = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            own_call.program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

constexpr std::int64_t max_report_wait_ns = 1'000'000'000;   // that a crashed process waits

std::atomic<LastCall*> watched_call{nullptr};
Segment const* watched_segment = nullptr;   // both are set before the handlers are installed
bool (*start_watchdog)(Segment const&) = nullptr;
std::atomic<pid_t> watched_process{0};

/// Returns the crashing instruction if it lies in the program, otherwise the call in the program that led to it, if
/// visible: functions of the C library mostly have no frame of their own, so the return address is at the top of the
/// stack or in its register.
std::uint64_t crash_in_program(LastCall const& own_call, ucontext_t const& context) {
#if defined(__x86_64__)
    auto const reg = [&](int number) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]); };
    auto const is_inside = [&](std::uint64_t address) {
        return address > own_call.program && address < own_call.program_end;
    };
    std::uint64_t const instruction = reg(REG_RIP), stack = reg(REG_RSP);
    if (is_inside(instruction) || stack % sizeof(std::uint64_t) != 0) return instruction;
    std::uint64_t const caller = *reinterpret_cast<std::uint64_t const*>(stack);
    return is_inside(caller) ? caller - 1 : instruction;
#elif defined(__aarch64__)
    std::uint64_t const instruction = context.uc_mcontext.pc, caller = context.uc_mcontext.regs[30];
    bool const is_called = instruction < own_call.program || instruction > own_call.program_end;
    return is_called && caller > own_call.program && caller < own_call.program_end ? caller - 1 : instruction;
#else
    return 0;
#endif
}

/// Signal handler. The default action is in place again: a faulting instruction is executed once more and ends the
/// process, with the same core file as without this handler. A signal that was sent is not repeated by itself.
void on_crash_signal(int signal, siginfo_t* info, void* context) {
    LastCall* const own_call = watched_call.load(std::memory_order_relaxed);
    bool const is_sent = info->si_code <= 0;
    bool const is_abort = signal == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid();
    if (own_call && (!is_sent || is_abort) && getpid() == watched_process.load(std::memory_order_relaxed)) {
        if (!is_abort) own_call->crash = crash_in_program(*own_call, *static_cast<ucontext_t const*>(context));
        own_call->crash_signal = signal;
        if (start_watchdog && start_watchdog(*watched_segment))
            report_end(*own_call, LastCall::End::crashes, max_report_wait_ns);
    }
    if (is_sent) raise(signal);   // blocked until this function returns
}

}   // namespace

void report_end(LastCall& own_call, LastCall::End end, std::int64_t max_wait_ns) {
    own_call.end.store(end, std::memory_order_release);
    sleep_until(max_wait_ns, [&] { return own_call.end.load(std::memory_order_acquire) == LastCall::End::reported; });
}

void install_crash_handlers(LastCall& own_call, Segment const& segment, bool (*start)(Segment const&)) {
    watched_segment = &segment;
    start_watchdog = start;
    watched_process.store(getpid(), std::memory_order_relaxed);
    watched_call.store(&own_call, std::memory_order_relaxed);
    for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        struct sigaction current {};
        if (signal == SIGABRT && !start) continue;   // mpiexec sees it, and abort() has no instruction to record
        if (sigaction(signal, nullptr, &current) != 0 || (current.sa_flags & SA_SIGINFO) ||
            current.sa_handler != SIG_DFL)
            continue;
        struct sigaction action {};
        action.sa_sigaction = on_crash_signal;
        action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK;
        sigaction(signal, &action, nullptr);
    }
}

void publish_program(LastCall& own_call) {
    dl_iterate_phdr(record_program, &own_call);
    if (readlink("/proc/self/exe", own_call.program_file, sizeof own_call.program_file - 1) < 0)
        own_call.program_file[0] = 0;
}

}   // namespace tutti
