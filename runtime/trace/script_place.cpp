// SPDX-License-Identifier: BSD-3-Clause
// CPython writes the traceback of a thread for its module faulthandler, for programs that have crashed: that needs
// neither the interpreter's lock nor memory, only that the thread's frames stay, and this one is in a call of ours.
// To take the lock instead could wait for a thread that waits for ours. Versions that hide the function tell nothing.
#include "runtime/trace/script_place.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

namespace tutti {
namespace {

/// `name` in whatever the process has loaded.
template <class Function>
Function* find_function(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Of the interpreter that runs the program; null: there is none. Looked for when this library is loaded: later the
/// loader's lock may belong to a thread that waits for ours.
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

/// One line of it: `  File "/home/me/ring.py", line 12 in pass`.
std::string place_in_line(std::string_view line) {
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

std::string script_place_in(std::string_view traceback) {
    while (!traceback.empty()) {
        std::size_t const end = std::min(traceback.find('\n'), traceback.size());
        if (std::string place = place_in_line(traceback.substr(0, end)); !place.empty()) return place;
        traceback.remove_prefix(std::min(end + 1, traceback.size()));
    }
    return {};
}

std::string script_place() { return script_place_in(traceback_of_this_thread()); }

}   // namespace tutti
