// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/diagnosis/last_call.hpp"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

// The linker's names for the first and the last byte of the library, or of the program that this is part of.
extern "C" {
[[gnu::visibility("hidden")]] extern char const __ehdr_start, _end;
}

namespace tutti {
namespace {

constexpr std::size_t longest_name = 64;

/// The first object that the loader tells of is the program.
int note_program(dl_phdr_info* info, std::size_t, void* to) {
    auto& mine = *static_cast<LastCall*>(to);
    mine.program = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            mine.program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

}   // namespace

void show_images(LastCall& mine) {
    dl_iterate_phdr(note_program, &mine);
    if (readlink("/proc/self/exe", mine.program_file, sizeof mine.program_file - 1) < 0) mine.program_file[0] = 0;
    Dl_info info{};
    if (dladdr(&__ehdr_start, &info) == 0 || !info.dli_fname) return;
    mine.library = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    std::strncpy(mine.library_file, info.dli_fname, sizeof mine.library_file - 1);
}

std::string name_of(LastCall const& other, LastCall const& mine) {
    if (!other.name || other.library == 0 || std::strcmp(other.library_file, mine.library_file) != 0) return {};
    char const* const first = &__ehdr_start;
    std::uint64_t const offset = reinterpret_cast<std::uintptr_t>(other.name) - other.library;
    if (offset >= static_cast<std::uint64_t>(&_end - first) - longest_name) return {};
    return {first + offset, strnlen(first + offset, longest_name)};
}

}   // namespace tutti
