// SPDX-License-Identifier: BSD-3-Clause
// Walks the stack with the unwinder of C++ exceptions, which needs no debugging information and no frame pointers,
// and locates the program's line in CPython.
#include "runtime/state/call_site.hpp"

#include <dlfcn.h>
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

}   // namespace tutti
