// SPDX-License-Identifier: BSD-3-Clause
// Translates return addresses of a running program into source positions. Works from outside the program, which may be
// stopped: only its list of mapped files and the debug information of these files are read, never its memory.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/diagnosis/process_stack.hpp"

// Function names as the programmer wrote them, derived from linker symbols.

namespace tutti::launcher {

/// Returns the name for a linker symbol: "solver::step()" without arguments and without the template arguments of the
/// result type, "a lambda in main()", and for Fortran "step() of module mesh" and "main program". `name` is the name in
/// the debug information, or empty; it is used for symbols of C and if `symbol` is unknown.
std::string function_name(std::string const& symbol, std::string const& name = {});

// The functions of elfutils' libdw that are used here. The library is loaded with the first report instead of being
// linked: it depends on four other libraries, which would slow down the start of every job, and machines without it
// could not run any job.

struct Libdw {
    /// Loads the library on the first call, until the process ends. Returns nullptr if it is not installed.
    static Libdw const* get();

    /// Begins a session that searches the usual folders of this machine for debug files and never asks a server
    /// (debuginfod), which can take minutes. The caller must end it with `end`. Returns nullptr if there is no memory.
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
    decltype(&elf_end) close_elf = nullptr;   ///< of libelf, on which libdw depends

private:
    bool load();
};

/// A position in a program. Unknown parts are empty or 0.
struct SourceLine {
    /// "pass()", "step() of module mesh", "main program"; if functions were inlined, the innermost one
    std::string function{};
    std::string file{};   ///< as passed to the compiler
    int line = 0;
    std::string module{};       ///< name of the mapped file without its folder: "ring", "libsolve.so.2"
    std::uint64_t offset = 0;   ///< of the return address in the module

    /// false: compiling with -g would add information. The line may be missing even if true, where the compiler has
    /// merged several calls into one.
    bool compiled_with_g = false;

    bool has_line() const { return line > 0; }
};

/// Returns "ring.c:30 in pass()", "in pass() of ring", "in libsolve.so.2 (+0x123)", or an empty string.
std::string describe(SourceLine const& line);

/// Cache of results by file and offset, shared by many processes that run the same program.
using LineCache = std::map<std::pair<std::string, std::uint64_t>, SourceLine>;

class SourceLines {
public:
    /// Reads the files that the process has mapped now. If the process is gone or access is not permitted, every
    /// position is unknown. `cache`: a cache that is searched first and extended; null: none.
    explicit SourceLines(pid_t pid, LineCache* cache = nullptr);
    /// Uses one file at the addresses where a process had mapped it; the process may be gone.
    SourceLines(std::string file, std::uint64_t begin, std::uint64_t end);
    /// Uses the text of /proc/PID/maps of a process that may have ended.
    explicit SourceLines(std::string const& maps);
    ~SourceLines();
    SourceLines(SourceLines const&) = delete;
    SourceLines& operator=(SourceLines const&) = delete;

    /// Returns the position of the call that precedes the return address. Never throws. The first address in a file
    /// takes up to a second if there is much debug information.
    SourceLine at(std::uint64_t return_address) noexcept;

private:
    struct Module;
    void read(std::vector<LoadedFile> files);

    pid_t pid_;
    LineCache* cache_ = nullptr;
    std::vector<std::unique_ptr<Module>> modules_;
};

}   // namespace tutti::launcher
