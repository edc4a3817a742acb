// SPDX-License-Identifier: BSD-3-Clause
// Walking the stack with the unwinder that exceptions use; it needs no debugging information and no frame pointers.
#include "runtime/trace/call_stack.hpp"

#include <unwind.h>

// The linker's names for the first and the last byte of the library, or of the program that this is part of.
extern "C" {
[[gnu::visibility("hidden")]] extern char const __ehdr_start, _end;
}

namespace tutti {
namespace {

struct Walk {
    std::span<std::uint64_t> addresses;
    std::size_t found = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
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
    _Unwind_Backtrace(note_frame, &walk);
    return walk.found;
}

std::uint64_t program_site(void const* noted) {
    std::uint64_t site = reinterpret_cast<std::uintptr_t>(noted);
    if (in_this_library(site)) program_stack({&site, 1});
    return site;
}

}   // namespace tutti
