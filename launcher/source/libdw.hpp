// SPDX-License-Identifier: BSD-3-Clause
// The functions of elfutils' libdw that are used here. The library is loaded with the first report, not linked: it
// brings four others with it, and neither should the start of every job pay for that, nor need a machine have it.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

namespace tutti::launcher {

struct Libdw {
    /// Loads it at the first call, for as long as the process lives; nullptr where it is not there.
    static Libdw const* get();

    /// A session that looks for debug files in the usual places of this machine and never asks a server (debuginfod),
    /// which can take minutes. To be ended with `end`; nullptr when there is no memory.
    Dwfl* begin_local() const;

    decltype(&dwfl_begin) begin = nullptr;
    decltype(&dwfl_end) end = nullptr;
    decltype(&dwfl_report_elf) report_elf = nullptr;
    decltype(&dwfl_report_end) report_end = nullptr;
    decltype(&dwfl_build_id_find_debuginfo) build_id_find_debuginfo = nullptr;
    decltype(&dwfl_standard_find_debuginfo) standard_find_debuginfo = nullptr;
    decltype(&dwfl_module_build_id) module_build_id = nullptr;
    decltype(&dwfl_module_addrinfo) module_addrinfo = nullptr;
    decltype(&dwfl_module_addrdie) module_addrdie = nullptr;
    decltype(&dwfl_module_nextcu) module_nextcu = nullptr;
    decltype(&dwelf_elf_begin) elf_begin = nullptr;
    decltype(&dwelf_elf_gnu_build_id) elf_build_id = nullptr;
    decltype(&dwarf_haspc) haspc = nullptr;
    decltype(&dwarf_cu_info) cu_info = nullptr;
    decltype(&dwarf_getscopes) getscopes = nullptr;
    decltype(&dwarf_tag) tag = nullptr;
    decltype(&dwarf_diename) diename = nullptr;
    decltype(&dwarf_attr_integrate) attr_integrate = nullptr;
    decltype(&dwarf_formstring) formstring = nullptr;
    decltype(&dwarf_getsrc_die) getsrc_die = nullptr;
    decltype(&dwarf_lineno) lineno = nullptr;
    decltype(&dwarf_linesrc) linesrc = nullptr;
    decltype(&dwfl_attach_state) attach_state = nullptr;
    decltype(&dwfl_getthread_frames) getthread_frames = nullptr;
    decltype(&dwfl_frame_pc) frame_pc = nullptr;
    decltype(&dwfl_thread_state_registers) thread_state_registers = nullptr;
    decltype(&dwfl_thread_state_register_pc) thread_state_register_pc = nullptr;
    decltype(&elf_end) close_elf = nullptr;   ///< of libelf, which libdw needs

private:
    bool load();
};

}   // namespace tutti::launcher
