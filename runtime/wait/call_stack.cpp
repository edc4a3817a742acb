// SPDX-License-Identifier: BSD-3-Clause
// Walking the stack with the unwinder that exceptions use; it needs no debugging information and no frame pointers.
#include "runtime/wait/call_stack.hpp"

#include <cstring>

#include <link.h>
#include <unwind.h>

// The linker's names for the first and the last byte of the library, or of the program that this is part of.
extern "C" {
[[gnu::visibility("hidden")]] extern char const __ehdr_start, _end;
}

namespace tutti {
namespace {

struct Walk {
    std::span<std::uint64_t> addresses;
    bool skip_fortran = false;
    std::size_t found = 0;
};

struct Range {
    std::uint64_t first = 0, end = 0;

    bool contains(std::uint64_t address) const { return address >= first && address < end; }
};

int note_fortran(dl_phdr_info* library, std::size_t, void* range) {
    if (!std::strstr(library->dlpi_name, "/libmpichfort.") && !std::strstr(library->dlpi_name, "/libmpifort."))
        return 0;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        auto const& part = library->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        std::uint64_t const first = library->dlpi_addr + part.p_vaddr;
        *static_cast<Range*>(range) = {first, first + part.p_memsz};
        return 1;
    }
    return 0;
}

/// MPI's functions for Fortran are those of Debian's MPICH, a library between the program and this one.
bool in_fortran_functions(std::uint64_t address) {
    static Range const range = [] {
        Range found;
        dl_iterate_phdr(note_fortran, &found);
        return found;
    }();
    return range.contains(address);
}

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    std::uintptr_t const address = _Unwind_GetIP(context);
    if (address == 0) return _URC_END_OF_STACK;
    if (walk.found == 0 && in_this_library(address)) return _URC_NO_REASON;
    if (walk.found == 0 && walk.skip_fortran && in_fortran_functions(address)) return _URC_NO_REASON;
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
    if (!in_this_library(site) && !in_fortran_functions(site)) return site;
    Walk walk{{&site, 1}, true};
    _Unwind_Backtrace(note_frame, &walk);
    return site;
}

}   // namespace tutti
