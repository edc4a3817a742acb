// SPDX-License-Identifier: BSD-3-Clause
// Reads registers by /proc/PID/syscall or ptrace, and unwinds frames by libdw.
#include "launcher/diagnosis/process_stack.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "launcher/base/proc.hpp"
#include "launcher/diagnosis/source_lines.hpp"
#include "topo/files.hpp"

// Mapped files, from /proc/PID/maps.

namespace tutti::launcher {

std::vector<LoadedFile> loaded_files(std::string_view maps) {
    std::vector<LoadedFile> files;
    topo::for_each_mapping(maps, [&](topo::Mapping const& mapping) {
        if (!mapping.is_file() && mapping.name != vdso_name) return;
        if (files.empty() || files.back().path != mapping.name)
            files.push_back({mapping.begin, mapping.end, false, std::string(mapping.name)});
        files.back().end = mapping.end;
        files.back().executable |= mapping.executable();
    });
    std::erase_if(files, [](LoadedFile const& file) { return !file.executable; });
    return files;
}

std::vector<LoadedFile> loaded_files(pid_t process) {
    return loaded_files(topo::read_system_file(process_folder(process) + "/maps"));
}

int open_loaded_file(pid_t process, std::string const& path) {
    std::string const folder = process_folder(process);
    auto const try_open = [](std::string const& name) { return open(name.c_str(), O_RDONLY | O_CLOEXEC); };
    if (path.ends_with(deleted_ending)) {
        std::error_code error;
        bool const program = std::filesystem::read_symlink(folder + "/exe", error) == path && !error;
        return program ? try_open(folder + "/exe") : -1;
    }
    int const file = try_open(folder + "/root" + path);
    return file >= 0 ? file : try_open(path);
}

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto stop_timeout = 500ms, stop_check_interval = 1ms;
constexpr std::size_t max_stack = 256 << 10, max_frames = 64;
constexpr std::uint64_t red_zone = 128;   // bytes below the stack pointer that functions may use

/// Indexed by DWARF's register numbers. `all` is empty for a sleeping thread, of which only pc and sp are known.
struct Registers {
    std::uint64_t pc = 0, sp = 0;
    std::vector<Dwarf_Word> all{};
};

#if defined(__x86_64__)
constexpr int sp_number = 7, pc_number = 16;

Registers registers_from(user_regs_struct const& r) {
    return {r.rip,
            r.rsp,
            {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14,
             r.r15, r.rip}};
}
#elif defined(__aarch64__)
constexpr int sp_number = 31, pc_number = -1;

Registers registers_from(user_regs_struct const& r) {
    Registers registers{r.pc, r.sp, {std::begin(r.regs), std::end(r.regs)}};
    registers.all.push_back(r.sp);
    return registers;
}
#else   // nothing is known of running threads, and only the innermost address of sleeping ones
constexpr int sp_number = -1, pc_number = -1;

Registers registers_from(user_regs_struct const&) { return {}; }
#endif

struct Capture {
    pid_t process = 0;
    char state = 0;
    bool stopping = false;   ///< it has been asked to stop
    Registers registers{};
    std::uint64_t stack_begin = 0;
    std::string stack{};   ///< copied memory
};

char state_of(pid_t process) {
    std::ifstream file(process_folder(process) + "/stat");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::size_t const name_end = text.rfind(')');   // the name may contain any character
    return name_end != text.npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
}

void copy_stack(Capture& capture) {
    Descriptor const memory(open((process_folder(capture.process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (memory.get() < 0) return;
    capture.stack_begin = capture.registers.sp - red_zone;
    capture.stack.resize(max_stack);
    ssize_t const bytes = pread(memory.get(), capture.stack.data(), max_stack, static_cast<off_t>(capture.stack_begin));
    capture.stack.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
}

/// Reads the registers and the stack of a thread that is blocked in the kernel, from "NUMBER ARGUMENTS SP PC" or "-1 SP
/// PC". Returns true if the thread is running instead.
bool capture_unless_running(Capture& capture) {
    std::ifstream file(process_folder(capture.process) + "/syscall");
    std::vector<std::string> fields;
    for (std::string field; file >> field;) fields.push_back(field);
    if (fields.size() < 3) return fields.size() == 1;
    capture.registers.sp = std::strtoull(fields[fields.size() - 2].c_str(), nullptr, 16);
    capture.registers.pc = std::strtoull(fields.back().c_str(), nullptr, 16);
    copy_stack(capture);
    return false;
}

/// The kernel lets processes trace their descendants, unless a debugger already traces them.
void request_stop(Capture& capture) {
    if (ptrace(PTRACE_SEIZE, capture.process, nullptr, nullptr) != 0) return;
    capture.stopping = ptrace(PTRACE_INTERRUPT, capture.process, nullptr, nullptr) == 0;
}

/// Returns false if this process does not trace `process`.
bool detach_tracer(pid_t process, int stopped_by) {
    // A stop with an event was caused by ptrace itself; any other stop means that a signal is about to be delivered.
    std::uintptr_t const signal = stopped_by >> 8 ? 0 : static_cast<std::uintptr_t>(stopped_by);
    return ptrace(PTRACE_DETACH, process, nullptr, reinterpret_cast<void*>(signal)) == 0;
}

/// Captures a process that has stopped. Returns false while the process has neither stopped nor ended. An ended process
/// remains waitable.
bool capture_stopped(Capture& capture) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(capture.process), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
        return true;
    if (info.si_pid == 0) return false;
    if (info.si_code != CLD_TRAPPED) return true;
    waitpid(capture.process, nullptr, WNOHANG | __WALL);
    user_regs_struct registers{};
    iovec part{&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, capture.process, NT_PRSTATUS, &part) == 0) {
        capture.registers = registers_from(registers);
        copy_stack(capture);
    }
    detach_tracer(capture.process, info.si_status);
    return true;
}

void await_stops(std::vector<Capture>& captures) {
    Clock::time_point const until = Clock::now() + stop_timeout;
    for (bool waiting = true; waiting;) {
        waiting = false;
        for (Capture& capture : captures) {
            if (capture.stopping && capture_stopped(capture)) capture.stopping = false;
            waiting |= capture.stopping;
        }
        if (Clock::now() >= until) return;
        if (waiting) std::this_thread::sleep_for(stop_check_interval);
    }
}

/// Returns a file with the kernel's code in each process (the vdso), copied from this process: it is the same in all.
int open_vdso() {
    std::uint64_t const begin = getauxval(AT_SYSINFO_EHDR);
    for (LoadedFile const& file : loaded_files(getpid())) {
        if (file.path != vdso_name || file.begin != begin) continue;
        int const copy = memfd_create("vdso", MFD_CLOEXEC);
        std::size_t const bytes = file.end - file.begin;
        if (copy >= 0 && write(copy, reinterpret_cast<void const*>(begin), bytes) == static_cast<ssize_t>(bytes))
            return copy;
        if (copy >= 0) close(copy);
    }
    return -1;
}

/// Unwinds a captured stack by the tables that compilers write for exceptions.
class StackWalk {
public:
    StackWalk(Libdw const& libdw, Capture const& capture)
        : libdw_(libdw), capture_(capture), session_(libdw.begin_local()) {
        if (!session_) return;
        for (LoadedFile const& mapped : loaded_files(capture.process)) {
            int const file = mapped.path == vdso_name ? open_vdso() : open_loaded_file(capture.process, mapped.path);
            if (file < 0) continue;
            char const* const name = mapped.path.c_str();
            if (!libdw.report_elf(session_, name, name, file, mapped.begin, false)) close(file);
        }
        libdw.report_end(session_, nullptr, nullptr);
    }
    StackWalk(StackWalk const&) = delete;
    ~StackWalk() {
        if (session_) libdw_.end(session_);
    }

    std::vector<std::uint64_t> addresses() {
        static Dwfl_Thread_Callbacks const callbacks = {.next_thread = next_thread,
                                                        .get_thread = nullptr,
                                                        .memory_read = read_memory,
                                                        .set_initial_registers = set_registers,
                                                        .detach = nullptr,
                                                        .thread_detach = nullptr};
        if (session_ && libdw_.attach_state(session_, nullptr, capture_.process, &callbacks, this))
            libdw_.getthread_frames(session_, capture_.process, add_frame, this);
        return std::move(addresses_);
    }

private:
    static pid_t next_thread(Dwfl*, void* walk, void** thread) {
        if (*thread) return 0;
        *thread = walk;
        return static_cast<StackWalk*>(walk)->capture_.process;
    }
    static bool set_registers(Dwfl_Thread* thread, void* walk) {
        StackWalk const& self = *static_cast<StackWalk*>(walk);
        Registers const& registers = self.capture_.registers;
        auto const set = [&](int number, Dwarf_Word value) {
            return self.libdw_.thread_state_registers(thread, number, 1, &value);
        };
        bool all = true;
        for (std::size_t i = 0; i < registers.all.size(); ++i) all &= set(static_cast<int>(i), registers.all[i]);
        if (registers.all.empty())
            all = set(sp_number, registers.sp) && (pc_number < 0 || set(pc_number, registers.pc));
        self.libdw_.thread_state_register_pc(thread, registers.pc);
        return all;
    }
    static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void* walk) {
        Capture const& capture = static_cast<StackWalk*>(walk)->capture_;
        std::uint64_t const at = address - capture.stack_begin;
        if (address < capture.stack_begin || at + sizeof *value > capture.stack.size()) return false;
        std::memcpy(value, capture.stack.data() + at, sizeof *value);
        return true;
    }
    static int add_frame(Dwfl_Frame* frame, void* walk) {
        StackWalk& self = *static_cast<StackWalk*>(walk);
        Dwarf_Addr pc = 0;
        bool interrupted = false;
        if (!self.libdw_.frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
        self.addresses_.push_back(interrupted ? pc + 1 : pc);
        return self.addresses_.size() < max_frames ? DWARF_CB_OK : DWARF_CB_ABORT;
    }

    Libdw const& libdw_;
    Capture const& capture_;
    Dwfl* session_;
    std::vector<std::uint64_t> addresses_;
};

std::vector<std::uint64_t> addresses_of(Capture const& capture) {
    if (capture.registers.pc == 0) return {};
    std::vector<std::uint64_t> addresses;
    if (Libdw const* const libdw = Libdw::get()) addresses = StackWalk(*libdw, capture).addresses();
    if (addresses.empty()) addresses.push_back(capture.registers.pc + 1);
    return addresses;
}

}   // namespace

std::vector<ProcessStack> stacks_of(std::vector<pid_t> const& processes, std::size_t max_stacks) {
    std::vector<Capture> captures;
    for (pid_t process : processes) {
        Capture& capture = captures.emplace_back(Capture{.process = process, .state = state_of(process)});
        if (captures.size() <= max_stacks && capture_unless_running(capture)) request_stop(capture);
    }
    await_stops(captures);
    std::vector<ProcessStack> stacks;
    for (Capture const& capture : captures) stacks.push_back({capture.state, addresses_of(capture)});
    return stacks;
}

bool release_stopped(pid_t process, int status) { return WIFSTOPPED(status) && detach_tracer(process, status >> 8); }

}   // namespace tutti::launcher
