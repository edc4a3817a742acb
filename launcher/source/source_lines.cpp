// SPDX-License-Identifier: BSD-3-Clause
// Functions and lines by libdw.
#include "launcher/source/source_lines.hpp"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include <dwarf.h>
#include <unistd.h>

#include "launcher/source/function_name.hpp"
#include "launcher/source/libdw.hpp"
#include "launcher/source/loaded_file.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

std::string base_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }
std::string text_or_empty(char const* text) { return text ? text : ""; }

/// The compilation unit that an address lies in, and what is to be subtracted from addresses for its debug information.
struct Unit {
    Dwarf_Die* die = nullptr;
    Dwarf_Addr bias = 0;
};

Unit unit_at(Libdw const& libdw, Dwfl_Module* module, Dwarf_Addr address) {
    Unit unit;
    unit.die = libdw.module_addrdie(module, address, &unit.bias);
    if (unit.die) return unit;
    // clang does not write the table of addresses that this goes by
    while ((unit.die = libdw.module_nextcu(module, unit.die, &unit.bias)))
        if (libdw.haspc(unit.die, address - unit.bias) == 1) return unit;
    return {};
}

/// With -gsplit-dwarf the functions are in a file of their own.
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

/// That of the symbol table; empty where only an earlier, smaller symbol is known.
std::string symbol_around(Libdw const& libdw, Dwfl_Module* module, Dwarf_Addr address) {
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    char const* const name = libdw.module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    return name && offset < symbol.st_size ? name : "";
}

/// The innermost function around an address, be it inlined or not. Compilers leave out the linker's name of what other
/// files do not see, which has the class of a C++ function, and of a main program in Fortran.
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

/// A mapped file, opened and read by libdw when the first address in it is asked for.
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
        if (!module) close(file);   // libdw has taken it otherwise
        if (session) libdw.report_end(session, nullptr, nullptr);
        return module;
    }

    LoadedFile mapping;
    bool tried = false;
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
};

SourceLines::SourceLines(pid_t pid, KnownLines* known) : pid_(pid), known_(known) { read(loaded_files(pid)); }

SourceLines::SourceLines(std::string const& text) : pid_(0) {
    std::istringstream maps(text);
    read(loaded_files(maps));
}

void SourceLines::read(std::vector<LoadedFile> files) {
    for (LoadedFile& file : files)
        if (file.path != vdso_name) modules_.push_back(std::make_unique<Module>(std::move(file)));
}

SourceLines::SourceLines(std::string file, std::uint64_t begin, std::uint64_t end) : pid_(getpid()) {
    modules_.push_back(std::make_unique<Module>(LoadedFile{begin, end, true, std::move(file)}));
}

SourceLines::~SourceLines() = default;

SourceLine SourceLines::at(std::uint64_t return_address) noexcept try {
    std::uint64_t const address = return_address - 1;   // in the call: what follows may be another line or function
    for (auto const& module : modules_) {
        LoadedFile const& mapping = module->mapping;
        if (!mapping.contains(address)) continue;
        std::pair const place(mapping.path, return_address - mapping.begin);
        if (known_)
            if (auto const before = known_->find(place); before != known_->end()) return before->second;
        SourceLine found;
        found.module = base_name(mapping.path);
        if (found.module.ends_with(deleted_ending))
            found.module.resize(found.module.size() - std::strlen(deleted_ending));
        found.offset = return_address - mapping.begin;
        Libdw const* const libdw = Libdw::get();
        Dwfl_Module* const readable = libdw ? module->read(*libdw, pid_) : nullptr;
        if (readable) look_up(*libdw, readable, address, found);
        if (known_) known_->emplace(place, found);
        return found;
    }
    return {};
} catch (std::exception const&) { return {}; }   // no memory

std::string words(SourceLine const& line) {
    if (line.has_line())
        return join(base_name(line.file), ":", line.line, line.function.empty() ? "" : " in ", line.function);
    if (!line.function.empty()) return join("in ", line.function, " of ", line.module);
    if (line.module.empty()) return {};
    std::ostringstream offset;
    offset << std::hex << line.offset;
    return join("in ", line.module, " (+0x", offset.str(), ")");
}

}   // namespace tutti::launcher
