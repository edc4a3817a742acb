// SPDX-License-Identifier: BSD-3-Clause
// Loading libdw, and finding a separate debug file without a server.
#include "launcher/source/libdw.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace tutti::launcher {
namespace {

constexpr char libdw_name[] = "libdw.so.1";

bool has_build_id(Libdw const& libdw, int file, std::span<unsigned char const> build_id) {
    Elf* const elf = libdw.elf_begin(file);
    if (!elf) return false;
    void const* own = nullptr;
    ssize_t const bytes = libdw.elf_build_id(elf, &own);
    bool const same =
        bytes == static_cast<ssize_t>(build_id.size()) && memcmp(own, build_id.data(), build_id.size()) == 0;
    libdw.close_elf(elf);
    return same;
}

/// The debug file that a program or library names, opened; -1 when there is none, or only that of another build.
int open_linked(Libdw const& libdw, std::string const& program, char const* link,
                std::span<unsigned char const> build_id, char** name) {
    std::string const folder = program.substr(0, program.rfind('/') + 1);
    for (std::string const& place : {folder, folder + ".debug/", "/usr/lib/debug" + folder}) {
        std::string const path = place + link;
        int const file = path == program ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        if (has_build_id(libdw, file, build_id)) {
            *name = strdup(path.c_str());   // libdw frees it
            return file;
        }
        close(file);
    }
    return -1;
}

/// As dwfl_standard_find_debuginfo, which asks a server for what has a build ID and is not found.
int find_debug_file(Dwfl_Module* module, void** data, char const* module_name, Dwarf_Addr base, char const* file_name,
                    char const* link, GElf_Word checksum, char** found) {
    Libdw const& libdw = *Libdw::get();
    unsigned char const* id = nullptr;
    GElf_Addr address = 0;
    int const bytes = libdw.module_build_id(module, &id, &address);
    if (bytes <= 0)
        return libdw.standard_find_debuginfo(module, data, module_name, base, file_name, link, checksum, found);
    int const file = libdw.build_id_find_debuginfo(module, data, module_name, base, file_name, link, checksum, found);
    if (file >= 0 || !link || !file_name) return file;
    return open_linked(libdw, file_name, link, {id, static_cast<std::size_t>(bytes)}, found);
}

}   // namespace

Libdw const* Libdw::get() {
    static Libdw libdw;
    static bool const loaded = libdw.load();
    return loaded ? &libdw : nullptr;
}

Dwfl* Libdw::begin_local() const {
    static Dwfl_Callbacks const callbacks = {
        .find_elf = nullptr,   // files are reported with their descriptor
        .find_debuginfo = find_debug_file,
        .section_address = nullptr,
        .debuginfo_path = nullptr,
    };
    return begin(&callbacks);
}

bool Libdw::load() {
    void* const library = dlopen(libdw_name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    bool complete = true;
    auto const find = [&](auto& function, char const* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        complete = complete && function != nullptr;
    };
    find(begin, "dwfl_begin");
    find(end, "dwfl_end");
    find(report_elf, "dwfl_report_elf");
    find(report_end, "dwfl_report_end");
    find(build_id_find_debuginfo, "dwfl_build_id_find_debuginfo");
    find(standard_find_debuginfo, "dwfl_standard_find_debuginfo");
    find(module_build_id, "dwfl_module_build_id");
    find(module_addrinfo, "dwfl_module_addrinfo");
    find(module_addrdie, "dwfl_module_addrdie");
    find(module_nextcu, "dwfl_module_nextcu");
    find(elf_begin, "dwelf_elf_begin");
    find(elf_build_id, "dwelf_elf_gnu_build_id");
    find(haspc, "dwarf_haspc");
    find(cu_info, "dwarf_cu_info");
    find(getscopes, "dwarf_getscopes");
    find(tag, "dwarf_tag");
    find(diename, "dwarf_diename");
    find(attr_integrate, "dwarf_attr_integrate");
    find(formstring, "dwarf_formstring");
    find(getsrc_die, "dwarf_getsrc_die");
    find(lineno, "dwarf_lineno");
    find(linesrc, "dwarf_linesrc");
    find(attach_state, "dwfl_attach_state");
    find(getthread_frames, "dwfl_getthread_frames");
    find(frame_pc, "dwfl_frame_pc");
    find(thread_state_registers, "dwfl_thread_state_registers");
    find(thread_state_register_pc, "dwfl_thread_state_register_pc");
    find(close_elf, "elf_end");
    return complete;
}

}   // namespace tutti::launcher
