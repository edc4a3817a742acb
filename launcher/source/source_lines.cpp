// SPDX-License-Identifier: BSD-3-Clause
// Files by /proc/PID/maps, functions and lines by libdw.
#include "launcher/source/source_lines.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

#include "launcher/base/proc.hpp"
#include "launcher/source/function_name.hpp"
#include "launcher/source/libdw.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr std::string_view deleted = " (deleted)";

std::string base_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }
std::string text_or_empty(char const* text) { return text ? text : ""; }

struct Mapping {
    std::uint64_t begin = 0, end = 0;
    bool executable = false;
    std::string path{};
};

/// From a line "begin-end rights offset device inode path"; nothing for memory without a file.
std::optional<Mapping> mapping_of(std::string const& line) {
    std::istringstream words(line);
    Mapping mapping;
    char dash = 0;
    std::string rights, skipped;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >> skipped >> skipped >> skipped >> std::ws;
    if (!std::getline(words, mapping.path) || mapping.path[0] != '/') return {};
    mapping.executable = rights.find('x') != std::string::npos;
    return mapping;
}

/// The file as the process sees it, which may be in a container. What is deleted can be read while it runs, if it is
/// the program itself: a library of the same name may be another one by now.
int open_file(pid_t pid, std::string const& path) {
    std::string const process = process_folder(pid);
    auto const try_open = [](std::string const& name) { return open(name.c_str(), O_RDONLY | O_CLOEXEC); };
    if (path.ends_with(deleted)) {
        std::error_code error;
        bool const program = std::filesystem::read_symlink(process + "/exe", error) == path && !error;
        return program ? try_open(process + "/exe") : -1;
    }
    int const file = try_open(process + "/root" + path);
    return file >= 0 ? file : try_open(path);
}

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
    explicit Module(Mapping mapping) : mapping(std::move(mapping)) {}
    Module(Module const&) = delete;
    ~Module() {
        if (session) Libdw::get()->end(session);
    }

    Dwfl_Module* read(Libdw const& libdw, pid_t pid) {
        if (std::exchange(tried, true)) return module;
        int const file = open_file(pid, mapping.path);
        if (file < 0) return nullptr;
        session = libdw.begin_local();
        if (session)
            module = libdw.report_elf(session, mapping.path.c_str(), mapping.path.c_str(), file, mapping.begin, false);
        if (!module) close(file);   // libdw has taken it otherwise
        if (session) libdw.report_end(session, nullptr, nullptr);
        return module;
    }

    Mapping mapping;   ///< all mappings of the file in a row
    bool tried = false;
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
};

SourceLines::SourceLines(pid_t pid, KnownLines* known) : pid_(pid), known_(known) {
    std::ifstream maps(process_folder(pid) + "/maps");
    read(maps);
}

SourceLines::SourceLines(std::string const& text) : pid_(0) {
    std::istringstream maps(text);
    read(maps);
}

void SourceLines::read(std::istream& maps) {
    std::vector<Mapping> files;
    for (std::string line; std::getline(maps, line);) {
        std::optional<Mapping> mapping = mapping_of(line);
        if (!mapping) continue;
        if (files.empty() || files.back().path != mapping->path) {
            files.push_back(std::move(*mapping));
        } else {
            files.back().end = mapping->end;
            files.back().executable |= mapping->executable;
        }
    }
    for (Mapping& file : files)
        if (file.executable) modules_.push_back(std::make_unique<Module>(std::move(file)));
}

SourceLines::SourceLines(std::string file, std::uint64_t begin, std::uint64_t end) : pid_(getpid()) {
    modules_.push_back(std::make_unique<Module>(Mapping{begin, end, true, std::move(file)}));
}

SourceLines::~SourceLines() = default;

SourceLine SourceLines::at(std::uint64_t return_address) noexcept try {
    std::uint64_t const address = return_address - 1;   // in the call: what follows may be another line or function
    for (auto const& module : modules_) {
        Mapping const& mapping = module->mapping;
        if (address < mapping.begin || address >= mapping.end) continue;
        std::pair const place(mapping.path, return_address - mapping.begin);
        if (known_)
            if (auto const before = known_->find(place); before != known_->end()) return before->second;
        SourceLine found;
        found.module = base_name(mapping.path);
        if (found.module.ends_with(deleted)) found.module.resize(found.module.size() - deleted.size());
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
