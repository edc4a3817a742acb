// SPDX-License-Identifier: BSD-3-Clause
// Function names from linker symbols, loading libdw, and looking up functions and lines with it.
#include "launcher/diagnosis/source_lines.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "launcher/diagnosis/process_stack.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr std::string_view open_brackets = "([{<", close_brackets = ")]}>";

std::string demangled(std::string const& symbol) {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> const text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return text ? text.get() : "";
}

void remove_all(std::string& text, std::string_view part) {
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

/// Removes "(arguments) const [clone .cold]" from the end, if present.
std::string_view without_arguments(std::string_view text) {
    text = text.substr(0, text.find(" [clone"));
    std::size_t const last = text.rfind(')');
    if (last == text.npos) return text;
    int depth = 0;
    for (std::size_t at = last + 1; at-- > 0;) {
        depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
        if (depth == 0) return text.substr(0, at);
    }
    return text;
}

/// Returns the first position outside of brackets where `here(rest of the text)` is true.
template <class Here>
std::size_t find_outside_brackets(std::string_view text, Here here) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (depth == 0 && here(text.substr(at))) return at;
        if (open_brackets.find(text[at]) != text.npos) ++depth;
        else if (close_brackets.find(text[at]) != text.npos) --depth;
    }
    return text.npos;
}

/// Removes the result type, which demangled names of templates begin with. Names of operators may contain brackets and
/// spaces.
std::string_view without_result(std::string_view text) {
    std::size_t begin = 0;
    find_outside_brackets(text, [&](std::string_view rest) {
        if (rest[0] == ' ') begin = text.size() - rest.size() + 1;
        return rest.starts_with("operator");
    });
    return text.substr(begin);
}

/// Returns the function that contains a lambda, if `text` is the call operator of one:
/// "main::{lambda(int)#1}::operator()", where clang has "$_0" for the part in braces; empty for others.
std::string_view function_around_lambda(std::string_view text) {
    std::size_t const lambda = find_outside_brackets(
        text, [](std::string_view rest) { return rest.starts_with("::{lambda") || rest.starts_with("::$_"); });
    return lambda == text.npos ? std::string_view() : without_result(without_arguments(text.substr(0, lambda)));
}

std::string cxx_function_name(std::string text) {
    remove_all(text, "(anonymous namespace)::");
    remove_all(text, "[abi:cxx11]");
    if (std::string_view const around = function_around_lambda(text); !around.empty())
        return "a lambda in " + std::string(around) + "()";
    return std::string(without_result(without_arguments(text))) + "()";
}

}   // namespace

std::string function_name(std::string const& symbol, std::string const& name) {
    if (symbol == "MAIN__") return "main program";   // gfortran and flang
    if (symbol.starts_with("_Z"))
        if (std::string const text = demangled(symbol); !text.empty()) return cxx_function_name(text);
    // Removes the suffix of clones, such as .part.0 or ._omp_fn.0.
    std::string const plain = symbol.substr(0, symbol.find('.'));
    if (std::size_t const module = plain.find("_MOD_"); plain.starts_with("__") && module != plain.npos)
        return plain.substr(module + 5) + "() of module " + plain.substr(2, module - 2);
    if (!name.empty()) return name + "()";
    return plain.empty() ? plain : plain + "()";
}

// Loading libdw, and finding separate debug files without a server.

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

/// Opens the debug file that a program or library names. Returns -1 if there is none, or only that of another build.
int open_linked(Libdw const& libdw, std::string const& program, char const* link,
                std::span<unsigned char const> build_id, char** name) {
    std::string const folder = program.substr(0, program.rfind('/') + 1);
    for (std::string const& directory : {folder, folder + ".debug/", "/usr/lib/debug" + folder}) {
        std::string const path = directory + link;
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

/// Like dwfl_standard_find_debuginfo, but never asks a server: that function asks one for files with a build ID that
/// are not found on this machine.
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
        .find_elf = nullptr,   // files are passed to libdw as open descriptors
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

namespace {

std::string base_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }
std::string text_or_empty(char const* text) { return text ? text : ""; }

/// The compilation unit of an address, and the bias to subtract from addresses before they are looked up in its debug
/// information.
struct Unit {
    Dwarf_Die* die = nullptr;
    Dwarf_Addr bias = 0;
};

Unit unit_at(Libdw const& libdw, Dwfl_Module* module, Dwarf_Addr address) {
    Unit unit;
    unit.die = libdw.module_addrdie(module, address, &unit.bias);
    if (unit.die) return unit;
    // clang does not write the table of addresses that module_addrdie uses
    while ((unit.die = libdw.module_nextcu(module, unit.die, &unit.bias)))
        if (libdw.haspc(unit.die, address - unit.bias) == 1) return unit;
    return {};
}

/// Returns the unit that contains the functions: with -gsplit-dwarf they are in a separate file.
Dwarf_Die with_functions(Libdw const& libdw, Dwarf_Die* unit) {
    Dwarf_Die split{};
    if (libdw.cu_info(unit->cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 && split.addr)
        return split;
    return *unit;
}

std::string linkage_name(Libdw const& libdw, Dwarf_Die* function) {
    Dwarf_Attribute attribute{};
    for (unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (libdw.attr_integrate(function, name, &attribute)) return text_or_empty(libdw.formstring(&attribute));
    return {};
}

/// Returns the name in the symbol table; empty if the address is beyond the end of the nearest preceding symbol.
std::string symbol_around(Libdw const& libdw, Dwfl_Module* module, Dwarf_Addr address) {
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    char const* const name = libdw.module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    return name && offset < symbol.st_size ? name : "";
}

/// Returns the innermost function around an address, inlined or not. Compilers omit the linkage name of functions that
/// other files do not see; there `symbol` provides the class of a C++ function and the main program of Fortran.
std::string function_around(Libdw const& libdw, Unit const& unit, Dwarf_Addr address, std::string const& symbol) {
    Dwarf_Die die = with_functions(libdw, unit.die);
    Dwarf_Die* scopes = nullptr;
    int const count = libdw.getscopes(&die, address - unit.bias, &scopes);
    std::unique_ptr<Dwarf_Die, void (*)(void*)> const owner(scopes, std::free);
    for (int i = 0; i < count; ++i) {
        int const tag = libdw.tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        std::string linkage = linkage_name(libdw, &scopes[i]);
        if (linkage.empty() && tag == DW_TAG_subprogram) linkage = symbol;
        return function_name(linkage, text_or_empty(libdw.diename(&scopes[i])));
    }
    return {};
}

void look_up(Libdw const& libdw, Dwfl_Module* module, Dwarf_Addr address, SourceLine& found) {
    std::string const symbol = symbol_around(libdw, module, address);
    Unit const unit = unit_at(libdw, module, address);
    if (unit.die) {
        found.compiled_with_g = true;
        Dwarf_Line* const line = libdw.getsrc_die(unit.die, address - unit.bias);
        if (line && libdw.lineno(line, &found.line) == 0 && found.line > 0)
            found.file = text_or_empty(libdw.linesrc(line, nullptr, nullptr));
        found.function = function_around(libdw, unit, address, symbol);
    }
    if (found.function.empty()) found.function = function_name(symbol);
}

}   // namespace

/// A mapped file, opened and read by libdw when its first address is looked up.
struct SourceLines::Module {
    explicit Module(LoadedFile mapping) : mapping(std::move(mapping)) {}
    Module(Module const&) = delete;
    ~Module() {
        if (session) Libdw::get()->end(session);
    }

    Dwfl_Module* read(Libdw const& libdw, pid_t pid) {
        if (std::exchange(tried, true)) return module;
        int const file = open_loaded_file(pid, mapping.path);
        if (file < 0) return nullptr;
        session = libdw.begin_local();
        if (session)
            module = libdw.report_elf(session, mapping.path.c_str(), mapping.path.c_str(), file, mapping.begin, false);
        if (!module) close(file);   // otherwise libdw owns it
        if (session) libdw.report_end(session, nullptr, nullptr);
        return module;
    }

    LoadedFile mapping;
    bool tried = false;
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
};

SourceLines::SourceLines(pid_t pid, LineCache* cache) : pid_(pid), cache_(cache) { read(loaded_files(pid)); }

SourceLines::SourceLines(std::string const& text) : pid_(0) { read(loaded_files(text)); }

void SourceLines::read(std::vector<LoadedFile> files) {
    for (LoadedFile& file : files)
        if (file.path != vdso_name) modules_.push_back(std::make_unique<Module>(std::move(file)));
}

SourceLines::SourceLines(std::string file, std::uint64_t begin, std::uint64_t end) : pid_(getpid()) {
    modules_.push_back(std::make_unique<Module>(LoadedFile{begin, end, true, std::move(file)}));
}

SourceLines::~SourceLines() = default;

SourceLine SourceLines::at(std::uint64_t return_address) noexcept try {
    // Inside the call: the return address may be on another line or in another function.
    std::uint64_t const address = return_address - 1;
    for (auto const& module : modules_) {
        LoadedFile const& mapping = module->mapping;
        if (!mapping.contains(address)) continue;
        std::pair const key(mapping.path, return_address - mapping.begin);
        if (cache_)
            if (auto const cached = cache_->find(key); cached != cache_->end()) return cached->second;
        SourceLine found;
        found.module = base_name(mapping.path);
        if (found.module.ends_with(deleted_ending))
            found.module.resize(found.module.size() - std::strlen(deleted_ending));
        found.offset = return_address - mapping.begin;
        Libdw const* const libdw = Libdw::get();
        Dwfl_Module* const readable = libdw ? module->read(*libdw, pid_) : nullptr;
        if (readable) look_up(*libdw, readable, address, found);
        if (cache_) cache_->emplace(key, found);
        return found;
    }
    return {};
} catch (std::exception const&) { return {}; }   // out of memory

std::string describe(SourceLine const& line) {
    if (line.has_line())
        return join(base_name(line.file), ":", line.line, line.function.empty() ? "" : " in ", line.function);
    if (!line.function.empty()) return join("in ", line.function, " of ", line.module);
    if (line.module.empty()) return {};
    std::ostringstream offset;
    offset << std::hex << line.offset;
    return join("in ", line.module, " (+0x", offset.str(), ")");
}

}   // namespace tutti::launcher
