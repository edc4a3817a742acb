// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/diagnosis/rank_end.hpp"

#include <algorithm>
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

char const* help_for(int signal, bool place_known) {
    switch (signal) {
    case 0: return "every rank calls MPI_Finalize before it ends; call MPI_Abort to end the job early";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return place_known
                   ? "look at that line: a null or wild pointer, an index beyond its array, a division by zero; "
                     "compile with -fsanitize=address to learn more"
                   : "the program failed in that call or after it; use a debugger, or compile with "
                     "-fsanitize=address, to find the place";
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

Place place_in_program(LastCall const& call, std::uint64_t address) {
    std::string const file = text_in(call.program_file);
    if (file.empty() || address <= call.program || address > call.program_end) return {};
    SourceLine const line = SourceLines(file, call.program, call.program_end).at(address);
    return {words(line), !line.compiled_with_g};
}

Place place_of(LastCall const& call) { return place_in_program(call, reinterpret_cast<std::uintptr_t>(call.site)); }

// Addresses are looked up as return addresses are: one byte before them lies the instruction that is meant.
Place place_of_crash(LastCall const& call) { return call.crash ? place_in_program(call, call.crash + 1) : Place{}; }

static constexpr std::size_t most_processes = 8;   // that have a note

/// "was killed" of one rank is "were killed" of several.
static std::string in_plural(std::string const& how) { return how.starts_with("was ") ? "were " + how.substr(4) : how; }

Report report_of_ends(std::vector<RankEnd> ends, int signal, bool after_finalize) {
    Report report{.code = "T09", .headline = {}, .lines = {}, .help = {}};
    std::vector<int> ranks;
    std::ranges::sort(ends, {}, &RankEnd::rank);
    bool all_known = true, without_g = false;
    for (RankEnd const& one : ends) {
        ranks.push_back(one.rank);
        std::string const name = name_in(*one.call);
        Place const last = place_of(*one.call), crash = place_of_crash(*one.call);
        std::string const after =
            name.empty() ? "" : join("after ", name, last.words.empty() ? "" : " at ", last.words);
        if (!crash.words.empty()) report.lines.push_back({{one.rank}, "crashed", crash.words, after});
        else if (name.empty()) report.lines.push_back({{one.rank}, "its last call of MPI is not known", "", ""});
        else report.lines.push_back({{one.rank}, name, last.words, "was its last call of MPI"});
        all_known &= !crash.words.empty();
        if (!one.process.empty() && report.notes.size() < most_processes)
            report.notes.push_back(ends.size() == 1 ? one.process : join("rank ", one.rank, ": ", one.process));
        without_g |= last.without_g || crash.without_g;
    }
    if (without_g) report.notes.emplace_back(more_with_g);
    std::string const& how = ends.front().how;
    report.headline = join(rank_words(ranks), " ", ends.size() == 1 ? how : in_plural(how));
    if (after_finalize) report.headline += ", after MPI_Finalize";
    report.help = after_finalize ? "the program fails after MPI_Finalize: in its own clean-up, or in destructors"
                                 : help_for(signal, all_known);
    return report;
}

}   // namespace tutti::launcher
