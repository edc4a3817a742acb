// SPDX-License-Identifier: BSD-3-Clause
// Walks the stack with the unwinder of C++ exceptions, which needs no debugging information and no frame pointers,
// and locates the program's line in CPython.
#include "runtime/state/call_site.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "runtime/base/error.hpp"

// The linker's symbols for the first and the last byte of the library, or of the program that it is linked into.
extern "C" {
[[gnu::visibility("hidden")]] extern char const __ehdr_start, _end;
}

namespace tutti {
namespace {

struct Walk {
    std::span<std::uint64_t> addresses;
    std::size_t found = 0;
};

_Unwind_Reason_Code record_frame(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    std::uintptr_t const address = _Unwind_GetIP(context);
    if (address == 0) return _URC_END_OF_STACK;
    if (walk.found == 0 && in_this_library(address)) return _URC_NO_REASON;
    if (walk.found == walk.addresses.size()) return _URC_END_OF_STACK;
    walk.addresses[walk.found++] = address;
    return _URC_NO_REASON;
}

}   // namespace

bool in_this_library(std::uint64_t address) {
    return address >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) &&
           address < reinterpret_cast<std::uintptr_t>(&_end);
}

std::size_t program_stack(std::span<std::uint64_t> addresses) {
    Walk walk{addresses};
    _Unwind_Backtrace(record_frame, &walk);
    return walk.found;
}

std::uint64_t program_site(void const* recorded) {
    std::uint64_t site = reinterpret_cast<std::uintptr_t>(recorded);
    if (in_this_library(site)) program_stack({&site, 1});
    return site;
}

// CPython writes a thread's traceback for its module faulthandler, for programs that have crashed. That requires
// neither the interpreter's lock nor memory, only that the thread's frames stay, and this thread is inside an MPI
// call. Acquiring the interpreter's lock instead could deadlock with a thread that waits for the rank's lock.
// Versions that do not export the function provide no location.

namespace {

/// Returns the function `name` of any loaded object; null if there is none.
template <class Function>
Function* find_function(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Functions of the interpreter that runs the program; null: there is none. Looked up when this library is loaded:
/// later the loader's lock may be held by a thread that waits for the rank's lock.
struct Interpreter {
    void* (*this_thread)() = find_function<void*()>("PyGILState_GetThisThreadState");
    void (*dump)(int, void*) = find_function<void(int, void*)>("_Py_DumpTraceback");
};
Interpreter const interpreter;

std::string traceback_of_this_thread() {
    auto const [this_thread, dump] = interpreter;
    void* const state = this_thread && dump ? this_thread() : nullptr;
    if (!state) return {};
    int const file = memfd_create("traceback", MFD_CLOEXEC);
    if (file < 0) return {};
    dump(file, state);
    char text[4096];
    ssize_t const length = pread(file, text, sizeof text, 0);
    close(file);
    return {text, static_cast<std::size_t>(length > 0 ? length : 0)};
}

/// Parses one line of a traceback: `  File "/home/me/ring.py", line 12 in pass`.
std::string parse_frame_line(std::string_view line) {
    constexpr std::string_view begin = "  File \"", middle = "\", line ", end = " in ";
    std::size_t const at = line.find(middle), in = line.find(end, at);
    if (!line.starts_with(begin) || at == line.npos || in == line.npos) return {};
    std::string_view const path = line.substr(begin.size(), at - begin.size());
    if (path.find("/mpi4py/") != path.npos) return {};
    std::string_view const number = line.substr(at + middle.size(), in - at - middle.size());
    std::string const function(line.substr(in + end.size()));
    return join(path.substr(path.rfind('/') + 1), ":", number, " in ", function, function.starts_with('<') ? "" : "()");
}

}   // namespace

std::string parse_script_location(std::string_view traceback) {
    while (!traceback.empty()) {
        std::size_t const end = std::min(traceback.find('\n'), traceback.size());
        if (std::string location = parse_frame_line(traceback.substr(0, end)); !location.empty()) return location;
        traceback.remove_prefix(std::min(end + 1, traceback.size()));
    }
    return {};
}

std::string script_location() { return parse_script_location(traceback_of_this_thread()); }

void publish_current_call(PublishedCall& record, std::string_view call) {
    std::uint64_t stack[PublishedCall::max_addresses];
    std::size_t const addresses = program_stack(stack);
    std::string script;
    unless_out_of_memory([&] { return script = script_location(), true; });
    record.write(CallKind::other, call, {stack, addresses}, script);
}

// A function without a frame pointer has a stack frame of constant size; otherwise it could not find its return
// address. So at a given call site that return address is always at the same distance from the callee's frame, and
// one stack walk determines the distance.

/// The call path from a call site in the Fortran library out to the program.
struct FortranCallSites::Path {
    /// A return address on the stack, `above` bytes above the MPI function's frame.
    struct Step {
        std::ptrdiff_t above;
        std::uintptr_t address;
    };
    static constexpr std::size_t max_steps = 3;   ///< from mpi_f08 to a C function to MPI

    std::uintptr_t site = 0;
    std::array<Step, max_steps> inside{};   ///< return addresses inside the library, checked at each use
    std::size_t steps = 0;
    std::ptrdiff_t program = 0;   ///< distance to the return address into the program; 0: unknown
};

namespace {

/// Returns true if `push %rbp; mov %rsp,%rbp` is among the function's first instructions: its frame may have any
/// size.
bool has_frame_pointer(void const* function) {
    static constexpr unsigned char pattern[] = {0x55, 0x48, 0x89, 0xe5};
    auto const* const code = static_cast<unsigned char const*>(function);
    return std::search(code, code + 12, std::begin(pattern), std::end(pattern)) != code + 12;
}

struct FrameWalk {
    std::uintptr_t site, begin, end;   ///< begin and end of the library
    std::uintptr_t frame;
    bool reached = false, usable = true;
    std::array<std::pair<std::ptrdiff_t, std::uintptr_t>, 4>
        found{};   ///< return addresses in the library, then the program's
    std::size_t count = 0;
};

/// Callback of the unwinder. A frame's return address, which leads to `address`, lies directly below the frame's
/// canonical address.
_Unwind_Reason_Code record_caller(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<FrameWalk*>(argument);
    std::uintptr_t const address = _Unwind_GetIP(context), above = _Unwind_GetCFA(context);
    bool const first = !walk.reached && address == walk.site && above == walk.frame;
    if (!walk.reached && !first) return _URC_NO_REASON;
    walk.reached = true;
    std::uintptr_t there;
    std::memcpy(&there, reinterpret_cast<void const*>(above - sizeof there), sizeof there);
    bool const inside = address >= walk.begin && address < walk.end;
    walk.usable = there == address && walk.count < walk.found.size() &&
                  !(inside && has_frame_pointer(reinterpret_cast<void const*>(_Unwind_GetRegionStart(context))));
    if (!walk.usable) return _URC_END_OF_STACK;
    if (!first) walk.found[walk.count++] = {static_cast<std::ptrdiff_t>(above - sizeof there - walk.frame), address};
    return inside ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::uintptr_t word_at(void const* frame, std::ptrdiff_t above) {
    std::uintptr_t word;
    std::memcpy(&word, static_cast<char const*>(frame) + above, sizeof word);
    return word;
}

}   // namespace

std::unique_ptr<FortranCallSites> FortranCallSites::find() {
    std::pair<std::uintptr_t, std::uintptr_t> code{};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* argument) {
            std::string_view const path = object->dlpi_name ? object->dlpi_name : "";
            std::string_view const name = path.substr(path.rfind('/') + 1);
            if (!name.starts_with("libmpichfort.") && !name.starts_with("libmpifort.")) return 0;
            auto& found = *static_cast<std::pair<std::uintptr_t, std::uintptr_t>*>(argument);
            for (int i = 0; i < object->dlpi_phnum; i++) {
                auto const& part = object->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
                found = {object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
            }
            return 1;
        },
        &code);
    if (code.first == code.second) return nullptr;
    return std::unique_ptr<FortranCallSites>(new FortranCallSites(code.first, code.second));
}

FortranCallSites::~FortranCallSites() {
    for (auto& path : paths_) delete path.load(std::memory_order_relaxed);
}

void const* FortranCallSites::program_site(void const* site, void const* frame) const {
    auto const address = reinterpret_cast<std::uintptr_t>(site);
    if (!in_library(address)) return site;
    Path const* path = nullptr;
    unless_out_of_memory([&] { return path = path_from(address, frame), true; });
    if (!path || path->program == 0) return site;
    for (std::size_t i = 0; i < path->steps; i++)
        if (word_at(frame, path->inside[i].above) != path->inside[i].address) return site;
    return reinterpret_cast<void const*>(word_at(frame, path->program));
}

FortranCallSites::Path const* FortranCallSites::path_from(std::uintptr_t site, void const* frame) const {
    std::size_t const first = slot_of(site);
    Path const* const known = paths_[first].load(std::memory_order_acquire);
    return known && known->site == site ? known : search_path(site, frame, first);
}

FortranCallSites::Path const* FortranCallSites::search_path(std::uintptr_t site, void const* frame,
                                                            std::size_t first) const {
    std::unique_ptr<Path> new_path;
    for (std::size_t i = 0; i < 8; i++) {
        std::atomic<Path const*>& slot = paths_[(first + i) % slots];
        Path const* known = slot.load(std::memory_order_acquire);
        if (!known) {
            if (!new_path) new_path = walk(site, frame);
            if (slot.compare_exchange_strong(known, new_path.get(), std::memory_order_acq_rel))
                return new_path.release();
        }
        if (known->site == site) return known;
    }
    return nullptr;
}

std::unique_ptr<FortranCallSites::Path> FortranCallSites::walk(std::uintptr_t site, void const* frame) const {
    auto path = std::make_unique<Path>();
    path->site = site;
    FrameWalk walk{site, begin_, end_, reinterpret_cast<std::uintptr_t>(frame)};
    _Unwind_Backtrace(record_caller, &walk);
    if (!walk.usable || walk.count == 0) return path;
    auto const [above, address] = walk.found[walk.count - 1];
    if (in_library(address)) return path;   // the stack ends in the library
    for (std::size_t i = 0; i + 1 < walk.count; i++) path->inside[i] = {walk.found[i].first, walk.found[i].second};
    path->steps = walk.count - 1;
    path->program = above;
    return path;
}

}   // namespace tutti
