// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/diagnosis/rank_end.hpp"

#include <csignal>
#include <cstring>
#include <fstream>

#include <elf.h>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "launcher/source/source_lines.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& to) {
    file.clear();
    return file.seekg(static_cast<std::streamoff>(offset)) && file.read(reinterpret_cast<char*>(&to), sizeof to);
}

/// Zero-ended, at an address as the file counts them; empty: not there.
std::string text_at(std::ifstream& file, std::uint64_t address) {
    Elf64_Ehdr head{};
    if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr part{};
        if (!read_at(file, head.e_phoff + i * sizeof part, part)) return {};
        if (part.p_type != PT_LOAD || address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz) continue;
        std::string text;
        file.clear();
        file.seekg(static_cast<std::streamoff>(part.p_offset + address - part.p_vaddr));
        std::getline(file, text, '\0');
        return text;
    }
    return {};
}

bool is_function_name(std::string const& text) {
    return text.starts_with("MPI") && text.size() < 64 &&
           text.find_first_not_of(
               "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "abcdefghijklmnopqrstuvwxyz"
               "0123456789") == std::string::npos;
}

char const* help_for(int signal) {
    switch (signal) {
    case 0: return "every rank calls MPI_Finalize before it ends; call MPI_Abort to end the job early";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return "the program failed in that call or after it; use a debugger, or compile with -fsanitize=address, to "
               "find the place";
    default:
        return "that signal comes from outside the program: from a person, or from the system when memory or time runs "
               "out";
    }
}

}   // namespace

std::string name_in(LastCall const& call) {
    if (!call.name || call.library == 0) return {};
    std::ifstream file(text_in(call.library_file), std::ios::binary);
    std::string const text = text_at(file, reinterpret_cast<std::uintptr_t>(call.name) - call.library);
    return is_function_name(text) ? text : "";
}

Place place_of(LastCall const& call) {
    std::string const file = text_in(call.program_file);
    auto const site = reinterpret_cast<std::uintptr_t>(call.site);
    if (file.empty() || site <= call.program || site > call.program_end) return {};
    SourceLine const line = SourceLines(file, call.program, call.program_end).at(site);
    return {words(line), !line.compiled_with_g};
}

Report report_of_end(int rank, std::string const& how, int signal, LastCall const& call) {
    std::string const name = name_in(call);
    Place const place = place_of(call);
    Report report{.code = "T09", .headline = join("rank ", rank, " ", how), .lines = {}, .help = {}};
    report.lines.push_back({{rank},
                            name.empty() ? "no call of MPI that is known" : name,
                            place.words,
                            name.empty() ? "" : "was its last call of MPI"});
    report.help = help_for(signal);
    if (place.without_g) report.notes.emplace_back(more_with_g);
    return report;
}

}   // namespace tutti::launcher
